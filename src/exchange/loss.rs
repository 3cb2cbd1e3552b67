//! What a format could not hold, counted.

use std::collections::BTreeMap;

use crate::model::{
    AnnotationSet, Extent, FeStatus, Label, LayerName, Origin, Provenance, Span, named,
};

macro_rules! losses {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $said:literal;)*) => {
        named! {
            /// Something that a format cannot hold.
            #[non_exhaustive]
            pub enum Loss {
                $($(#[$doc])* $variant => $name,)*
            }
        }

        impl Loss {
            /// What was lost and how, in a few words.
            #[must_use]
            pub fn said(self) -> &'static str {
                match self {
                    $(Self::$variant => $said,)*
                }
            }
        }
    };
}

losses! {
    /// A null instantiation: an FE that no text expresses.
    NullInstantiation = "null-instantiation", "null instantiation left out";
    /// An FE label without a span and without a kind of null instantiation.
    NoExtent = "no-extent", "FE label without a span left out";
    /// An FE whose tokens an earlier FE of the same rank has.
    OverlappingElement = "overlapping-fe", "FE that overlaps another left out";
    /// An FE of a layer of rank 2 or 3.
    SecondRank = "fe-layer-2-3", "FE of a second or third FE layer left out";
    /// A set whose FEs nobody annotated: the format cannot tell it from one that expresses none.
    ElementsUnknown = "fes-not-annotated", "set whose FEs are not annotated written as one without FEs";
    /// A set without a target.
    NoTarget = "no-target", "set without a target left out";
    /// A piece of a target that covers no token: white space, or nothing.
    TargetWithoutToken = "target-without-token", "target that covers no token left out";
    /// A target that begins or ends inside a token.
    TargetInsideToken = "target-inside-token", "target widened to whole tokens";
    /// An FE that begins or ends inside a token.
    ElementInsideToken = "fe-inside-token", "FE widened to whole tokens";
    /// An FE that covers no token: white space, or nothing.
    NoToken = "no-token", "FE that covers no token left out";
    /// White space between tokens that is not one space.
    WhiteSpace = "white-space", "sentence with other white space than single spaces";
    /// A sentence whose words have no part of speech, as those that no tagger has seen.
    NoTags = "no-tags",
        "sentence without parts of speech, whose lemmas are bare forms";
    /// A layer that the format has no place for.
    OtherLayer = "other-layer", "layer other than Target and FE left out";
    /// A grammatical function or phrase type.
    GfPt = "gf-pt", "GF or PT label left out";
    /// A label of GF or PT that stands on no FE's span.
    LooseGfPt = "loose-gf-pt", "GF or PT label that stands on no FE left out";
    /// FrameNet's status of a set.
    Status = "status", "status of a set left out";
    /// Annotator, date or colours.
    Metadata = "metadata", "annotator, date or colours of a set left out";
    /// That a set's LU is proposed, and nobody decided on it.
    Proposed = "lu-proposed", "set of a proposed LU that looks like one of any other";
    /// A set of a proposed LU that people rejected.
    Rejected = "lu-rejected", "set of an LU that was rejected left out";
    /// What a model's set is worth by its own account.
    Scores = "scores", "seed, round, flags or scores of a model's set left out";
    /// How a generated set came to be, beyond seed, round, flags and scores.
    Generation = "generation", "chain, recipe and method of a generated set left out";
    /// What a frame model was asked of a predicted set.
    Prediction = "prediction", "file, model and runners-up of a predicted set left out";
    /// A generated set, in a format that does not say where sets come from.
    UnmarkedGenerated = "generated-unmarked",
        "generated set that looks like a human one; `origin!=generated` leaves it out";
    /// How a carried set came to be.
    Carrying = "carrying", "source and sentence of a carried set left out";
    /// A carried set, in a format that does not say where sets come from.
    UnmarkedCarried = "carried-unmarked",
        "carried set that looks like a human one; `origin!=carried` leaves it out";
    /// A predicted set, in a format that does not say where sets come from.
    UnmarkedPredicted = "predicted-unmarked",
        "predicted set that looks like a human one; `origin!=predicted` leaves it out";
    /// A judgement of a set.
    Judgements = "judgements", "judgement of a set left out";
    /// What a verifier says of a set.
    Verifications = "verifications", "answers of a verifier left out";
}

/// What a format says of a set, beside frame, LU, target and FEs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Holds {
    /// Where it comes from.
    pub(crate) origin: bool,
    /// Its status.
    pub(crate) status: bool,
    /// The status of its LU.
    pub(crate) lu_status: bool,
    /// Whether its FEs are annotated.
    pub(crate) fe_status: bool,
    /// Grammatical functions and phrase types of its FEs.
    pub(crate) gf_pt: bool,
    /// Seed, round, flags and scores.
    pub(crate) scores: bool,
}

