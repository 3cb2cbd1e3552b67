//! What is drawn: shares of full text, exemplars by date, and generated sets by their seeds.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::str::FromStr;

use super::{ExperimentError, Result};
use crate::identify::{FrameSentence, Target};
use crate::learn::SplitMix64;
use crate::model::{AnnotationSetId, instant};

/// LUs of each frame whose exemplars are given, and exemplars of each, by date (Culkin et al. 2021,
/// section 6.3).
const EXEMPLARS: [usize; 2] = [3, 3];

/// A share of the full text, with exemplars or without.
///
/// ```
/// use fnstore::experiment::Share;
/// let share: Share = "10+".parse()?;
/// assert_eq!((share.percent(), share.has_exemplars()), (10, true));
/// assert!("0".parse::<Share>().is_err() && "101".parse::<Share>().is_err());
/// # Ok::<(), fnstore::experiment::ExperimentError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share {
    percent: u8,
    exemplars: bool,
}

impl Share {
    /// Those of Culkin et al. (2021, section 6.3): 10, 20, ..., 100 %, and 10 and 100 % with
    /// exemplars.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let plain = (1..=10).map(|tenth| Self { percent: 10 * tenth, exemplars: false });
        plain.chain([10, 100].map(|percent| Self { percent, exemplars: true })).collect()
    }

    /// Percent of the sentences, 1 to 100.
    #[must_use]
    pub fn percent(self) -> u8 {
        self.percent
    }

    /// Whether exemplars are added.
    #[must_use]
    pub fn has_exemplars(self) -> bool {
        self.exemplars
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.percent, if self.exemplars { "+" } else { "" })
    }
}

impl FromStr for Share {
    type Err = ExperimentError;

    fn from_str(text: &str) -> Result<Self> {
        let (percent, exemplars) =
            text.strip_suffix('+').map_or((text, false), |percent| (percent, true));
        let percent = percent.parse().ok().filter(|percent| (1..=100).contains(percent));
        let percent = percent.ok_or_else(|| ExperimentError::Setting {
            name: "share",
            found: text.to_owned(),
            expected: "percent of the full text, 1 to 100, and `+` for exemplars, as in `10+`",
        })?;
        Ok(Self { percent, exemplars })
    }
}

/// The order in which a resample draws so many sentences. Larger shares of one resample contain its
/// smaller ones.
pub(super) fn order(sentences: usize, seed: u64, resample: usize) -> Vec<usize> {
    // The first output of the seed's generator: neighbouring states give shifted sequences.
    let mixed = SplitMix64::new(seed).next() ^ SplitMix64::new(resample as u64).next();
    let mut order: Vec<usize> = (0..sentences).collect();
    SplitMix64::new(mixed).shuffle(&mut order);
    order
}

/// The first `percent` of an order, at least one, ascending.
pub(super) fn first_percent(order: &[usize], percent: f64) -> Vec<usize> {
    let count = (order.len() as f64 * percent / 100.0).round() as usize;
    let mut drawn = order[..count.clamp(1.min(order.len()), order.len())].to_vec();
    drawn.sort_unstable();
    drawn
}

/// The first exemplars of the first LUs of each frame, by date of annotation and then by number.
pub(super) fn earliest(exemplars: Vec<FrameSentence>) -> Vec<FrameSentence> {
    type Dated = (i64, AnnotationSetId);
    let mut frames: BTreeMap<&str, BTreeMap<&str, Vec<Dated>>> = BTreeMap::new();
    for target in exemplars.iter().flat_map(|sentence| &sentence.targets) {
        let of_frame = frames.entry(&target.frame).or_default();
        let dated = (instant(&target.created).unwrap_or(i64::MAX), target.set);
        of_frame.entry(&target.lexunit).or_default().push(dated);
    }
    let mut kept = HashSet::new();
    for lexunits in frames.into_values() {
        let mut lexunits: Vec<Vec<Dated>> = lexunits.into_values().collect();
        lexunits.iter_mut().for_each(|sets| sets.sort_unstable());
        lexunits.sort_unstable_by_key(|sets| sets[0]);
        let [lus, sets] = EXEMPLARS;
        let first = lexunits.into_iter().take(lus).flat_map(|of| of.into_iter().take(sets));
        kept.extend(first.map(|(_, set)| set));
    }
    FrameSentence::with_targets(exemplars, |target| kept.contains(&target.set))
}

