//! What a commit touches of the evidence for proposed LUs.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::SetEvidence;
use super::family::Family;
use super::key::{Key, SentenceKey, SetKey};
use super::touched::{Before, Said};
use crate::model::{AnnotationSetId, ReleaseId, SentenceId};

/// What a set says for its LU before a commit, and after it.
pub(super) type Turn = [Option<Box<SetEvidence>>; 2];

/// What a commit touches of a release's evidence.
#[derive(Default)]
pub(super) struct OfRelease {
    /// Sets that are put or go, without the answers of a verifier.
    pub(super) sets: BTreeMap<AnnotationSetId, Turn>,
    /// Of these, those that the release did not have: nobody has verified them before.
    pub(super) new: BTreeSet<AnnotationSetId>,
    /// Answers of a verifier, as they are then.
    pub(super) answers: BTreeMap<AnnotationSetId, Option<f32>>,
    /// Texts of sentences, as they are then; `None` of one that goes.
    pub(super) texts: BTreeMap<SentenceId, Option<String>>,
    /// Sentences that have another text then.
    pub(super) reworded: Vec<SentenceId>,
}

impl OfRelease {
    /// Whether nothing is touched that is evidence.
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty() && self.answers.is_empty() && self.reworded.is_empty()
    }
}

/// What a commit touches, release by release.
#[derive(Default)]
pub(super) struct TouchedEvidence(pub(super) BTreeMap<ReleaseId, OfRelease>);

impl TouchedEvidence {
    /// Takes up a row that is touched.
    pub(super) fn add(&mut self, family: Family, key: &[u8], before: Before, after: Option<Said>) {
        let is_new = matches!(before, Before::New);
        let is_unreadable = matches!(before, Before::Unreadable);
        let before = match before {
            Before::Said(said) => Some(said),
            Before::Nothing | Before::New | Before::Unreadable => None,
        };
        match family {
            Family::Annotation => {
                for (said, at) in [(before, 0), (after, 1)] {
                    if let Some(Said::Set(counted, Some(set))) = said {
                        let of_release = self.0.entry(counted.release).or_default();
                        let id = set.set;
                        of_release.new.extend(is_new.then_some(id));
                        of_release.sets.entry(id).or_default()[at] = Some(set);
                    }
                }
            }
            Family::Verification => {
                let Some(key) = SetKey::decode(key) else { return };
                let evokes = match after {
                    Some(Said::Answer(evokes)) => evokes,
                    _ => None,
                };
                self.0.entry(key.release).or_default().answers.insert(key.set, evokes);
            }
            Family::Sentence => {
                let Some(key) = SentenceKey::decode(key) else { return };
                let text = |said| match said {
                    Some(Said::Sentence(_, text)) => Some(text),
                    _ => None,
                };
                let (before, after) = (text(before), text(after));
                let of_release = self.0.entry(key.release).or_default();
                // What cannot be read gave no name that a target stands in.
                if is_unreadable || before.is_some() && before != after {
                    of_release.reworded.push(key.sentence);
                }
                of_release.texts.insert(key.sentence, after);
            }
            _ => {}
        }
    }
}
