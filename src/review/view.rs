//! What is shown of an item.

use super::answers::{answer, recorded};
use super::elements::spanning;
use super::{Item, Question, Result, ReviewError};
use crate::database::Database;
use crate::model::{
    AnnotationSet, AnnotationSetId, Frame, Judgement, Link, LinkSubject, ReleaseId, Span,
    Verification,
};
use crate::text::{Respaced, fold, natural_spacing, words_not_in};

/// Gold examples beside an item.
pub(super) const EXAMPLES: usize = 3;

/// Sets of one LU that are looked at for an example.
const LOOKED_AT: usize = 50;

/// What a stretch of a sentence is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// The target.
    Target,
    /// A frame element, by name.
    Element(String),
    /// A word that the source does not have.
    Changed,
}

/// Where an item stands in a study by the paper's protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Number of its triple, from 0.
    pub(super) number: usize,
    /// Triples of the study.
    pub(super) of: usize,
    /// The items of the triple, in the order that they are shown in.
    pub(super) items: Vec<Item>,
    /// Sets of the frame that are shown as examples.
    pub(super) examples: Vec<AnnotationSetId>,
}

/// The sentences that an item of the paper's protocol is shown with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Triple {
    /// Number of the triple, from 0.
    pub number: usize,
    /// Triples of the study.
    pub of: usize,
    /// The three sentences, or fewer where there was no control, in the reviewer's own order.
    pub sentences: Vec<Example>,
    /// Which of them is asked about, from 0.
    pub at: usize,
}

/// Whether people annotated a set.
pub(super) fn is_of_people(set: &AnnotationSet) -> bool {
    set.provenance.origin().is_by_people()
}

/// A sentence with what is marked in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The text, byte-exact.
    pub text: String,
    /// The target's pieces, in bytes.
    pub targets: Vec<Span>,
    /// All marks, in bytes.
    pub marks: Vec<(Span, Mark)>,
    /// Name of the LU.
    pub lexunit: String,
}

