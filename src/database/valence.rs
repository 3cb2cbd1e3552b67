//! Valence counted from annotation: which phrase types and grammatical functions realise the FEs.
//!
//! An LU record carries FrameNet's own tables, made from its exemplars. These are counted the same
//! way from any annotation sets: full text, one corpus, another origin. A set counts once for each
//! pattern that it shows, so the patterns of one FE may add up to more than its total.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::elements;
use crate::model::{
    AnnotationSet, AnnotationSetId, Extent, FeRealization, FeStatus, ValencePattern, ValenceUnit,
    Valences,
};

type Units = Vec<(String, String, String)>;
/// The sets that show a pattern, for each pattern, for each list of FE names.
type Counts = BTreeMap<Vec<String>, BTreeMap<Units, BTreeSet<AnnotationSetId>>>;

/// The valence tables that annotation sets show.
///
/// Sets of which nobody annotated the FEs, and those of generated sentences without FEs, are left out.
/// Elements come in order of name, patterns by number of sets and then by unit. Governors are
/// FrameNet's own notes, which no set holds, so there are none.
#[must_use]
pub fn observed_valences<'s>(sets: impl IntoIterator<Item = &'s AnnotationSet>) -> Valences {
    let mut single = Counts::new();
    let mut together = Counts::new();
    for set in sets.into_iter().filter(|set| set.fe_status == FeStatus::Annotated) {
        let units = units(set);
        for unit in &units {
            let patterns = single.entry(vec![unit.0.clone()]).or_default();
            patterns.entry(vec![unit.clone()]).or_default().insert(set.id);
        }
        if !units.is_empty() {
            let names = units.iter().map(|(fe, ..)| fe.clone()).collect();
            together.entry(names).or_default().entry(units).or_default().insert(set.id);
        }
    }
    Valences {
        realizations: realizations(single),
        groups: realizations(together),
        ..Valences::default()
    }
}

/// The units of a set in order: FE, phrase type or kind of null instantiation, function.
fn units(set: &AnnotationSet) -> Units {
    let mut units: Units = elements(set)
        .map(|element| {
            let pt = match &element.label.extent {
                Extent::Null(kind) => kind.as_str(),
                Extent::Overt(_) | Extent::None => element.pt.unwrap_or_default(),
            };
            let gf = element.gf.unwrap_or_default();
            (element.label.name.clone(), pt.to_owned(), gf.to_owned())
        })
        .collect();
    units.sort_unstable();
    units
}

fn realizations(counts: Counts) -> Vec<FeRealization> {
    let realization = |(elements, patterns): (Vec<String>, BTreeMap<Units, BTreeSet<_>>)| {
        let sets: BTreeSet<AnnotationSetId> = patterns.values().flatten().copied().collect();
        let mut patterns: Vec<ValencePattern> = patterns.into_iter().map(pattern).collect();
        patterns.sort_by_key(|pattern| std::cmp::Reverse(pattern.total));
        FeRealization { elements, total: number(sets.len()), patterns }
    };
    counts.into_iter().map(realization).collect()
}

fn pattern((units, sets): (Units, BTreeSet<AnnotationSetId>)) -> ValencePattern {
    let unit = |(fe, pt, gf)| ValenceUnit { fe, pt, gf };
    ValencePattern {
        total: number(sets.len()),
        units: units.into_iter().map(unit).collect(),
        sets: sets.into_iter().collect(),
    }
}

fn number(sets: usize) -> u32 {
    u32::try_from(sets).unwrap_or(u32::MAX)
}
