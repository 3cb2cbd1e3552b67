//! Whatever stands where a release has a number, an import keeps it, and every export brings it
//! back.

use proptest::prelude::*;

use crate::others_releases::{Deviating, everywhere};

/// What a script may write in place of a number.
const TEXTS: [&str; 14] = [
    "",
    "0",
    "1",
    "104",
    "1201",
    "2201",
    "2205",
    "-1",
    "007",
    "1298076n",
    "1900000012345",
    "4294967296",
    "99999999999999999999",
    "a b",
];

/// Attributes that hold numbers.
const ATTRIBUTES: [&str; 14] = [
    " ID=\"",
    "ID=\"",
    " frameID=\"",
    " luID=\"",
    " feID=\"",
    " corpID=\"",
    " docID=\"",
    " supID=\"",
    " start=\"",
    " end=\"",
    " rank=\"",
    " total=\"",
    " aPos=\"",
    " lemmaID=\"",
];

/// Puts a text in the place of some number of some file.
fn change(text: String, attribute: &str, which: usize, with: &str) -> String {
    let places: Vec<usize> = text.match_indices(attribute).map(|(at, _)| at).collect();
    let Some(at) = places.get(which % places.len().max(1)) else { return text };
    let start = at + attribute.len();
    let end = start + text[start..].find('"').unwrap();
    format!("{}{with}{}", &text[..start], &text[end..])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn any_text_in_place_of_any_number_is_kept(
        changes in prop::collection::vec(
            (0..ATTRIBUTES.len(), any::<usize>(), 0..TEXTS.len(), 0..8_usize),
            1..12,
        ),
    ) {
        let release = Deviating::new(|release| {
            for (attribute, which, text, file) in &changes {
                let mut number = 0;
                everywhere(release, &mut |_, content| {
                    number += 1;
                    if number - 1 != *file {
                        return content;
                    }
                    change(content, ATTRIBUTES[*attribute], *which, TEXTS[*text])
                });
            }
        });
        prop_assert!(release.report.release.counts.frames > 0);
    }
}