impl Example {
    /// The sentence of a set; `None` when it is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn of(
        database: &Database,
        release: ReleaseId,
        set: &AnnotationSet,
    ) -> Result<Option<Self>> {
        let Some(sentence) = database.store().sentence(release, set.sentence)? else {
            return Ok(None);
        };
        let lexunit = database.store().lexunit(release, set.frame, set.lu)?;
        let mut marks: Vec<(Span, Mark)> =
            set.targets.iter().map(|span| (*span, Mark::Target)).collect();
        for label in set.fe_layers().flat_map(|layer| &layer.labels) {
            if let Some(span) = label.extent.span() {
                marks.push((span, Mark::Element(label.name.clone())));
            }
        }
        let lexunit = lexunit.map_or_else(|| set.lu.to_string(), |lu| lu.name);
        Ok(Some(Self { text: sentence.text, targets: set.targets.clone(), marks, lexunit }))
    }

    /// The sentence that a set was rewritten from; `None` for one that was not, or when it is gone.
    ///
    /// # Errors
    /// When the store fails.
    pub fn of_source(
        database: &Database,
        release: ReleaseId,
        set: &AnnotationSet,
    ) -> Result<Option<Self>> {
        let Some(from) = set.provenance.source() else { return Ok(None) };
        let Some(from) = database.store().annotation_set(release, from)? else { return Ok(None) };
        Self::of(database, release, &from)
    }

    /// The text in pieces, each with what is marked there; line ends stay as they are.
    #[must_use]
    pub fn pieces(&self) -> Vec<(&str, Vec<&Mark>)> {
        let mut cuts: Vec<u32> = vec![0, self.text.len() as u32];
        cuts.extend(self.marks.iter().flat_map(|(span, _)| [span.start, span.end]));
        cuts.sort_unstable();
        cuts.dedup();
        let pieces = cuts.windows(2).filter_map(|pair| {
            let (start, end) = (pair[0], pair[1]);
            let text = self.text.get(start as usize..end as usize)?;
            let here = |(span, _): &&(Span, Mark)| span.start <= start && end <= span.end;
            Some((text, self.marks.iter().filter(here).map(|(_, mark)| mark).collect()))
        });
        pieces.collect()
    }

    /// The sentence with its target in square brackets: what a judgement says was shown.
    #[must_use]
    pub fn bracketed(&self) -> String {
        let mut shown = String::new();
        let mut at = 0;
        for span in &self.targets {
            let (start, end) = (span.start as usize, span.end as usize);
            let (Some(before), Some(target)) =
                (self.text.get(at..start), self.text.get(start..end))
            else {
                continue;
            };
            shown.push_str(before);
            shown.push('[');
            shown.push_str(target);
            shown.push(']');
            at = end;
        }
        shown.push_str(self.text.get(at..).unwrap_or_default());
        shown
    }

    /// The same spaced as people write. FrameNet parts punctuation and clitics from words and
    /// outputs do not, which would tell them apart.
    fn naturally_spaced(&self) -> Self {
        let spaced = Respaced::new(&self.text, natural_spacing(&self.text));
        let moved = |span: &Span| spaced.span(*span);
        let marks = self.marks.iter().filter_map(|(span, mark)| Some((moved(span)?, mark.clone())));
        Self {
            targets: self.targets.iter().filter_map(moved).collect(),
            marks: marks.collect(),
            text: spaced.text.clone(),
            lexunit: self.lexunit.clone(),
        }
    }

    /// With its target alone and spaced as others are, so that nothing tells outputs from controls.
    fn blinded(mut self) -> Self {
        self.marks.retain(|(_, mark)| *mark == Mark::Target);
        self.naturally_spaced()
    }

    pub(super) fn trigger(&self) -> String {
        let pieces: Vec<&str> =
            self.targets.iter().filter_map(|span| span.of(&self.text)).collect();
        fold(&pieces.join(" "))
    }

    /// Marks the words that another text does not have.
    pub fn mark_changes(&mut self, source: &str) {
        let changed = words_not_in(&self.text, source).into_iter();
        self.marks.extend(changed.map(|word| (word, Mark::Changed)));
    }
}

/// An item as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The item.
    pub item: Item,
    /// The set as it is read.
    pub set: AnnotationSet,
    /// Name of its release, where the store has several.
    pub release: Option<String>,
    /// The language of the texts, as the release has it.
    pub language: String,
    /// The frame that is asked for.
    pub frame: Frame,
    /// The sentence.
    pub output: Example,
    /// The sentence that it was rewritten from.
    pub source: Option<Example>,
    /// Sentences of the frame that people annotated, with other triggers.
    pub examples: Vec<Example>,
    /// Under the paper's protocol the sentences that it is shown with.
    pub triple: Option<Triple>,
    /// The question as judgements record it.
    pub recorded: String,
    /// What a verifier says of it; nothing where that would tell outputs from controls.
    pub verification: Option<Verification>,
    /// What its LU is linked to in other lexicons; nothing in a blind review.
    pub links: Vec<Link>,
    /// What the reviewer has answered.
    pub judged: Option<Judgement>,
}

impl View {
    /// The FEs that have a span, by name: what a reviewer can move.
    pub fn elements(&self) -> impl Iterator<Item = (&str, Span)> {
        spanning(&self.set)
    }