/// The sets of some sentences.
pub(super) fn sets_of<'a>(
    sentences: impl IntoIterator<Item = &'a FrameSentence>,
) -> HashSet<AnnotationSetId> {
    sentences.into_iter().flat_map(|sentence| sentence.targets.iter().map(|of| of.set)).collect()
}

/// Makes sure that generated targets have their seeds among the sets that were drawn.
pub(super) fn check_seeds<'a>(
    generated: impl IntoIterator<Item = &'a Target>,
    drawn: &HashSet<AnnotationSetId>,
    share: impl fmt::Display,
) -> Result<()> {
    let seeds = generated.into_iter().map(|target| (target.set, target.made.map(|made| made.seed)));
    check_each(seeds, drawn, share)
}

/// As [`check_seeds`], of sets with their seeds.
pub(super) fn check_each(
    generated: impl IntoIterator<Item = (AnnotationSetId, Option<AnnotationSetId>)>,
    drawn: &HashSet<AnnotationSetId>,
    share: impl fmt::Display,
) -> Result<()> {
    for (set, seed) in generated {
        if !seed.is_some_and(|seed| drawn.contains(&seed)) {
            return Err(ExperimentError::Leak {
                set: set.to_string(),
                seed: seed.map_or_else(|| "none".to_owned(), |seed| seed.to_string()),
                share: share.to_string(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::identify::Made;
    use crate::model::{IdSpace, SentenceId, Span};

    fn set(number: u64) -> AnnotationSetId {
        AnnotationSetId::new(IdSpace::Exemplar, number)
    }

    fn sentence(number: u64, frame: &str, lexunit: &str, created: &str) -> FrameSentence {
        let target = Target {
            set: set(number),
            span: Span::new(0, 1),
            frame: Arc::from(frame),
            lexunit: Arc::from(lexunit),
            created: created.to_owned(),
            made: None,
        };
        let id = SentenceId::new(IdSpace::Exemplar, number);
        FrameSentence { id, text: "a b".to_owned(), is_whole: false, targets: vec![target] }
    }

    #[test]
    fn shares_are_nested_differ_between_resamples_and_have_their_size() {
        let order_of = order(40, 7, 0);
        let [tenth, half, whole] = [10.0, 50.0, 100.0].map(|of| first_percent(&order_of, of));
        assert_eq!((tenth.len(), half.len()), (4, 20));
        assert!(tenth.iter().all(|at| half.contains(at)));
        assert_eq!(whole, (0..40).collect::<Vec<_>>());
        assert_eq!(order(40, 7, 0), order_of, "the same seed draws the same");
        assert_ne!(order(40, 7, 1), order_of);
        assert_ne!(order(40, 8, 0), order_of);
        assert_eq!(first_percent(&order(3, 1, 0), 1.0).len(), 1);
        assert_eq!(first_percent(&[], 50.0), [0; 0]);
    }

    #[test]
    fn exemplars_are_the_earliest_of_the_earliest_lexical_units() {
        let day = |day: u8| format!("02/{day:02}/2001 04:11:40 PST Wed");
        let mut all = Vec::new();
        // LUs a to d begin on the 4th, 3rd, 2nd and 1st; each has four exemplars, the earliest
        // last.
        for (at, lexunit) in ["a.v", "b.v", "c.v", "d.v"].into_iter().enumerate() {
            for later in (0..4).rev() {
                let number = 10 * at as u64 + u64::from(later);
                all.push(sentence(number, "F", lexunit, &day(4 - at as u8 + later)));
            }
        }
        all.push(sentence(99, "G", "e.v", "no date"));
        let kept: Vec<u64> =
            earliest(all).iter().map(|sentence| sentence.targets[0].set.number()).collect();
        let mut sorted = kept.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [10, 11, 12, 20, 21, 22, 30, 31, 32, 99], "not of a.v, the latest LU");
    }

    #[test]
    fn a_generated_set_without_its_seed_is_refused() {
        let mut of = sentence(1, "F", "a.v", "");
        of.targets[0].made = Some(Made { seed: set(5), precision: None, recall: None });
        let drawn = HashSet::from([set(5)]);
        assert!(check_seeds(&of.targets, &drawn, "10").is_ok());
        let error = check_seeds(&of.targets, &HashSet::from([set(6)]), "10").unwrap_err();
        assert!(error.to_string().starts_with("E-outside-share: "), "{error}");
        let human = sentence(2, "F", "a.v", "");
        assert!(check_seeds(&human.targets, &drawn, "10").is_err(), "a human set has no seed");
    }
}
