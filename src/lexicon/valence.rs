//! Valence counted from annotation: which phrase types and grammatical functions realise the FEs.
//!
//! An LU record carries FrameNet's own tables, made from its exemplars. These are counted the same
//! way from any annotation sets: full text, one corpus, another origin. A set counts once for each
//! pattern that it shows, so the patterns of one FE may add up to more than its total.
//!
//! Two things FrameNet knows and no label says. Its tables name prepositions (`PP[by]`); these have
//! the bare phrase type (`PP`). They call an FE that the LU incorporates `INC`, also where it is
//! labelled on the target, which is `DEN` here. But for the prepositions, 98 % of the patterns of
//! FrameNet 1.5's tables come out with the same exemplars.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    AnnotationSet, AnnotationSetId, Extent, FeRealization, FeStatus, ValencePattern, ValenceUnit,
    Valences,
};
use crate::search::{ElementLabel, elements};

/// FrameNet's words for what stands in the place of a phrase type: the target itself expresses the
/// FE, or the FE stands in the second or third FE layer.
const DENOTED: &str = "DEN";
const SECOND: &str = "2nd";
const THIRD: &str = "3rd";

/// FrameNet's sign for a label that is missing.
const UNLABELLED: &str = "--";

type Units = Vec<(String, String, String)>;
/// The sets that show a pattern, for each pattern, for each list of FE names.
type Counts = BTreeMap<Vec<String>, BTreeMap<Units, BTreeSet<AnnotationSetId>>>;

/// The valence tables that annotation sets show.
///
/// Sets of which nobody annotated the FEs, and those of generated sentences to which none were
/// carried, are left out. Elements come in order of name, patterns by number of sets and then by
/// unit. Governors are FrameNet's own notes, which no set holds, so there are none.
#[must_use]
pub fn observed_valences<'s>(sets: impl IntoIterator<Item = &'s AnnotationSet>) -> Valences {
    let mut single = Counts::new();
    let mut together = Counts::new();
    let has_elements =
        |set: &&AnnotationSet| matches!(set.fe_status, FeStatus::Annotated | FeStatus::Carried);
    for set in sets.into_iter().filter(has_elements) {
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

/// The units of a set in order: FE, phrase type, grammatical function.
fn units(set: &AnnotationSet) -> Units {
    let unit = |element: ElementLabel<'_>| {
        let (pt, gf) = match &element.label.extent {
            Extent::Null(kind) => (kind.as_str(), ""),
            Extent::Overt(_) if element.rank == 2 => (SECOND, ""),
            Extent::Overt(_) if element.rank > 2 => (THIRD, ""),
            Extent::Overt(span) if set.targets.contains(span) => (DENOTED, ""),
            Extent::Overt(_) => {
                (element.pt.unwrap_or(UNLABELLED), element.gf.unwrap_or(UNLABELLED))
            }
            Extent::None => (UNLABELLED, UNLABELLED),
        };
        (element.label.name.clone(), pt.to_owned(), gf.to_owned())
    };
    let mut units: Units = elements(set).map(unit).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        FrameId, IdSpace, Label, Layer, LayerName, LuId, NullInstantiation, SentenceId, Span,
    };

    fn label(name: &str, extent: Extent) -> Label {
        Label::new(name, extent)
    }

    fn on(name: &str, start: u32) -> Label {
        label(name, Extent::Overt(Span::new(start, start + 1)))
    }

    /// A set with its target on 9-10.
    fn set(number: u64, layers: Vec<(LayerName, u8, Vec<Label>)>) -> AnnotationSet {
        let layer = |(name, rank, labels)| Layer { name, rank, labels };
        let id = AnnotationSetId::new(IdSpace::Exemplar, number);
        let sentence = SentenceId::new(IdSpace::Exemplar, 1);
        AnnotationSet {
            targets: vec![Span::new(9, 10)],
            fe_status: FeStatus::Annotated,
            layers: layers.into_iter().map(layer).collect(),
            ..AnnotationSet::placed(id, sentence, (FrameId(1), LuId(1)))
        }
    }

    fn lines(realizations: &[FeRealization]) -> Vec<String> {
        let mut lines = Vec::new();
        for realization in realizations {
            lines.push(format!("{} {}", realization.elements.join("+"), realization.total));
            for pattern in &realization.patterns {
                let unit = |unit: &ValenceUnit| format!("{}.{}.{}", unit.fe, unit.pt, unit.gf);
                let units: Vec<String> = pattern.units.iter().map(unit).collect();
                lines.push(format!("  {} {}", units.join(" "), pattern.total));
            }
        }
        lines
    }

    #[test]
    fn a_set_counts_once_for_each_pattern_it_shows() {
        let gf_and_pt = |at: u32, gf: &str, pt: &str| {
            [(LayerName::Gf, 1, vec![on(gf, at)]), (LayerName::Pt, 1, vec![on(pt, at)])]
        };
        let fes = (LayerName::Fe, 1, vec![on("A", 0), on("A", 2), on("B", 4)]);
        let layers =
            [vec![fes], gf_and_pt(0, "Ext", "NP").into(), gf_and_pt(2, "Ext", "NP").into()];
        let both = set(1, layers.concat());
        let one = set(
            2,
            vec![(LayerName::Fe, 1, vec![label("A", Extent::Null(NullInstantiation::Indefinite))])],
        );
        let valences = observed_valences([&both, &one]);
        assert_eq!(
            lines(&valences.realizations),
            ["A 2", "  A.INI. 1", "  A.NP.Ext 1", "B 1", "  B.--.-- 1"]
        );
        assert_eq!(
            lines(&valences.groups),
            ["A 1", "  A.INI. 1", "A+A+B 1", "  A.NP.Ext A.NP.Ext B.--.-- 1"]
        );
        assert_eq!(valences.realizations[0].patterns[0].sets, [one.id]);
    }

    #[test]
    fn the_target_and_the_higher_ranks_have_words_of_their_own() {
        let denoted = set(
            1,
            vec![
                (LayerName::Fe, 1, vec![on("A", 9)]),
                (LayerName::Fe, 2, vec![on("B", 9)]),
                (LayerName::Fe, 3, vec![on("C", 0)]),
            ],
        );
        let valences = observed_valences([&denoted]);
        assert_eq!(lines(&valences.groups), ["A+B+C 1", "  A.DEN. B.2nd. C.3rd. 1"]);
    }

    #[test]
    fn sets_without_annotated_elements_do_not_count() {
        let mut unannotated = set(1, vec![(LayerName::Fe, 1, vec![on("A", 0)])]);
        unannotated.fe_status = FeStatus::Unannotated;
        assert!(observed_valences([&unannotated, &set(2, Vec::new())]).is_empty());
    }
}
