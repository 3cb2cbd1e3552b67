//! The other sets of a seed's sentence, in the sentences that are made of it.
//!
//! A sentence of running text has some six annotation sets. Rewritten for one, it still says most
//! of what the others mark. So each of these is looked for, and carried along where three things
//! hold: the aligner finds its target, there stands the same lexeme as before, and no other set has
//! the place. What does not hold is counted by its reason and never guessed.
//!
//! A verifier that ends chains doubts these sets, too ([`Recipe::least_evokes`]). It is asked only
//! where the context changed: [`CONTEXT`] words on either side of the target.
//!
//! [`Recipe::least_evokes`]: super::Recipe::least_evokes

use super::Result;
use super::aligning::{Found, Searching};
use super::elements::{KeepElements, Sought};
use super::phrase_set::runs;
use super::seed::{Elements, Seed};
use crate::database::Database;
use crate::grow::CarriedAlong;
use crate::model::{
    AnnotationSetId, Carrying, FeStatus, LayerName, LuId, Pos, SentenceId, Span, named,
};
use crate::text::{Morphology, fold, natural_spacing};
use crate::verify::EvokesItem;

/// Words on either side of a target that are its context.
const CONTEXT: usize = 3;

named! {
    /// Which annotation sets of its source a new sentence gets.
    #[derive(Default)]
    pub enum Carry {
        /// Every set that the aligner finds.
        ///
        /// All whose target is not rewritten must keep their words.
        #[default]
        All => "all",
        /// That of the target which is rewritten.
        Target => "target",
    }
}

named! {
    /// Why a set of the source does not stand in the new sentence.
    #[non_exhaustive]
    pub enum Dropped {
        /// It has no target, the aligner is not sure enough of a place, or the sentence is too long
        /// for it.
        NotFound => "not-found",
        /// Other words stand where the aligner found it.
        Words => "words",
        /// The place is that of another target.
        Place => "place",
        /// The verifier doubts that the target evokes the frame there.
        Frame => "frame",
        /// The expansion is blind to it.
        HeldOut => "held-out",
    }
}

impl Dropped {
    /// What it means, for a reader.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::NotFound => "the aligner did not find the target",
            Self::Words => "other words stand in the target's place",
            Self::Place => "another target stands in its place",
            Self::Frame => "the verifier doubts the frame",
            Self::HeldOut => "the run is blind to the set",
        }
    }
}

/// Another set of a seed's sentence.
pub(super) struct Companion {
    pub(super) set: Seed,
    pub(super) lu: LuId,
    /// Name of the LU.
    lexunit: String,
    fe_status: FeStatus,
    pub(super) is_held_out: bool,
}

/// Another set in a new sentence.
pub(super) struct Placed<'c> {
    pub(super) companion: &'c Companion,
    pub(super) along: CarriedAlong,
    /// What has the place of its LU, if another one of its frame has.
    pub(super) other: Option<OtherLu>,
    /// Whether its words or its context changed.
    pub(super) is_in_other_words: bool,
}

/// The trigger that took the place of a carried set's.
pub(super) struct NewTrigger {
    pub(super) source: AnnotationSetId,
    pub(super) targets: Vec<Span>,
    pub(super) lemma: String,
    pub(super) pos: Pos,
}

/// Another LU of a set's frame that has the place of its target.
#[derive(Clone)]
pub(super) struct OtherLu {
    pub(super) lu: LuId,
    pub(super) lemma: String,
    pub(super) pos: Pos,
    /// Its name.
    pub(super) name: String,
}

impl Companion {
    /// The other sets of a seed's sentence, in order of id.
    pub(super) fn of(
        database: &Database,
        (seed, sentence): (&Seed, SentenceId),
        is_held_out: impl Fn(AnnotationSetId) -> bool,
    ) -> Result<Vec<Self>> {
        let (store, release) = (database.store(), seed.release);
        let mut all = Vec::new();
        for id in store.sets_of_sentence(release, sentence)? {
            let id = id?;
            let set = if id == seed.set { None } else { store.annotation_set(release, id)? };
            let Some(set) = set else { continue };
            let lexunit = store.lexunit(release, set.frame, set.lu)?;
            let elements = Elements::of(&set, |name| *name != LayerName::Target);
            let seed = Seed::of(release, (&set, seed.text.clone()), lexunit.as_ref());
            all.push(Self {
                set: Seed { elements, ..seed },
                lu: set.lu,
                lexunit: lexunit.map_or_else(String::new, |lexunit| lexunit.name),
                fe_status: set.fe_status,
                is_held_out: is_held_out(id),
            });
        }
        Ok(all)
    }

