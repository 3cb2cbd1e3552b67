//! `fnstore semtypes`: the semantic types, their tree, and what follows from them for mapped FEs.

use std::collections::BTreeMap;

use fnstore::database::Database;
use fnstore::lexicon::{Lexicon, SemTypeTree, propagate};
use fnstore::model::{FeId, Frame, FrameRelation, SemType, SemTypeId};
use fnstore::query::Pattern;
use fnstore::store::NameKind;
use fnstore::text::plain_definition;
use serde::Serialize;

use crate::cli::options::listing::{Listing, Rows, names_or_all};
use crate::cli::print::render::Row;
use crate::cli::print::tree::{self, Direction, Edges, Tree};
use crate::cli::{Context, Outcome};

/// List semantic types
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Names: `Sentient`, `*entity`, or `~` and a regular expression; all when left out
    #[arg(value_name = "NAME")]
    name: Vec<String>,

    /// Draw the inheritance tree
    #[arg(long, conflicts_with = "limit")]
    tree: bool,

    /// List the types that FEs get from the FEs they are mapped onto by frame relations, and where
    /// the release contradicts itself in that
    #[arg(long, conflicts_with_all = ["tree", "name"])]
    propagate: bool,

    #[command(flatten)]
    rows: Rows,
}

const EXAMPLES: &str = "\
Examples:
  fnstore semtypes --tree
  fnstore semtypes Sentient --format json
  fnstore semtypes --propagate --format csv";

/// A semantic type as JSON; see `schema/semtypes.schema.json`.
#[derive(Debug, Serialize)]
struct SemTypeRow<'a> {
    release: &'a str,
    id: u32,
    name: &'a str,
    abbreviation: &'a str,
    parents: Vec<&'a str>,
    frames: u64,
    fes: u64,
    lus: u64,
    definition_text: String,
}

impl Row for SemTypeRow<'_> {
    const COLUMNS: &'static [&'static str] =
        &["release", "id", "name", "abbreviation", "parents", "frames", "fes", "lus"];
}

/// What follows for an FE, as JSON; see `schema/propagation.schema.json`.
#[derive(Debug, Serialize)]
struct PropagationRow<'a> {
    release: &'a str,
    /// JSON `{"enum": ["derived", "contradiction"]}`.
    outcome: &'static str,
    frame: &'a str,
    fe: &'a str,
    sem_types: Vec<&'a str>,
    distance: Option<u32>,
    relation: Option<&'a str>,
    parent_frame: Option<&'a str>,
    parent_fe: Option<&'a str>,
    unmet: Vec<&'a str>,
}

impl Row for PropagationRow<'_> {
    const COLUMNS: &'static [&'static str] = &[
        "release",
        "outcome",
        "frame",
        "fe",
        "sem_types",
        "distance",
        "relation",
        "parent_frame",
        "parent_fe",
        "unmet",
    ];
}

pub(crate) fn run(args: Args, context: &mut Context) -> anyhow::Result<Outcome> {
    let type_names = names_or_all("semtype", &args.name)?;
    let database = Database::open(&context.store)?;
    database.require_name(NameKind::SemType, &type_names)?;
    let (lexicons, mut listing) = args.rows.of(&database, &mut context.output)?;
    if args.tree {
        let only = (!args.name.is_empty()).then_some(&type_names);
        let mut trees = Vec::new();
        for lexicon in &lexicons {
            trees.extend(trees_of(&lexicon.release().name, &lexicon.semtype_tree()?, only));
        }
        tree::write(&trees, false, &mut context.output)?;
        if trees.is_empty() {
            return Outcome::nothing("nothing found");
        }
        return Ok(Outcome::Done);
    }
    for lexicon in &lexicons {
        let goes_on = if args.propagate {
            list_propagation(lexicon, &mut listing)?
        } else {
            list(lexicon, &type_names, &mut listing)?
        };
        if !goes_on {
            break;
        }
    }
    if args.propagate {
        listing.end::<PropagationRow<'_>>()
    } else {
        listing.end::<SemTypeRow<'_>>()
    }
}

/// Numbers of the frames, FEs and LUs that have a type.
#[derive(Default)]
struct Bearers {
    frames: BTreeMap<SemTypeId, u64>,
    fes: BTreeMap<SemTypeId, u64>,
    lus: BTreeMap<SemTypeId, u64>,
}

impl Bearers {
    fn of(lexicon: &Lexicon<'_>) -> anyhow::Result<Self> {
        let mut bearers = Self::default();
        let count = |counts: &mut BTreeMap<SemTypeId, u64>, ids: &[SemTypeId]| {
            ids.iter().for_each(|id| *counts.entry(*id).or_default() += 1);
        };
        for frame in lexicon.frames()? {
            let frame = frame?;
            count(&mut bearers.frames, &frame.sem_types);
            frame.elements.iter().for_each(|fe| count(&mut bearers.fes, &fe.sem_types));
        }
        for lu in lexicon.lus()? {
            count(&mut bearers.lus, &lu?.sem_types);
        }
        Ok(bearers)
    }
}

