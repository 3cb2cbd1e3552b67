//! The shipped aligner computes what PyTorch computes: encoder, links of words, scores of spans.

use std::path::{Path, PathBuf};

use fnstore::align::linker::{Linker, LinkerPart};
use fnstore::align::words::{Link, SentencePair};
use fnstore::align::{AlignedSpan, Aligner, WordSpan};
use fnstore::engine::Device;
use serde::Deserialize;

use crate::bert_parity::golden;

#[derive(Deserialize)]
struct Case {
    source: Vec<String>,
    target: Vec<String>,
    links: Vec<Vec<f32>>,
    spans: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    span: [u32; 2],
    best: [u32; 2],
    score: f32,
}

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

fn word_span([start, end]: [u32; 2]) -> WordSpan {
    WordSpan::new(start, end)
}

#[test]
fn spans_and_their_scores_are_those_of_pytorch() {
    let models = models();
    let aligner =
        Aligner::open(&models.join("aligner"), &models.join("aligner-encoder"), &Device::cpu());
    let aligner = aligner.unwrap();
    for case in golden::<Case>("aligner.json") {
        let item = |answer: &Answer| AlignedSpan {
            id: String::new(),
            source: case.source.clone(),
            source_span: word_span(answer.span),
            target: case.target.clone(),
            target_span: None,
            changed: true,
        };
        let items: Vec<AlignedSpan> = case.spans.iter().map(item).collect();
        for (answer, found) in case.spans.iter().zip(aligner.predict(&items).unwrap()) {
            let (span, score) = found.unwrap().unwrap();
            assert_eq!(span, word_span(answer.best), "{:?}", case.target);
            assert!((score - answer.score).abs() < 2e-3, "{score}, {}", answer.score);
        }
    }
}

/// The links that scores give under thresholds, by what `LinkerPart` says of them.
fn links(scores: &[Vec<f32>], part: &LinkerPart) -> Vec<Link> {
    let mut links = Vec::new();
    for (source, row) in scores.iter().enumerate() {
        for (target, score) in row.iter().enumerate() {
            let best = row.iter().chain(scores.iter().map(|row| &row[target])).all(|x| x <= score);
            if *score >= part.threshold || best && *score >= part.mutual_threshold {
                links.push(Link { source: source as u32, target: target as u32 });
            }
        }
    }
    links
}

#[test]
fn words_are_linked_as_by_pytorch() {
    let models = models();
    let linker =
        Linker::open(&models.join("aligner"), &models.join("aligner-encoder"), &Device::cpu());
    let linker = linker.unwrap();
    for case in golden::<Case>("aligner.json") {
        let (source, target) = (case.source.clone(), case.target.clone());
        let pair = SentencePair { source, target, ..SentencePair::default() };
        let found = linker.align(&[pair]).unwrap().remove(0).unwrap();
        let wanted = links(&case.links, linker.part());
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{:?}", case.target);
    }
}
