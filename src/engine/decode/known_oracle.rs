//! Tests of searches among known words against the enumeration of all outputs.

use std::sync::Arc;

use proptest::prelude::*;

use super::oracle::{SURFACES, oracle, outputs, search, settings, text};
use super::toy::{EOS, ToyNetwork};
use super::*;

fn knowing(list: &[String], own: &str, banned: &[String]) -> Constraint {
    let vocabulary = Arc::new(Vocabulary::new(SURFACES));
    let list = Arc::new(WordList::new(Arc::clone(&vocabulary), list));
    let avoid = Arc::new(AvoidPhrases::new(vocabulary, banned).unwrap());
    let known = KnownWords::new(list, [own]).without_banned(&avoid);
    Constraint { known: Some(Arc::new(known)), here: Some(avoid), ..Constraint::default() }
}

proptest! {
    #[test]
    fn a_wide_beam_finds_the_outputs_of_known_words_that_are_not_banned(
        list in prop::collection::vec("[ab]{1,3}", 0..5),
        own in "[ab]{0,2}",
        banned in prop::collection::vec("[ab]{1,2}", 0..2),
        seed in 0u32..1000,
    ) {
        let mut network = ToyNetwork::new(SURFACES.len(), 3);
        let constraint = knowing(&list, &own, &banned);
        let known = Arc::clone(constraint.known.as_ref().unwrap());
        let is_good = |tokens: &[u32]| {
            let text = text(tokens);
            known.unknown(&text).is_empty() && violations(&text, &banned).unwrap().is_empty()
        };
        let expected = oracle(&network, &[seed], 3, is_good);
        let wide = settings(SURFACES.len().pow(3), 3);
        let finished = search(&mut network, &[seed], constraint, wide);
        prop_assert_eq!(outputs(&finished), expected);
    }

    #[test]
    fn whatever_is_drawn_or_found_by_a_narrow_beam_is_known(
        list in prop::collection::vec("[ab]{1,3}", 1..5),
        seed in 0u32..1000,
        beam_size in 1usize..5,
    ) {
        let mut network = ToyNetwork::new(SURFACES.len(), 9);
        let drawn = SampleSettings {
            samples: 3,
            seed: 7,
            length_limit: LengthLimit::tokens(9),
            ..SampleSettings::default()
        };
        let searches = [SearchSettings::from(settings(beam_size, 9)), drawn.into()];
        for how in searches {
            let constraint = knowing(&list, "", &[]);
            let known = Arc::clone(constraint.known.as_ref().unwrap());
            for hypothesis in search(&mut network, &[seed], constraint, how).hypotheses {
                let is_cut = hypothesis.tokens.last() != Some(&EOS);
                let text = text(&hypothesis.tokens);
                prop_assert!(is_cut || known.unknown(&text).is_empty(), "{}", text);
            }
        }
    }
}
