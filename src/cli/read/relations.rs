//! `fnstore relations`: how frames are related, as rows and as trees.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use fnstore::database::Database;
use fnstore::lexicon::{Lexicon, RelationKind, relation_kinds};
use fnstore::model::{FeRelation, FrameRelation};
use fnstore::query::{Pattern, nearest};
use fnstore::store::NameKind;
use serde::Serialize;

use crate::cli::options::listing::{Listing, Rows, names, names_or_all};
use crate::cli::print::render::Row;
use crate::cli::print::tree::{self, Direction, Edges, Tree};
use crate::cli::{Context, Outcome};

/// List the relations between frames
///
/// With `--tree` they are drawn from the root frames, or in both directions from NAME.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Frames on either side: `Verification`, `Ver*`, or `~` and a regular expression; all when
    /// left out
    #[arg(value_name = "NAME")]
    name: Vec<String>,

    /// List only relations of this type, such as `Using`; a name or pattern, as NAME [default for
    /// trees: Inheritance]
    #[arg(long, value_name = "TYPE")]
    kind: Option<String>,

    /// List one row for each pair of frame elements that a relation maps
    #[arg(long)]
    fes: bool,

    /// List one row for each type of relation
    #[arg(long, conflicts_with_all = ["fes", "tree"])]
    kinds: bool,

    /// Draw the tree of one type
    #[arg(long, conflicts_with = "limit")]
    tree: bool,

    #[command(flatten)]
    rows: Rows,
}

const EXAMPLES: &str = "\
Examples:
  fnstore relations Verification
  fnstore relations Verification --fes
  fnstore relations --tree --kind Using
  fnstore relations Verification --tree --fes
  fnstore relations --kinds";

/// Relation that trees show when no other is asked for.
const TREE_KIND: &str = "Inheritance";

/// A frame relation as JSON; see `schema/relations.schema.json`.
#[derive(Debug, Serialize)]
struct RelationRow<'a> {
    release: &'a str,
    id: u32,
    kind: &'a str,
    super_role: &'a str,
    parent: &'a str,
    sub_role: &'a str,
    child: &'a str,
    fe_pairs: usize,
}

impl Row for RelationRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "id", "kind", "super_role", "parent", "sub_role", "child", "fe_pairs"];
}

/// A pair of mapped FEs as JSON; see `schema/fe-relations.schema.json`.
#[derive(Debug, Serialize)]
struct FePairRow<'a> {
    release: &'a str,
    id: u32,
    relation: u32,
    kind: &'a str,
    parent: &'a str,
    parent_fe: &'a str,
    child: &'a str,
    child_fe: &'a str,
}

impl Row for FePairRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "id", "kind", "parent", "parent_fe", "child", "child_fe"];
}

/// A type of relation as JSON; see `schema/relation-kinds.schema.json`.
#[derive(Debug, Serialize)]
struct KindRow<'a> {
    release: &'a str,
    kind: &'a str,
    super_role: &'a str,
    sub_role: &'a str,
    relations: u64,
}

impl Row for KindRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "kind", "super_role", "sub_role", "relations"];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let frame_names = names_or_all("frame", &args.name)?;
    let kind = args.kind.as_deref().or(args.tree.then_some(TREE_KIND)).unwrap_or("*");
    let kinds = names("kind", kind)?;
    let database = Database::open(&context.store)?;
    database.require_name(NameKind::Frame, &frame_names)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    let mut of_kind = Vec::new();
    let mut known = BTreeSet::new();
    for lexicon in &lexicons {
        let mut relations: Vec<FrameRelation> = lexicon.relations()?.collect::<Result<_, _>>()?;
        known.extend(relations.iter().map(|relation| relation.kind.clone()));
        relations.retain(|relation| kinds.matches(&relation.kind));
        of_kind.push((lexicon, relations));
    }
    if let Some(kind) = &args.kind {
        require_kind(kind, &kinds, &known)?;
    }
    if args.tree {
        let roots = (!args.name.is_empty()).then_some(&frame_names);
        let trees = trees(&of_kind, roots);
        tree::write(&trees, args.fes, &mut context.output)?;
        if trees.is_empty() {
            return Outcome::nothing("nothing found");
        }
        return Ok(Outcome::Done);
    }
    for (lexicon, relations) in &mut of_kind {
        relations.retain(|relation| {
            frame_names.matches(&relation.parent_name) || frame_names.matches(&relation.child_name)
        });
        let release = &lexicon.release().name;
        let goes_on = if args.kinds {
            list_kinds(release, relations, &mut listing)?
        } else if args.fes {
            list_pairs(release, relations, &mut listing)?
        } else {
            list(release, relations, &mut listing)?
        };
        if !goes_on {
            break;
        }
    }
    match (args.kinds, args.fes) {
        (true, _) => listing.end::<KindRow<'_>>(),
        (false, true) => listing.end::<FePairRow<'_>>(),
        (false, false) => listing.end::<RelationRow<'_>>(),
    }
}

