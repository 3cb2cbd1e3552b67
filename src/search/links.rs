//! What LUs are linked to in other lexicons, as queries ask for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::database::Result;
use crate::lexica::wordnet_lemma;
use crate::model::{
    FrameId, Link, LinkSubject, LuId, Release, ReleaseId, ResourceKind, Synset, SynsetId,
    class_number,
};
use crate::query::Field;
use crate::store::Store;

/// An LU.
type Place = (ReleaseId, FrameId, LuId);

/// The values of a field that LUs have through their links.
pub(super) type LinkedValues = HashMap<Place, BTreeSet<String>>;

/// Relations that lead to what is above a synset.
const ABOVE: [&str; 2] = ["hypernym", "instance_hypernym"];

/// The fields that links answer.
pub(super) const FIELDS: [Field; 4] = [Field::Synset, Field::Vn, Field::Pb, Field::Hypernym];

/// The values of a field that links answer, of every LU that has some.
pub(super) fn linked_values(
    store: &Store,
    releases: &[Arc<Release>],
    field: Field,
) -> Result<LinkedValues> {
    let mut values = HashMap::new();
    let mut reader = Reader { store, field, kinds: HashMap::new(), above: HashMap::new() };
    for resource in store.readable_resources()? {
        reader.kinds.insert(resource.name.clone(), (resource.id, resource.kind));
    }
    for release in releases {
        for row in store.all_links(release.id)? {
            let row = row?;
            let LinkSubject::LexUnit(lu) = row.of else { continue };
            let mut of_lu = BTreeSet::new();
            for link in row.links.iter().filter(|link| link.stands()) {
                reader.add(link, &mut of_lu)?;
            }
            if !of_lu.is_empty() {
                values.insert((release.id, row.frame, lu), of_lu);
            }
        }
    }
    Ok(values)
}

struct Reader<'s> {
    store: &'s Store,
    field: Field,
    kinds: HashMap<String, (ReleaseId, ResourceKind)>,
    /// What is above synsets that were asked about, at any distance.
    above: HashMap<(ReleaseId, SynsetId), Arc<BTreeSet<SynsetId>>>,
}

impl Reader<'_> {
    fn add(&mut self, link: &Link, values: &mut BTreeSet<String>) -> Result<()> {
        let Some((resource, kind)) = self.kinds.get(&link.resource).copied() else { return Ok(()) };
        match (self.field, kind) {
            (Field::Vn, ResourceKind::Verbnet) => {
                values.insert(link.target.clone());
                values.extend(class_number(&link.target).map(str::to_owned));
            }
            (Field::Pb, ResourceKind::Propbank) => drop(values.insert(link.target.clone())),
            (Field::Synset, ResourceKind::Wordnet) => {
                values.insert(link.target.clone());
                values.extend(self.synset(resource, link)?.iter().flat_map(names));
            }
            (Field::Hypernym, ResourceKind::Wordnet) => {
                let Some(synset) = self.synset(resource, link)? else { return Ok(()) };
                for above in self.above(resource, synset)?.iter() {
                    if let Some(above) = self.store.synset(resource, *above)? {
                        values.extend(names(&above));
                        values.insert(above.written);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The synset of a link, where the resource is still the one that was linked to.
    fn synset(&self, resource: ReleaseId, link: &Link) -> Result<Option<Synset>> {
        let synset = self.store.synset(resource, SynsetId(link.number))?;
        Ok(synset.filter(|synset| synset.written == link.target))
    }

    fn above(&mut self, resource: ReleaseId, of: Synset) -> Result<Arc<BTreeSet<SynsetId>>> {
        let place = (resource, of.id);
        if let Some(known) = self.above.get(&place) {
            return Ok(Arc::clone(known));
        }
        let (mut found, mut next) = (BTreeSet::new(), vec![of]);
        while let Some(synset) = next.pop() {
            for relation in synset.relations.iter().filter(|of| ABOVE.contains(&&*of.kind)) {
                if found.insert(relation.target) {
                    next.extend(self.store.synset(resource, relation.target)?);
                }
            }
        }
        let found = Arc::new(found);
        self.above.insert(place, Arc::clone(&found));
        Ok(found)
    }
}

/// The words of a synset, as LUs are written: `examine.v`.
fn names(synset: &Synset) -> Vec<String> {
    let letter = synset.class.as_str();
    synset.members.iter().map(|member| format!("{}.{letter}", wordnet_lemma(member))).collect()
}