    /// Reads an item; `blind` leaves out whatever tells outputs from controls.
    pub(super) fn read(
        database: &Database,
        item: Item,
        (reviewer, question, blind): (&str, Question, bool),
        place: Option<&Place>,
    ) -> Result<Self> {
        let store = database.store();
        let gone = || ReviewError::Gone(item.set);
        let set = store.annotation_set(item.release, item.set)?.ok_or_else(gone)?;
        let frame = store.frame(item.release, item.frame)?.ok_or_else(gone)?;
        let mut output = Example::of(database, item.release, &set)?.ok_or_else(gone)?;
        let source = match blind {
            true => None,
            false => Example::of_source(database, item.release, &set)?,
        };
        if blind {
            output = output.blinded();
        }
        if let Some(source) = &source {
            output.mark_changes(&source.text);
        }
        let triggers = [Some(output.trigger()), source.as_ref().map(Example::trigger)];
        let examples = match (question, place) {
            (Question::Evokes | Question::Elements, Some(place)) => {
                drawn_examples(database, item.release, place)?
            }
            (Question::Evokes | Question::Elements, None) => examples(database, item, &triggers)?,
            (Question::Meaning | Question::Similarity, _) => Vec::new(),
        };
        let releases = database.releases()?;
        let is_of_several = releases.len() > 1;
        let release = releases.into_iter().find(|release| release.id == item.release);
        let (language, name) = release.map(|of| (of.language, of.name)).unwrap_or_default();
        let release = is_of_several.then_some(name);
        let recorded = recorded(database, item, question)?;
        let judged = answer(database, item, (reviewer, &recorded))?;
        let said = store.verification(item.release, item.set)?;
        let of_lu = LinkSubject::LexUnit(set.lu);
        let links = match blind {
            true => None,
            false => store.links(item.release, set.frame, of_lu)?,
        };
        let links = links.into_iter().flat_map(|of| of.links).filter(Link::stands).collect();
        Ok(Self {
            item,
            set,
            release,
            language,
            frame,
            output,
            source,
            examples,
            triple: place.map(|place| triple(database, item, place)).transpose()?,
            recorded,
            verification: said.filter(|_| !blind),
            links,
            judged,
        })
    }
}

/// The examples that were drawn for a triple; what was deleted meanwhile is left out.
fn drawn_examples(database: &Database, release: ReleaseId, place: &Place) -> Result<Vec<Example>> {
    let mut found = Vec::new();
    for set in &place.examples {
        if let Some(set) = database.store().annotation_set(release, *set)? {
            found.extend(Example::of(database, release, &set)?);
        }
    }
    Ok(found)
}

/// The sentences of a triple, and which of them an item is.
fn triple(database: &Database, item: Item, place: &Place) -> Result<Triple> {
    let (mut sentences, mut at) = (Vec::new(), 0);
    for other in &place.items {
        let Some(set) = database.store().annotation_set(other.release, other.set)? else {
            continue;
        };
        if *other == item {
            at = sentences.len();
        }
        sentences.extend(Example::of(database, other.release, &set)?.map(Example::blinded));
    }
    Ok(Triple { number: place.number, of: place.of, sentences, at })
}

/// Human sets of the frame, one of an LU, whose triggers are not among those given.
fn examples(database: &Database, item: Item, triggers: &[Option<String>]) -> Result<Vec<Example>> {
    let store = database.store();
    let mut found: Vec<Example> = Vec::new();
    for lu in store.lexunits_of(item.release, item.frame)? {
        let lu = lu?.id;
        let sets = store.annotation_sets_of_lexunit(item.release, item.frame, lu)?;
        for set in sets.take(LOOKED_AT) {
            let set = set?;
            if !is_of_people(&set) || set.id == item.set || set.targets.is_empty() {
                continue;
            }
            let Some(example) = Example::of(database, item.release, &set)? else { continue };
            let trigger = example.trigger();
            if triggers.iter().flatten().all(|other| *other != trigger)
                && found.iter().all(|other| other.trigger() != trigger)
            {
                found.push(example);
                break;
            }
        }
        if found.len() == EXAMPLES {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_spacing_keeps_what_is_marked() {
        let text = "He said : \" They could n't check it , \" twice .".to_owned();
        let at = |part: &str| {
            let start = text.find(part).unwrap() as u32;
            Span::new(start, start + part.len() as u32)
        };
        let targets = vec![at("n't"), at("check"), at("it , \"")];
        let marks = targets.iter().map(|span| (*span, Mark::Target)).collect();
        let spaced = Example { text, targets, marks, lexunit: String::new() }.naturally_spaced();
        let shown = "He said: \"They could[n't] [check] [it,\"] twice.";
        assert_eq!(spaced.bracketed(), shown);
        assert_eq!(spaced.marks[0].0, spaced.targets[0]);
    }
}
