//! The aligner from end to end: trained on a few sentences over a tiny encoder made here, opened
//! again, and asked. With the shipped head and its encoder at hand, that one is asked too.

use std::path::{Path, PathBuf};

use fnstore::align::{AlignError, AlignRequest, AlignedSpan, Aligner, Alignment, train};
use fnstore::engine::{Device, NamedTensor, write_weights};
use fnstore::model::Span;
use fnstore::{FileError, NetworkError};
use serde_json::{Map, json};
use tempfile::TempDir;

const WIDTH: usize = 24;
const INNER: usize = 32;
pub(crate) const POSITIONS: usize = 64;

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/alignment").join(name)
}

/// Numbers that look random, the same in every run.
fn numbers(count: usize, seed: &mut u32, scale: f32) -> Vec<f32> {
    let mut next = || {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((*seed >> 8) as f32 / (1 << 23) as f32 - 1.0) * scale
    };
    (0..count).map(|_| next()).collect()
}

/// Writes a one-layer BERT with random weights whose vocabulary is the words of the test data.
pub(crate) fn write_encoder(directory: &Path, seed: u32) {
    write_encoder_of(directory, seed, POSITIONS);
}

/// As [`write_encoder`], of another length of input.
pub(crate) fn write_encoder_of(directory: &Path, mut seed: u32, positions: usize) {
    let mut words: Vec<String> = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"].map(String::from).into();
    for item in AlignedSpan::read(&data("train.jsonl")).unwrap() {
        words.extend(item.source.into_iter().chain(item.target));
    }
    let mut vocabulary = Map::new();
    for word in words {
        let id = vocabulary.len();
        vocabulary.entry(word).or_insert(json!(id));
    }
    let size = vocabulary.len();
    let special = |id: usize, content: &str| {
        json!({"id": id, "content": content, "single_word": false, "lstrip": false,
               "rstrip": false, "normalized": false, "special": true})
    };
    let token = |id: &str, kind: u32| json!({"SpecialToken": {"id": id, "type_id": kind}});
    let sequence = |id: &str, kind: u32| json!({"Sequence": {"id": id, "type_id": kind}});
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null,
        "added_tokens": [special(0, "[PAD]"), special(1, "[UNK]"), special(2, "[CLS]"), special(3, "[SEP]")],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [token("[CLS]", 0), sequence("A", 0), token("[SEP]", 0)],
            "pair": [token("[CLS]", 0), sequence("A", 0), token("[SEP]", 0),
                     sequence("B", 1), token("[SEP]", 1)],
            "special_tokens": {
                "[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]},
                "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]},
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": vocabulary},
    });
    let config = json!({
        "model_type": "bert", "vocab_size": size, "hidden_size": WIDTH, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": INNER, "hidden_act": "gelu",
        "max_position_embeddings": positions, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
    });
    std::fs::write(directory.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    std::fs::write(directory.join("config.json"), config.to_string()).unwrap();

    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    for (name, rows) in [("word", size), ("position", positions), ("token_type", 2)] {
        let table = numbers(rows * WIDTH, &mut seed, if name == "word" { 1.0 } else { 0.1 });
        tensors.push((format!("embeddings.{name}_embeddings.weight"), vec![rows, WIDTH], table));
    }
    let layer = |part: &str| format!("encoder.layer.0.{part}");
    for (name, out, inputs) in [
        (layer("attention.self.query"), WIDTH, WIDTH),
        (layer("attention.self.key"), WIDTH, WIDTH),
        (layer("attention.self.value"), WIDTH, WIDTH),
        (layer("attention.output.dense"), WIDTH, WIDTH),
        (layer("intermediate.dense"), INNER, WIDTH),
        (layer("output.dense"), WIDTH, INNER),
    ] {
        let weight = numbers(out * inputs, &mut seed, 0.2);
        tensors.push((format!("{name}.weight"), vec![out, inputs], weight));
        tensors.push((format!("{name}.bias"), vec![out], vec![0.0; out]));
    }
    for name in [
        "embeddings.LayerNorm".to_owned(),
        layer("attention.output.LayerNorm"),
        layer("output.LayerNorm"),
    ] {
        tensors.push((format!("{name}.weight"), vec![WIDTH], vec![1.0; WIDTH]));
        tensors.push((format!("{name}.bias"), vec![WIDTH], vec![0.0; WIDTH]));
    }
    let named: Vec<NamedTensor<'_>> = tensors
        .iter()
        .map(|(name, shape, data)| (name.clone(), shape.clone(), &data[..]))
        .collect();
    write_weights(directory, &named).unwrap();
}