    /// Whether some words are a form of the target's lexeme: the same words, or others that its LU
    /// has.
    fn is_form(&self, morphology: &Morphology, words: &str) -> bool {
        let trigger = self.set.trigger();
        let said = |text: &str| runs(&natural_spacing(text));
        if said(&trigger).is_empty() {
            return fold(words) == fold(&trigger);
        }
        if said(words) == said(&trigger) {
            return true;
        }
        let forms = morphology.forms_of_trigger(&trigger, &self.set.lemma, self.set.pos);
        let found = said(words);
        !found.is_empty() && forms.iter().any(|form| said(form) == found)
    }
}

/// What is looked for of the other sets in a new sentence.
pub(super) struct Company<'c> {
    /// Those with a target that may be read, with the numbers of what is looked for.
    sought: Vec<(&'c Companion, usize, Option<Sought>)>,
    dropped: Vec<Dropped>,
}

impl Placed<'_> {
    /// What is asked of a verifier about it in a text.
    pub(super) fn question(&self, text: &str) -> EvokesItem {
        let name = self.other.as_ref().map_or(&self.companion.lexunit, |other| &other.name);
        let (text, targets) = (text.to_owned(), self.along.targets.clone());
        EvokesItem { text, targets, lexunit: Some(name.clone()) }
    }

    /// The trigger that took the place of its own, if one did.
    pub(super) fn new_trigger(&self) -> Option<NewTrigger> {
        let OtherLu { lemma, pos, .. } = self.other.clone()?;
        let (source, targets) = (self.companion.set.set, self.along.targets.clone());
        Some(NewTrigger { source, targets, lemma, pos })
    }
}

impl<'c> Company<'c> {
    /// Looks for targets and, where a recipe keeps them, for FEs.
    pub(super) fn look_for(
        companions: &'c [Companion],
        keep: KeepElements,
        searching: &mut Searching<'_>,
    ) -> Self {
        let (mut sought, mut dropped) = (Vec::new(), Vec::new());
        for of in companions {
            if of.is_held_out || of.set.targets.is_empty() {
                dropped.push(if of.is_held_out { Dropped::HeldOut } else { Dropped::NotFound });
                continue;
            }
            let target = searching.target(&of.set.targets);
            let elements = (keep != KeepElements::None).then(|| Sought::along(&of.set, searching));
            sought.push((of, target, elements));
        }
        Self { sought, dropped }
    }

    /// Those that stand in a text whose new trigger is known, the surest first to take a place; and
    /// why the others do not. `other_lu` says which LU has the place of one whose words changed, if
    /// it may have it.
    pub(super) fn placed(
        self,
        found: &Found,
        (seed, morphology): (&Seed, &Morphology),
        (text, trigger): (&str, &[Span]),
        mut other_lu: impl FnMut(&Companion, &str) -> Result<Option<OtherLu>>,
    ) -> Result<(Vec<Placed<'c>>, Vec<Dropped>)> {
        let mut dropped = self.dropped;
        let mut there = Vec::new();
        for (of, target, elements) in &self.sought {
            let Some(alignment) = found.target(*target) else {
                dropped.push(Dropped::NotFound);
                continue;
            };
            let mut targets = alignment.spans.clone();
            targets.sort_unstable();
            let pieces: Vec<&str> = targets.iter().filter_map(|span| span.of(text)).collect();
            let words = pieces.join(" ");
            let other = match of.is_form(morphology, &words) {
                true => None,
                false => match other_lu(of, &words)? {
                    None => {
                        dropped.push(Dropped::Words);
                        continue;
                    }
                    other => other,
                },
            };
            there.push((*of, (targets, alignment.score), elements, other));
        }
        // Ties go to the set that comes first.
        there.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
        let mut taken: Vec<(&Seed, &[Span])> = vec![(seed, trigger)];
        let mut placed = Vec::new();
        for (of, (targets, score), elements, other) in &there {
            let is_taken = taken.iter().any(|(other, spans)| {
                overlap(targets, spans) && !overlap(&of.set.targets, &other.targets)
            });
            if is_taken {
                dropped.push(Dropped::Place);
                continue;
            }
            taken.push((&of.set, targets));
            let place = (text, &targets[..], *score);
            placed.push(of.placed(place, elements.as_ref(), found, other.as_ref()));
        }
        placed.sort_by_key(|of: &Placed<'_>| of.along.carrying.source);
        Ok((placed, dropped))
    }
}

impl Companion {
    /// It as it stands in a text.
    fn placed(
        &self,
        (text, targets, score): (&str, &[Span], f32),
        elements: Option<&Sought>,
        found: &Found,
        other: Option<&OtherLu>,
    ) -> Placed<'_> {
        let carried = elements.map(|of| of.carried(&self.set, found, (text, targets)));
        let carried = carried.unwrap_or_default();
        let fe_status = match (self.fe_status, elements) {
            (FeStatus::Annotated, Some(_)) => FeStatus::Carried,
            (FeStatus::Unannotated, _) => FeStatus::Unannotated,
            _ => FeStatus::Unknown,
        };
        let along = CarriedAlong {
            frame: self.set.frame,
            lu: other.map_or(self.lu, |other| other.lu),
            targets: targets.to_vec(),
            layers: carried.layers,
            fe_status,
            carrying: Carrying {
                // The writer knows its id.
                generated: self.set.set,
                source: self.set.set,
                aligner: score,
                elements: carried.elements,
            },
            verification: None,
        };
        let before = context(&self.set.text, &self.set.targets);
        let is_in_other_words = other.is_some() || before != context(text, targets);
        Placed { companion: self, along, other: other.cloned(), is_in_other_words }
    }
}

