//! Words that the rewriter itself would say in a trigger's place.
//!
//! A language model knows more words than a lexicon, and what fits a sentence. So each round asks
//! for the likeliest substitute that is left
//! ([`Paraphraser::substitutes`](crate::paraphrase::Paraphraser::substitutes)), and the rewriter
//! makes the sentence that goes with it. Nothing is known of the frame but the seed.

use super::Result;
use super::chain::Chain;
use super::trigger_lexicon::TriggerLexicon;
use super::trigger_slot::TriggerSlot;
use crate::engine::GoesOn;
use crate::paraphrase::{ParaphraseError, Rounds};
use crate::text::{fold, is_stop_word, natural_spacing_with};

/// Substitutes that a round asks for, one after the other.
pub(super) const ASKED: usize = 2;

/// What can stand in the place of a seed's trigger, the likeliest first; nothing for a trigger in
/// several pieces, and for a sentence that cannot be rewritten.
///
/// The bans are those of the seed alone, so that a chain that is resumed finds the same.
pub(super) fn substitutes(
    session: &mut Rounds<'_>,
    chain: &Chain,
    goes_on: &mut GoesOn<'_>,
) -> Result<Vec<String>> {
    let [target] = chain.seed.targets.as_slice() else { return Ok(Vec::new()) };
    let (text, target) = natural_spacing_with(&chain.seed.text, *target);
    match session.substitutes(&text, target, chain.bans_of_seed(), goes_on) {
        Ok(found) => Ok(found.into_iter().map(|substitute| substitute.text).collect()),
        Err(ParaphraseError::Refused(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// The substitute that is to be asked for: of those that nothing bans and that are of the seed's
/// part of speech the one at a place; none if there are fewer. Two are passed over for each earlier
/// output whose trigger is no substitute: they were asked for in vain.
pub(super) fn words(
    chain: &Chain,
    slot: &TriggerSlot,
    lexicon: &mut TriggerLexicon<'_>,
    place: usize,
) -> Result<Vec<String>> {
    let says_much = |text: &str| text.split(' ').any(|word| !is_stop_word(word));
    let may_be_empty = !says_much(&chain.seed.trigger());
    let place = place + ASKED * outputs_without_any(chain);
    let mut left = 0;
    for phrase in &chain.substitutes {
        let (lemma, pos) = lexicon.read(chain.seed.frame, phrase, chain.seed.pos)?;
        let fits = pos == chain.seed.pos && (may_be_empty || says_much(phrase));
        if fits && slot.is_new(phrase, &lemma) {
            if left == place {
                return Ok(vec![phrase.clone()]);
            }
            left += 1;
        }
    }
    Ok(Vec::new())
}

/// Earlier outputs whose triggers are no substitutes.
fn outputs_without_any(chain: &Chain) -> usize {
    let is_any = |trigger: &str| chain.substitutes.iter().any(|of| fold(of) == fold(trigger));
    let triggers = chain.outputs.iter().map(|(text, spans)| {
        let pieces: Vec<&str> = spans.iter().filter_map(|span| span.of(text)).collect();
        pieces.join(" ")
    });
    triggers.filter(|trigger| !is_any(trigger)).count()
}

#[cfg(test)]
mod tests {
    use super::super::seed::{Elements, Seed};
    use super::super::trigger_lexicon::in_test_lexicon;
    use super::*;
    use crate::model::{AnnotationSetId, FrameId, IdSpace, Pos, ReleaseId, Span};

    #[test]
    fn what_is_left_is_asked_for_in_turn() {
        let mut chain = Chain::new(Seed {
            release: ReleaseId(1),
            set: AnnotationSetId::new(IdSpace::Exemplar, 1),
            frame: FrameId(102),
            text: "They inspected the brakes .".to_owned(),
            targets: vec![Span::new(5, 14)],
            lemma: "inspect".to_owned(),
            pos: Pos::Verb,
            expressed: None,
            elements: Elements::default(),
        });
        let own = chain.bans_of_seed().len();
        chain.substitutes = ["had", "braked", "inspecting", "tried", "tested", "looked over"]
            .map(str::to_owned)
            .into();
        let asked = |chain: &Chain| {
            in_test_lexicon(|lexicon| {
                let slot = TriggerSlot::of(chain, lexicon).unwrap();
                [0, 1, 2, 3].map(|place| words(chain, &slot, lexicon, place).unwrap().join("|"))
            })
        };
        // Not a function word, nor a form of what the sentence has or of what is banned.
        assert_eq!(asked(&chain), ["tried", "tested", "looked over", ""]);
        let id = AnnotationSetId::new(IdSpace::Generated, 7);
        chain.push(id, "They tested it .", &[Span::new(5, 11)], "test", Pos::Verb);
        assert_eq!(asked(&chain), ["tried", "looked over", "", ""]);
        assert_eq!(chain.bans_of_seed().len(), own);
        // What was asked for in vain is not asked for again.
        let id = AnnotationSetId::new(IdSpace::Generated, 8);
        chain.push(id, "They saw it .", &[Span::new(5, 8)], "see", Pos::Verb);
        chain.substitutes.push("cleaned".to_owned());
        assert_eq!(asked(&chain), ["cleaned", "", "", ""]);
    }
}
