//! What the generated sets of a proposed LU say together.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::SENTENCES;
use crate::model::{AnnotationSet, AnnotationSetId, Evidence, Provenance};

/// The last bit of [`Evidence::rounds`] stands for this round and all later ones.
const LAST_ROUND: u16 = 32;

/// An answer above this says that the target evokes the frame rather than not.
const LIKELY: f32 = 0.5;

/// A set with what ranks its sentence: round, aligner score, score of the precision filter.
pub(super) type Ranked = (AnnotationSetId, u16, f32, Option<f32>);

/// Sums over the sets of a proposed LU.
#[derive(Debug, Clone, Default)]
pub(super) struct Gathered {
    /// Number of the sets.
    sets: u32,
    /// The best of them, the best first.
    best: Vec<Ranked>,
    seeds: BTreeSet<AnnotationSetId>,
    rounds: BTreeSet<u16>,
    /// Sum, and sets that were scored.
    paraphrase: (f64, u32),
    aligner: f64,
    /// Sum and number of the scores of the filters, and of the frame model.
    p: (f64, u32),
    r: (f64, u32),
    fit: (f64, u32),
    /// Sum and number of the answers of a verifier, and how many of them are above [`LIKELY`].
    evokes: (f64, u32),
    likely: u32,
    /// Sets with a word in their target that nobody is known to use.
    unknown: u32,
}

impl Gathered {
    /// Takes a set, if an expansion wrote it, and how likely a verifier finds it that its target
    /// evokes the frame.
    pub(super) fn take(&mut self, set: &AnnotationSet, evokes: Option<f32>) {
        let Provenance::Generated(made) = &set.provenance else { return };
        self.sets += 1;
        let ranked = (set.id, made.round, made.aligner, made.filter.map(|of| of.precision));
        let place = self.best.partition_point(|other| better(other, &ranked).is_le());
        self.best.insert(place, ranked);
        self.best.truncate(SENTENCES);
        self.seeds.insert(made.seed);
        self.rounds.insert(made.round);
        if let Some(score) = made.paraphrase_score() {
            self.paraphrase = (self.paraphrase.0 + f64::from(score), self.paraphrase.1 + 1);
        }
        self.aligner += f64::from(made.aligner);
        self.unknown += u32::from(made.flags.unknown_word);
        if let Some(scores) = made.filter {
            self.p = (self.p.0 + f64::from(scores.precision), self.p.1 + 1);
            self.r = (self.r.0 + f64::from(scores.recall), self.r.1 + 1);
        }
        if let Some(fit) = made.fit {
            self.fit = (self.fit.0 + f64::from(fit.probability), self.fit.1 + 1);
        }
        if let Some(evokes) = evokes {
            self.evokes = (self.evokes.0 + f64::from(evokes), self.evokes.1 + 1);
            self.likely += u32::from(evokes > LIKELY);
        }
    }

    pub(super) fn evidence(&self) -> Evidence {
        let count = f64::from(self.sets.max(1));
        let mean = |(sum, count): (f64, u32)| (count > 0).then(|| (sum / f64::from(count)) as f32);
        let bit = |round: &u16| 1_u32 << (round.clamp(&1, &LAST_ROUND) - 1);
        Evidence {
            sets: self.sets,
            seeds: self.seeds.len() as u32,
            rounds: self.rounds.iter().map(bit).fold(0, |bits, bit| bits | bit),
            paraphrase: mean(self.paraphrase).unwrap_or_default(),
            aligner: (self.aligner / count) as f32,
            p: mean(self.p),
            r: mean(self.r),
            frames: 0,
            likeness: None,
            frame_fit: mean(self.fit),
            unknown: (f64::from(self.unknown) / count) as f32,
            words: 0,
            evokes: mean(self.evokes),
            evokes_share: mean((f64::from(self.likely), self.evokes.1)),
            verified: self.evokes.1,
        }
    }

    pub(super) fn seeds(&self) -> Vec<AnnotationSetId> {
        self.seeds.iter().copied().collect()
    }

    pub(super) fn rounds(&self) -> Vec<u16> {
        self.rounds.iter().copied().collect()
    }

    /// The best sets, the best first.
    pub(super) fn best(&self) -> &[Ranked] {
        &self.best
    }
}

/// Which of two sets is better: by the precision filter, then by the aligner, then the earlier
/// round.
fn better(a: &Ranked, b: &Ranked) -> Ordering {
    let p = |of: &Ranked| of.3.unwrap_or(-1.0);
    let by_scores = p(b).total_cmp(&p(a)).then_with(|| b.2.total_cmp(&a.2));
    by_scores.then_with(|| (a.1, a.0).cmp(&(b.1, b.0)))
}