pub(super) fn overlap(some: &[Span], others: &[Span]) -> bool {
    some.iter().any(|span| others.iter().any(|other| span.overlaps(*other)))
}

/// The words before and behind a target, the nearest first; letter case and marks aside.
fn context(text: &str, targets: &[Span]) -> [Vec<String>; 2] {
    let (Some(first), Some(last)) = (targets.first(), targets.last()) else {
        return Default::default();
    };
    let said = |text: &str| runs(&natural_spacing(text));
    let before = said(&text[..first.start as usize]).into_iter().rev();
    let behind = said(&text[last.end as usize..]).into_iter();
    [before.take(CONTEXT).collect(), behind.take(CONTEXT).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::Alignment;
    use crate::model::{FrameId, IdSpace, ReleaseId};

    const SOURCE: &str = "They checked it and approved of the plan on Monday .";

    fn seed(number: u64, words: &[&str], lemma: &str) -> Seed {
        let span = |words: &&str| {
            let start = SOURCE.find(words).unwrap() as u32;
            Span::new(start, start + words.len() as u32)
        };
        Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::FullText, number),
            frame: FrameId(1),
            text: SOURCE.to_owned(),
            targets: words.iter().map(span).collect(),
            lemma: lemma.to_owned(),
            pos: Pos::Verb,
            expressed: None,
            elements: Elements::default(),
        }
    }

    fn companion(number: u64, words: &[&str], lemma: &str) -> Companion {
        Companion {
            set: seed(number, words, lemma),
            lu: LuId(7),
            lexunit: format!("{lemma}.v"),
            fe_status: FeStatus::Annotated,
            is_held_out: false,
        }
    }

    fn alignment(text: &str, words: &[&str], score: f32) -> Option<Alignment> {
        let span = |words: &&str| {
            let start = text.find(words).unwrap() as u32;
            Span::new(start, start + words.len() as u32)
        };
        let scores = vec![score; words.len()];
        let spans = words.iter().map(span).collect();
        Some(Alignment { spans, scores, score, weak: score < 0.5 })
    }

    /// What is placed, by source, and what is dropped, in a text whose new trigger is `inspected`.
    fn placed(
        companions: &[Companion],
        text: &str,
        found: Vec<Option<Alignment>>,
    ) -> (Vec<u64>, Vec<Dropped>) {
        let (placed, dropped) = placed_with(companions, text, found, |_| None);
        (placed.into_iter().map(|(number, _)| number).collect(), dropped)
    }

    /// The same with the LUs under which they stand there, where some words are another LU's.
    fn placed_with(
        companions: &[Companion],
        text: &str,
        found: Vec<Option<Alignment>>,
        other_lu: fn(&str) -> Option<OtherLu>,
    ) -> (Vec<(u64, LuId)>, Vec<Dropped>) {
        let mut searching = Searching::new(SOURCE, text);
        let company = Company::look_for(companions, KeepElements::None, &mut searching);
        let start = text.find("inspected").unwrap() as u32;
        let (seed, trigger) = (seed(1, &["checked"], "check"), [Span::new(start, start + 9)]);
        let placed = company.placed(
            &Found::of_targets(found),
            (&seed, &Morphology::English),
            (text, &trigger),
            |_, words| Ok(other_lu(words)),
        );
        let (placed, dropped) = placed.unwrap();
        let of = |of: &Placed<'_>| (of.along.carrying.source.number(), of.along.lu);
        (placed.iter().map(of).collect(), dropped)
    }

    #[test]
    fn a_lexeme_may_change_its_form_and_not_its_word() {
        let approved = companion(2, &["approved"], "approve");
        for (text, is_kept) in [
            ("They inspected it and approved of the plan.", true),
            ("Having inspected it they approve the plan.", true),
            ("They inspected it and accepted the plan.", false),
            ("They inspected it, and the approval came.", false),
        ] {
            let word = text.split(' ').find(|word| {
                ["approve", "accept"].iter().any(|stem| word.starts_with(stem))
                    || *word == "approval"
            });
            let found = vec![alignment(text, &[word.unwrap()], 0.9)];
            let (there, dropped) = placed(std::slice::from_ref(&approved), text, found);
            let expected = if is_kept { (vec![2], vec![]) } else { (vec![], vec![Dropped::Words]) };
            assert_eq!((there, dropped), expected, "{text}");
        }
    }

    #[test]
    fn another_lu_of_the_frame_may_take_the_place() {
        let approved = companion(2, &["approved"], "approve");
        let accept = |words: &str| {
            let (lemma, name) = ("accept".to_owned(), "accept.v".to_owned());
            let other = OtherLu { lu: LuId(8), lemma, pos: Pos::Verb, name };
            (words == "accepted").then_some(other)
        };
        for (word, there) in [("accepted", Some(8)), ("approved", Some(7)), ("bought", None)] {
            let text = format!("They inspected it and {word} the plan.");
            let found = vec![alignment(&text, &[word], 0.9)];
            let (placed, dropped) =
                placed_with(std::slice::from_ref(&approved), &text, found, accept);
            let expected: Vec<_> = there.map(|lu| (2, LuId(lu))).into_iter().collect();
            assert_eq!(placed, expected, "{word}");
            assert_eq!(dropped.len(), usize::from(there.is_none()), "{word}");
        }
    }

    #[test]
    fn what_is_not_found_or_not_read_is_not_there() {
        let text = "They inspected it and approved of the plan.";
        let mut hidden = companion(3, &["plan"], "plan");
        hidden.is_held_out = true;
        let empty = companion(4, &[], "be");
        let all = [companion(2, &["approved"], "approve"), hidden, empty];
        let expected = [Dropped::HeldOut, Dropped::NotFound, Dropped::NotFound];
        for weak in [alignment(text, &["approved"], 0.4), None] {
            let (there, dropped) = placed(&all, text, vec![weak]);
            assert_eq!((there, &dropped[..]), (vec![], &expected[..]));
        }
    }

    #[test]
    fn two_targets_never_share_a_place_that_they_did_not_share() {
        let text = "They inspected it and approved of it.";
        let all = [companion(2, &["approved"], "approve"), companion(3, &["it"], "it")];
        // The second stands in the place of the first, and is surer; then in that of the trigger.
        let of = |words: &[&str], score| alignment(text, words, score);
        let both = vec![of(&["approved"], 0.8), of(&["approved"], 0.9)];
        assert_eq!(placed(&all, text, both).1, [Dropped::Words]);
        let same = [companion(2, &["it"], "it"), companion(3, &["it"], "it")];
        let both = vec![of(&["it"], 0.8), of(&["it"], 0.9)];
        assert_eq!(placed(&same, text, both), (vec![2, 3], vec![]), "in the source they share it");
        let apart = [companion(2, &["They"], "it"), companion(3, &["it"], "it")];
        let both = vec![of(&["it"], 0.8), of(&["it"], 0.9)];
        assert_eq!(placed(&apart, text, both), (vec![3], vec![Dropped::Place]));
        let over = [companion(2, &["plan"], "inspect")];
        let trigger = vec![of(&["inspected"], 0.9)];
        assert_eq!(placed(&over, text, trigger), (vec![], vec![Dropped::Place]));
    }

    #[test]
    fn a_context_is_three_words_on_either_side() {
        let context = |text: &str| {
            let at = text.find("approved").unwrap() as u32;
            context(text, &[Span::new(at, at + 8)])
        };
        let source = context(SOURCE);
        assert_eq!(source[0], ["and", "it", "checked"]);
        assert_eq!(source[1], ["of", "the", "plan"]);
        let same = context("Later they \"checked it\" and approved of the plan, on Tuesday.");
        assert_eq!(same, source, "marks and what lies further away do not count");
        assert_ne!(context("They inspected it and approved of the plan."), source);
    }
}