/// An encoder, and a head trained on it.
pub(crate) struct Trained {
    pub(crate) encoder: TempDir,
    pub(crate) head: TempDir,
}

pub(crate) fn trained() -> Trained {
    let (encoder, head) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_encoder(encoder.path(), 7);
    let mut options = train::Options::new(
        data("train.jsonl"),
        data("train.jsonl"),
        encoder.path().to_owned(),
        head.path().to_owned(),
    );
    options.hidden = Some(32);
    let training = &mut options.training;
    (training.epochs, training.patience, training.batch) = (60, 60, 6);
    training.learning_rate = 5e-3;
    train::run(&options, &Device::cpu(), &mut |_| ()).unwrap();
    Trained { encoder, head }
}

fn open(trained: &Trained) -> Result<Aligner, AlignError> {
    Aligner::open(trained.head.path(), trained.encoder.path(), &Device::cpu())
}

fn request<'a>(source: &'a str, pieces: &'a [Span], target: &'a str) -> AlignRequest<'a> {
    AlignRequest { source, pieces, target }
}

#[test]
fn a_head_learns_a_few_sentences_and_finds_them_again_after_reopening() {
    let trained = trained();
    let aligner = open(&trained).unwrap();
    let items = AlignedSpan::read(&data("train.jsonl")).unwrap();
    let report = aligner.evaluate(&items, 0.0).unwrap();
    assert!(report.all.exact.f1() > 0.9, "{report:?}");
    let config = aligner.config();
    assert_eq!(report, config.dev, "training and opening measure alike");
    let at_threshold = aligner.evaluate(&items, config.threshold).unwrap();
    assert_eq!(at_threshold, config.dev_at_threshold);
    assert_eq!(aligner.evaluate(&items, 2.0).unwrap().all.exact.predicted, 0);
    assert_eq!(report.all.exact.gold, report.changed.exact.gold + report.identical.exact.gold);

    let source = "they checked the lock twice";
    let target = "the lock was inspected twice by them";
    let pieces = [Span::new(5, 12)];
    let answers = aligner.align(&[request(source, &pieces, target)]).unwrap();
    let alignment = answers[0].as_ref().unwrap();
    assert_eq!(alignment.spans[0].of(target), Some("inspected"));
    assert!((0.0..=1.0).contains(&alignment.score));
}

#[test]
fn an_answer_has_the_same_bits_alone_and_in_a_batch() {
    let aligner = open(&trained()).unwrap();
    let items = AlignedSpan::read(&data("train.jsonl")).unwrap();
    let texts: Vec<(String, String)> =
        items.iter().map(|item| (item.source.join(" "), item.target.join(" "))).collect();
    let piece = [Span::new(0, 2)];
    let requests: Vec<_> =
        texts.iter().map(|(source, target)| request(source, &piece, target)).collect();
    let together = aligner.align(&requests).unwrap();
    for (alone, together) in requests.iter().zip(&together) {
        assert_eq!(&aligner.align(&[*alone]).unwrap()[0], together);
    }
}

#[test]
fn pieces_of_a_discontinuous_target_find_stretches_that_do_not_overlap() {
    let aligner = open(&trained()).unwrap();
    let source = "she carried the plan out alone";
    let pieces = [Span::new(4, 11), Span::new(21, 24)];
    for target in ["alone she executed the plan", "she did it", "they abandoned it"] {
        let answers = aligner.align(&[request(source, &pieces, target)]).unwrap();
        let Alignment { spans, score, .. } = answers[0].clone().unwrap();
        assert_eq!(spans.len(), 2);
        assert!(!spans[0].overlaps(spans[1]));
        for (piece, span) in pieces.iter().zip(&spans) {
            assert!(span.of(target).is_some_and(|text| text.trim() == text && !text.is_empty()));
            // Alone, a piece scores at least as high: it may choose freely.
            let alone = aligner.align(&[request(source, &[*piece], target)]).unwrap();
            assert!(alone[0].as_ref().unwrap().score >= score);
        }
    }
}