fn list(
    lexicon: &Lexicon<'_>,
    type_names: &Pattern,
    listing: &mut Listing<'_>,
) -> anyhow::Result<bool> {
    let types = lexicon.semtype_tree()?;
    let bearers = Bearers::of(lexicon)?;
    let count = |counts: &BTreeMap<SemTypeId, u64>, id| counts.get(id).copied().unwrap_or_default();
    let mut found: Vec<&SemType> =
        types.types().filter(|semtype| type_names.matches(&semtype.name)).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    for semtype in found {
        let row = SemTypeRow {
            release: &lexicon.release().name,
            id: semtype.id.0,
            name: &semtype.name,
            abbreviation: &semtype.abbreviation,
            parents: types.names(&semtype.parents).collect(),
            frames: count(&bearers.frames, &semtype.id),
            fes: count(&bearers.fes, &semtype.id),
            lus: count(&bearers.lus, &semtype.id),
            definition_text: plain_definition(&semtype.definition),
        };
        if !listing.row(&row)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The trees below the types that have nothing above them, or both ways from those of a name.
fn trees_of<'a>(release: &'a str, types: &SemTypeTree, only: Option<&Pattern>) -> Vec<Tree<'a>> {
    let (mut below, mut above) = (Edges::default(), Edges::default());
    let mut names = BTreeMap::new();
    for semtype in types.types() {
        names.insert(semtype.id.0, semtype.name.clone());
        for parent in &semtype.parents {
            below.add(parent.0, semtype.id.0, Vec::new());
            above.add(semtype.id.0, parent.0, Vec::new());
        }
    }
    let relation = "semantic type";
    let tree = |direction, edges: &Edges, id: SemTypeId| {
        let root = edges.grow(id.0, &names);
        Tree { release, relation, direction, root }
    };
    let mut trees = Vec::new();
    match only {
        None => {
            trees.extend(types.roots().map(|root| tree(Direction::Below, &below, root.id)));
        }
        Some(wanted) => {
            for semtype in types.types().filter(|semtype| wanted.matches(&semtype.name)) {
                trees.push(tree(Direction::Above, &above, semtype.id));
                trees.push(tree(Direction::Below, &below, semtype.id));
            }
        }
    }
    trees
}

fn list_propagation(lexicon: &Lexicon<'_>, listing: &mut Listing<'_>) -> anyhow::Result<bool> {
    let release = lexicon.release().name.as_str();
    let types = lexicon.semtype_tree()?;
    let frames: Vec<Frame> = lexicon.frames()?.collect::<Result<_, _>>()?;
    let relations: Vec<FrameRelation> = lexicon.relations()?.collect::<Result<_, _>>()?;
    let found = propagate(&frames, &relations, &types);
    let mut fes: BTreeMap<FeId, (&str, &str)> = BTreeMap::new();
    for frame in &frames {
        fes.extend(frame.elements.iter().map(|fe| (fe.id, (frame.name.as_str(), &*fe.name))));
    }
    let names = |ids: &std::collections::BTreeSet<SemTypeId>| -> Vec<&str> {
        ids.iter().filter_map(|id| types.get(*id)).map(|semtype| semtype.name.as_str()).collect()
    };
    let of = |fe: FeId| fes.get(&fe).copied().unwrap_or_default();
    for derived in &found.derived {
        let (frame, fe) = of(derived.fe);
        let row = PropagationRow {
            release,
            outcome: "derived",
            frame,
            fe,
            sem_types: names(&derived.types),
            distance: Some(derived.distance),
            relation: None,
            parent_frame: None,
            parent_fe: None,
            unmet: Vec::new(),
        };
        if !listing.row(&row)? {
            return Ok(false);
        }
    }
    for fault in &found.contradictions {
        let (frame, fe) = of(fault.child);
        let (parent_frame, parent_fe) = of(fault.parent);
        let relation = relations.iter().find(|relation| relation.id == fault.relation);
        let row = PropagationRow {
            release,
            outcome: "contradiction",
            frame,
            fe,
            sem_types: names(&fault.child_types),
            distance: None,
            relation: relation.map(|relation| relation.kind.as_str()),
            parent_frame: Some(parent_frame),
            parent_fe: Some(parent_fe),
            unmet: names(&fault.unmet),
        };
        if !listing.row(&row)? {
            return Ok(false);
        }
    }
    Ok(true)
}
