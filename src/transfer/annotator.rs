//! Frames and FEs of running text: a frame model and a labeller, which read each sentence once.

use std::collections::HashMap;

use super::PredictedTarget;
use crate::database::{DatabaseError, Result};
use crate::identify::{
    Candidates, EncodedSentence, FoundEncoded, FoundTarget, FrameIdentifier, Search,
};
use crate::label::{FoundElement, LabelRequest, Labeller};
use crate::learn::NetworkError;
use crate::lexicon::Lexicon;
use crate::model::{Declared, Frame, FrameId, Prediction};

/// A target with its FEs.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotatedTarget {
    /// Where it stands, and the frame that it evokes.
    pub target: FoundTarget,
    /// Its FEs, in order; `None` where nobody looked for them.
    pub elements: Option<Vec<FoundElement>>,
}

/// The targets of a sentence, or why it was not read.
pub type Annotated = std::result::Result<Vec<AnnotatedTarget>, NetworkError>;

/// A frame model, perhaps with a labeller, over the LUs of a lexicon.
pub struct Annotator {
    identifier: FrameIdentifier,
    candidates: Candidates,
    search: Search,
    elements: Option<Elements>,
}

/// What finds FEs.
struct Elements {
    labeller: Labeller,
    /// The release's frames by name.
    frames: HashMap<String, Frame>,
}

impl Annotator {
    /// Joins models that are made for the lexicon's language.
    ///
    /// # Errors
    /// When one is made for another language, and when the store fails.
    pub fn new(
        lexicon: &Lexicon<'_>,
        identifier: FrameIdentifier,
        labeller: Option<Labeller>,
        search: Search,
    ) -> Result<Self> {
        let candidates = identifier.candidates_of(lexicon)?;
        Self::over(lexicon, (identifier, candidates), labeller, search)
    }

    /// As [`new`](Self::new), with candidates of one's own: all that texts may hold, so that there
    /// is nothing to [look up](Self::look_up).
    ///
    /// # Errors
    /// As there.
    #[doc(hidden)]
    pub fn over(
        lexicon: &Lexicon<'_>,
        (identifier, candidates): (FrameIdentifier, Candidates),
        labeller: Option<Labeller>,
        search: Search,
    ) -> Result<Self> {
        let elements = match labeller {
            None => None,
            Some(labeller) => {
                let named = |frame: Result<Frame>| frame.map(|frame| (frame.name.clone(), frame));
                Some(Elements {
                    labeller,
                    frames: lexicon.frames()?.map(named).collect::<Result<_>>()?,
                })
            }
        };
        let annotator = Self { identifier, candidates, search, elements };
        annotator.declared().into_iter().try_for_each(|model| lexicon.check_language(model))?;
        Ok(annotator)
    }

    /// The languages that its models declare.
    #[must_use]
    pub fn declared(&self) -> Vec<&Declared> {
        let labeller = self.elements.as_ref().map(|elements| elements.labeller.declared());
        std::iter::once(self.identifier.declared()).chain(labeller).collect()
    }

    /// A target of a file as a store holds it.
    #[must_use]
    pub fn predicted(&self, file: &str, of: &AnnotatedTarget) -> PredictedTarget {
        let AnnotatedTarget { target, elements } = of;
        let runners_up = target.runners_up.iter();
        let element = |one: &FoundElement| (one.name.clone(), one.span);
        PredictedTarget {
            pieces: target.pieces.clone(),
            frame: target.frame.to_string(),
            lexunit: target.lexunit.as_deref().map(str::to_owned),
            prediction: Prediction {
                file: file.to_owned(),
                fit: self.identifier.fit(target.score),
                runners_up: runners_up.map(|(frame, share)| (frame.to_string(), *share)).collect(),
            },
            elements: elements.as_ref().map(|found| found.iter().map(element).collect()),
        }
    }

    /// Looks up which LUs the words of sentences may be forms of, before these are
    /// [annotated](Self::annotate).
    ///
    /// # Errors
    /// When the store fails.
    pub fn look_up(
        &mut self,
        lexicon: &Lexicon<'_>,
        texts: &[&str],
    ) -> std::result::Result<(), DatabaseError> {
        self.candidates.look_up(lexicon, texts)
    }

    /// The targets of each sentence in order, with their FEs.
    ///
    /// # Errors
    /// When a network or the tokenizer fails.
    pub fn annotate(&self, texts: &[&str]) -> std::result::Result<Vec<Annotated>, NetworkError> {
        let found = self.identifier.identify_encoded(texts, &self.candidates, self.search)?;
        let good = texts.iter().zip(&found);
        let good: Vec<(&str, &FoundEncoded)> =
            good.filter_map(|(text, found)| Some((*text, found.as_ref().ok()?))).collect();
        let elements = self.elements.as_ref().map(|elements| elements.label(&good)).transpose()?;
        let mut elements = elements.map(Vec::into_iter);
        let mut next = || elements.as_mut().map(|of| of.next().unwrap_or_default());
        let annotated = |found: std::result::Result<FoundEncoded, NetworkError>| {
            let (targets, _) = found?;
            let target = |target| AnnotatedTarget { target, elements: next() };
            Ok(targets.into_iter().map(target).collect())
        };
        Ok(found.into_iter().map(annotated).collect())
    }
}

impl Elements {
    /// The FEs of the targets of each text, target by target.
    fn label(
        &self,
        found: &[(&str, &FoundEncoded)],
    ) -> std::result::Result<Vec<Vec<FoundElement>>, NetworkError> {
        // A frame that the release lacks has no FEs.
        let nameless = Frame::named(FrameId(0), "");
        let targets =
            || found.iter().flat_map(|(text, of)| of.0.iter().map(move |one| (*text, one)));
        let asked = targets().map(|(text, target)| LabelRequest {
            text,
            target: &target.pieces,
            lu: target.lexunit.as_deref().unwrap_or_default(),
            frame: self.frames.get(&*target.frame).unwrap_or(&nameless),
        });
        let encoded = found.iter().flat_map(|(_, (of, states))| of.iter().map(move |_| states));
        let encoded: Vec<&EncodedSentence> = encoded.collect();
        let labelled = self.labeller.label_encoded(&asked.collect::<Vec<_>>(), &encoded)?;
        labelled.into_iter().collect()
    }
}