#[test]
fn runners_up_are_other_spans_with_lower_scores() {
    let aligner = open(&trained()).unwrap();
    let source = "they checked the lock twice";
    let target = "the lock was inspected twice by them";
    let pieces = [Span::new(5, 12)];
    let requests = [request(source, &pieces, target)];
    let ranking = aligner.rank(&requests, 3).unwrap().remove(0).unwrap();
    assert_eq!(aligner.align(&requests).unwrap()[0].as_ref(), Some(&ranking.alignment));
    let [others] = &ranking.runners_up[..] else { panic!("one piece") };
    assert_eq!(others.len(), 3);
    assert!(others.iter().all(|(span, _)| *span != ranking.alignment.spans[0]));
    let mut scores = vec![ranking.alignment.score];
    scores.extend(others.iter().map(|(_, score)| *score));
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn a_paraphrase_without_room_has_no_answer() {
    let aligner = open(&trained()).unwrap();
    let source = "the plan failed";
    let pieces = [Span::new(0, 3), Span::new(4, 8)];
    let answers = aligner
        .align(&[
            request(source, &pieces, ""),
            request(source, &pieces, "it"),
            request(source, &pieces[..1], "it"),
        ])
        .unwrap();
    assert!(answers[0].is_none() && answers[1].is_none());
    assert_eq!(answers[2].as_ref().unwrap().spans, [Span::new(0, 2)]);
    assert!(aligner.align(&[]).unwrap().is_empty());
}

#[test]
fn a_piece_outside_its_sentence_is_refused_with_its_place() {
    let aligner = open(&trained()).unwrap();
    let (good, bad) = ([Span::new(0, 3)], [Span::new(4, 99)]);
    let requests = [request("the plan", &good, "it"), request("the plan", &bad, "it")];
    let error = aligner.align(&requests).unwrap_err();
    assert!(matches!(error, AlignError::Piece { request: 1, start: 4, end: 99, .. }), "{error}");
}

#[test]
fn a_pair_too_long_for_the_encoder_is_refused_with_its_place() {
    let aligner = open(&trained()).unwrap();
    let long = "plan ".repeat(POSITIONS);
    let piece = [Span::new(0, 4)];
    let requests = [request("plan", &piece, "it"), request("plan", &piece, &long)];
    let error = aligner.align(&requests).unwrap_err();
    assert!(matches!(error, AlignError::TooLong { request: 1, limit: POSITIONS, .. }), "{error}");
}

#[test]
fn a_head_is_refused_by_another_encoder_and_when_damaged() {
    let mut trained = trained();
    write_encoder(trained.encoder.path(), 8);
    assert!(matches!(open(&trained), Err(AlignError::Network(NetworkError::Encoder { .. }))));
    write_encoder(trained.encoder.path(), 7);
    assert!(open(&trained).is_ok());
    std::fs::write(trained.head.path().join("model.safetensors"), b"not weights").unwrap();
    assert!(matches!(open(&trained), Err(AlignError::Network(NetworkError::Network { .. }))));
    trained.head = tempfile::tempdir().unwrap();
    assert!(matches!(
        open(&trained),
        Err(AlignError::Network(NetworkError::File(FileError::Io { .. })))
    ));
}

#[test]
fn training_twice_with_one_seed_writes_the_same_file() {
    let (first, second) = (trained(), trained());
    let weights =
        |trained: &Trained| std::fs::read(trained.head.path().join("model.safetensors")).unwrap();
    assert_eq!(weights(&first), weights(&second));
}

/// Directory of the encoder that the shipped head and tagger were trained on.
pub(crate) fn shipped_encoder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/aligner-encoder")
}

#[test]
fn the_shipped_head_finds_plain_rewordings() {
    let encoder = shipped_encoder();
    let head = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/aligner");
    let aligner = Aligner::open(&head, &encoder, &Device::cpu()).unwrap();
    let cases = [
        ("She [bought] a house near the sea.", "She [purchased] a house near the sea."),
        ("He spoke [quietly] to the children.", "He talked to the children [softly]."),
        ("The old [physician] lived alone.", "The old [doctor] lived by himself."),
        (
            "Wolves [attacked] the Smol\u{e9}n farm.",
            "The Smol\u{e9}n farm was [assaulted] by wolves.",
        ),
        ("Guards [verified] that he had left.", "Guards [checked] that he had left."),
        ("He [responded] to her question.", "To her question he [reacted]."),
    ];
    let plain = |marked: &str| marked.replace(['[', ']'], "");
    let mut right = 0;
    for (source, target) in cases {
        let start = source.find('[').unwrap() as u32;
        let pieces = [Span::new(start, source.find(']').unwrap() as u32 - 1)];
        let (source, text) = (plain(source), plain(target));
        let answers = aligner.align(&[request(&source, &pieces, &text)]).unwrap();
        let found = answers[0].as_ref().unwrap().spans[0].of(&text).unwrap();
        right += usize::from(target.contains(&format!("[{found}]")));
    }
    assert!(right >= 5, "{right} of {}", cases.len());
}
