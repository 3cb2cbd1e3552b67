//! ROUGE is that of the `rouge-score` package.

use fnstore::text::rouge;

#[test]
fn scores_are_those_of_the_package() {
    let golden = include_str!("data/rouge.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut compared = 0;
    for line in golden {
        let columns: Vec<&str> = line.split('\t').collect();
        let [text, reference, rouge_1, rouge_l] = columns[..] else { panic!("{line}") };
        let found = rouge(text, reference);
        for (found, expected) in [(found.rouge_1, rouge_1), (found.rouge_l, rouge_l)] {
            let expected: f64 = expected.parse().unwrap();
            assert!((found - expected).abs() < 1e-12, "{line}: {found}");
        }
        compared += 1;
    }
    assert_eq!(compared, 18);
}

#[test]
fn words_count_as_often_as_in_both_texts_and_in_order_for_rouge_l() {
    // Of 3 and 4 words, `the` twice and `cat` are in both; in order only two of them.
    let found = rouge("The cat the", "the the, a cat!");
    assert_eq!(found.rouge_1, 2.0 * 3.0 / 7.0);
    assert_eq!(found.rouge_l, 2.0 * 2.0 / 7.0);
}
