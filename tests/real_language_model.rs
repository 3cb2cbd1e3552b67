//! A language model says what transformers says in f32, and in the numbers of its file what
//! llama.cpp says, on 10,000 positions of FrameNet's sentences. It runs where
//! `FNSTORE_LANGUAGE_GOLDEN` names what `training/parity/language_transformers.py` or
//! `language_llama_cpp.py` wrote, and `FNSTORE_LANGUAGE_MODEL` the model.

use std::path::{Path, PathBuf};

use fnstore::engine::{Device, Gguf, LanguageModel, Numbers, Tokenizer};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    /// Whether the other side computed in f32, too.
    #[serde(default)]
    exact: bool,
    sequences: Vec<Vec<u32>>,
    best: Vec<Vec<u32>>,
    /// How far the second best logit is behind the best.
    margins: Vec<Vec<f32>>,
    log_probs: Vec<Vec<f64>>,
}

/// How a model did against the file.
struct Agreement {
    positions: usize,
    same: usize,
    /// Of those that differ, the largest margin of the other side.
    widest_margin: f32,
    perplexity: f64,
    wanted_perplexity: f64,
}

fn compare(numbers: Numbers, path: &Path, golden: &Golden) -> Agreement {
    let mut model = LanguageModel::open(path, &Device::cpu(), numbers).unwrap();
    let (mut positions, mut same, mut widest_margin) = (0, 0, 0f32);
    let (mut own, mut wanted) = (0.0, 0.0);
    for (number, ids) in golden.sequences.iter().enumerate() {
        let logits = model.logits(&[ids]).unwrap().remove(0);
        for (at, best) in golden.best[number].iter().enumerate() {
            let row = logits.row(at);
            let found = (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap();
            positions += 1;
            if found as u32 == *best {
                same += 1;
            } else {
                widest_margin = widest_margin.max(golden.margins[number][at]);
            }
            let sum: f64 = row.iter().map(|x| f64::from(x - row[found]).exp()).sum();
            own += f64::from(row[ids[at + 1] as usize] - row[found]) - sum.ln();
            wanted += golden.log_probs[number][at];
        }
    }
    let perplexity = |sum: f64| (-sum / positions as f64).exp();
    let agreement = Agreement {
        positions,
        same,
        widest_margin,
        perplexity: perplexity(own),
        wanted_perplexity: perplexity(wanted),
    };
    eprintln!(
        "{numbers}: {same} of {positions} the same ({:.2} %), widest margin {widest_margin:.3}, perplexity {:.4}, \
         not {:.4}",
        100.0 * same as f64 / positions as f64,
        agreement.perplexity,
        agreement.wanted_perplexity
    );
    agreement
}

#[test]
fn it_takes_the_same_best_tokens_as_others_and_has_their_perplexity() {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(golden), Some(model)) =
        (named("FNSTORE_LANGUAGE_GOLDEN"), named("FNSTORE_LANGUAGE_MODEL"))
    else {
        skipped!("FNSTORE_LANGUAGE_GOLDEN and FNSTORE_LANGUAGE_MODEL are not set");
        return;
    };
    let golden: Golden = serde_json::from_slice(&std::fs::read(golden).unwrap()).unwrap();
    let exact = compare(Numbers::F32, &model, &golden);
    if golden.exact {
        assert!(exact.same * 1000 >= exact.positions * 995, "{} of them", exact.same);
        assert!((exact.perplexity / exact.wanted_perplexity - 1.0).abs() < 1e-4);
        return;
    }
    let blocks = compare(Numbers::Blocks, &model, &golden);
    for Agreement { positions, same, widest_margin, perplexity, wanted_perplexity } in
        [exact, blocks]
    {
        assert!(positions >= 1000);
        // llama.cpp rounds inputs to 8 bits, and agrees no better with itself:
        // docs/results/2026-11-24-language-model-perplexity.md has what was measured.
        assert!(same * 1000 >= positions * 950, "{same} of {positions}");
        assert!(widest_margin < 1.0, "{widest_margin}");
        assert!((perplexity / wanted_perplexity - 1.0).abs() < 0.005, "{perplexity}");
    }
}

#[derive(Deserialize)]
struct Text {
    text: String,
    ids: Vec<u32>,
    decoded: String,
}

/// `FNSTORE_TOKENIZER_GOLDEN` names what `training/parity/language_texts.py` wrote.
#[test]
fn its_tokenizer_cuts_and_joins_10_000_texts_as_transformers_does() {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let (Some(golden), Some(model)) =
        (named("FNSTORE_TOKENIZER_GOLDEN"), named("FNSTORE_LANGUAGE_MODEL"))
    else {
        skipped!("FNSTORE_TOKENIZER_GOLDEN and FNSTORE_LANGUAGE_MODEL are not set");
        return;
    };
    let tokenizer = Tokenizer::from_pieces(&Gguf::open(&model).unwrap().pieces().unwrap()).unwrap();
    let texts = std::fs::read_to_string(golden).unwrap();
    let texts: Vec<Text> = texts.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(texts.len() >= 10_000);
    let mut different = Vec::new();
    for Text { text, ids, decoded } in texts {
        let found = tokenizer.encode(&text).unwrap();
        if found != ids || tokenizer.decode(&found).unwrap() != decoded {
            different.push((text, found, ids));
        }
    }
    assert!(different.is_empty(), "{} differ, such as {:?}", different.len(), &different[0]);
}