/// Checks that a type of relation that is given whole is one that some release has.
fn require_kind(name: &str, kinds: &Pattern, known: &BTreeSet<String>) -> anyhow::Result<()> {
    if kinds.as_exact().is_none() || known.iter().any(|kind| kinds.matches(kind)) {
        return Ok(());
    }
    match nearest(name, known) {
        Some(near) => bail!("there is no type of relation `{name}`; did you mean `{near}`?"),
        None => bail!(
            "there is no type of relation `{name}`; expected one that `fnstore relations --kinds` lists"
        ),
    }
}

fn list(
    release: &str,
    relations: &[FrameRelation],
    listing: &mut Listing<'_>,
) -> anyhow::Result<bool> {
    for relation in relations {
        let row = RelationRow {
            release,
            id: relation.id.0,
            kind: &relation.kind,
            super_role: &relation.super_role,
            parent: &relation.parent_name,
            sub_role: &relation.sub_role,
            child: &relation.child_name,
            fe_pairs: relation.elements.len(),
        };
        if !listing.row(&row)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn list_pairs(
    release: &str,
    relations: &[FrameRelation],
    listing: &mut Listing<'_>,
) -> anyhow::Result<bool> {
    let pairs = relations
        .iter()
        .flat_map(|relation| relation.elements.iter().map(move |pair| (relation, pair)));
    for (relation, pair) in pairs {
        let row = FePairRow {
            release,
            id: pair.id,
            relation: relation.id.0,
            kind: &relation.kind,
            parent: &relation.parent_name,
            parent_fe: &pair.parent_name,
            child: &relation.child_name,
            child_fe: &pair.child_name,
        };
        if !listing.row(&row)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn list_kinds(
    release: &str,
    relations: &[FrameRelation],
    listing: &mut Listing<'_>,
) -> anyhow::Result<bool> {
    for RelationKind { name, super_role, sub_role, relations } in &relation_kinds(relations) {
        let row = KindRow { release, kind: name, super_role, sub_role, relations: *relations };
        if !listing.row(&row)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The trees below the frames that have nothing above them, or both ways from those of a name.
fn trees<'a>(
    of_kind: &'a [(&'a Lexicon<'_>, Vec<FrameRelation>)],
    roots: Option<&Pattern>,
) -> Vec<Tree<'a>> {
    let mut trees = Vec::new();
    for (lexicon, relations) in of_kind {
        let mut kinds: BTreeMap<&str, Vec<&FrameRelation>> = BTreeMap::new();
        for relation in relations {
            kinds.entry(&relation.kind).or_default().push(relation);
        }
        for (kind, relations) in kinds {
            let grown = Grown::new(&relations);
            let release = lexicon.release().name.as_str();
            let mut add = |direction, edges: &Edges, id| {
                let root = edges.grow(id, &grown.names);
                trees.push(Tree { release, relation: kind, direction, root });
            };
            for (id, name) in grown.in_order_of_name() {
                match roots {
                    None if !grown.has_parent.contains(&id) => {
                        add(Direction::Below, &grown.below, id)
                    }
                    Some(names) if names.matches(name) => {
                        add(Direction::Above, &grown.above, id);
                        add(Direction::Below, &grown.below, id);
                    }
                    _ => {}
                }
            }
        }
    }
    trees
}

/// The relations of one type as edges both ways.
#[derive(Default)]
struct Grown {
    names: BTreeMap<u32, String>,
    has_parent: BTreeSet<u32>,
    below: Edges,
    above: Edges,
}

impl Grown {
    fn new(relations: &[&FrameRelation]) -> Self {
        let mut grown = Self::default();
        for relation in relations {
            let (parent, child) = (relation.parent.0, relation.child.0);
            let pair = |pair: &FeRelation| [pair.parent_name.clone(), pair.child_name.clone()];
            let elements: Vec<[String; 2]> = relation.elements.iter().map(pair).collect();
            grown.names.insert(parent, relation.parent_name.clone());
            grown.names.insert(child, relation.child_name.clone());
            grown.has_parent.insert(child);
            grown.below.add(parent, child, elements.clone());
            grown.above.add(child, parent, elements);
        }
        grown
    }

    fn in_order_of_name(&self) -> Vec<(u32, &str)> {
        let mut frames: Vec<_> = self.names.iter().map(|(id, name)| (*id, name.as_str())).collect();
        frames.sort_by_key(|(_, name)| *name);
        frames
    }
}