/// How often each thing was lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LossLog {
    counts: BTreeMap<Loss, u64>,
}

impl LossLog {
    /// Counts a loss.
    pub fn add(&mut self, loss: Loss) {
        self.add_many(loss, 1);
    }

    /// Counts several losses of one kind.
    pub fn add_many(&mut self, loss: Loss, count: u64) {
        if count > 0 {
            *self.counts.entry(loss).or_default() += count;
        }
    }

    /// Counts what another log counted.
    pub fn merge(&mut self, other: &Self) {
        for (loss, count) in other.iter() {
            self.add_many(loss, count);
        }
    }

    /// Counts what a format loses of a set that it writes.
    pub(crate) fn add_set(&mut self, set: &AnnotationSet, is_proposed: bool, holds: Holds) {
        for layer in set.layers.iter().filter(|layer| !layer.labels.is_empty()) {
            match layer.name {
                LayerName::Target | LayerName::Fe => {}
                LayerName::Gf | LayerName::Pt if holds.gf_pt => {
                    let of_elements: Vec<Span> = set
                        .fe_layers()
                        .filter(|fes| fes.rank == layer.rank)
                        .flat_map(|fes| fes.labels.iter().filter_map(|label| label.extent.span()))
                        .collect();
                    let is_loose = |extent: &Extent| {
                        extent.span().is_none_or(|span| !of_elements.contains(&span))
                    };
                    let loose = layer.labels.iter().filter(|label| is_loose(&label.extent)).count();
                    self.add_many(Loss::LooseGfPt, loose as u64);
                }
                LayerName::Gf | LayerName::Pt => {
                    self.add_many(Loss::GfPt, layer.labels.len() as u64);
                }
                _ => self.add(Loss::OtherLayer),
            }
        }
        let is_open = match &set.provenance {
            of if of.carried_elements().iter().any(|element| element.score.is_none()) => true,
            Provenance::Generated(made) if made.flags.lost_element => true,
            _ => !matches!(set.fe_status, FeStatus::Annotated | FeStatus::Carried),
        };
        self.add_if(is_open && !holds.fe_status, Loss::ElementsUnknown);
        self.add_if(!holds.status, Loss::Status);
        self.add_if(is_proposed && !holds.lu_status, Loss::Proposed);
        let mut labels = set.layers.iter().flat_map(|layer| &layer.labels);
        let is_signed = |label: &Label| !label.annotator.is_empty() || label.colors.is_some();
        self.add_if(!set.created.is_empty() || labels.any(is_signed), Loss::Metadata);
        let (made, unmarked) = match set.provenance.origin() {
            Origin::Generated => (Loss::Generation, Loss::UnmarkedGenerated),
            Origin::Predicted => (Loss::Prediction, Loss::UnmarkedPredicted),
            Origin::Carried => (Loss::Carrying, Loss::UnmarkedCarried),
            Origin::Exemplar | Origin::FullText | Origin::Imported | Origin::User => return,
        };
        self.add(made);
        self.add_if(!holds.scores, Loss::Scores);
        self.add_if(!holds.origin, unmarked);
    }

    fn add_if(&mut self, is_lost: bool, loss: Loss) {
        if is_lost {
            self.add(loss);
        }
    }

    /// How often this was lost.
    #[must_use]
    pub fn count(&self, loss: Loss) -> u64 {
        self.counts.get(&loss).copied().unwrap_or(0)
    }

    /// Whether nothing was lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// What was lost, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Loss, u64)> + '_ {
        self.counts.iter().map(|(loss, count)| (*loss, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_counts_what_was_lost_and_nothing_else() {
        let mut log = LossLog::default();
        log.add_many(Loss::GfPt, 0);
        assert!(log.is_empty());
        log.add(Loss::GfPt);
        log.add_many(Loss::GfPt, 2);
        assert_eq!(log.iter().collect::<Vec<_>>(), [(Loss::GfPt, 3)]);
        assert_eq!(log.count(Loss::NoTarget), 0);
    }

    #[test]
    fn a_log_adds_what_another_counted() {
        let (mut log, mut other) = (LossLog::default(), LossLog::default());
        log.add(Loss::GfPt);
        other.add_many(Loss::GfPt, 2);
        other.add(Loss::Judgements);
        log.merge(&other);
        assert_eq!(log.iter().collect::<Vec<_>>(), [(Loss::GfPt, 3), (Loss::Judgements, 1)]);
    }
}
