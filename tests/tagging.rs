//! The tagger from end to end: trained on a few sentences over a tiny encoder made here, opened
//! again, and asked. With the shipped tagger and its encoder at hand, that one is asked too.

use std::path::{Path, PathBuf};

use fnstore::FileError;
use fnstore::NetworkError;
use fnstore::engine::{Device, write_weights};
use fnstore::tag::train::{Options, run};
use fnstore::tag::{TaggedSentence, Tagger, TaggerConfig};
use tempfile::TempDir;

use crate::span_alignment::{POSITIONS, shipped_encoder, write_encoder};

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tagging").join(name)
}

/// A folder with an encoder in it.
pub(crate) fn with_encoder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("encoder")).unwrap();
    write_encoder(&folder.path().join("encoder"), 7);
    folder
}

fn options(folder: &Path) -> Options {
    let mut options = Options::new(folder.join("encoder"), folder.join("tagger"));
    (options.layer, options.hidden) = (Some(1), 16);
    let training = &mut options.training;
    (training.epochs, training.patience, training.batch) = (40, 40, 16);
    training.learning_rate = 1e-2;
    options
}

/// Trains on the small data set.
fn train(folder: &Path) -> TaggerConfig {
    let read = |name| TaggedSentence::read(&data(name)).unwrap();
    let (training, dev) = (read("train.jsonl"), read("dev.jsonl"));
    run(&options(folder), &training, &dev, &Device::cpu(), &mut |_| ()).unwrap()
}

fn open(folder: &Path) -> Result<Tagger, NetworkError> {
    Tagger::open(&folder.join("tagger"), &folder.join("encoder"), &Device::cpu())
}

fn names(tagger: &Tagger, sentence: &TaggedSentence) -> Vec<Option<String>> {
    let tags = tagger.tag(&[sentence.words()]).unwrap().remove(0);
    tags.iter().map(|tag| Some(tag.name.to_owned())).collect()
}

#[test]
fn a_tagger_learns_a_few_sentences_and_tags_them_after_reopening() {
    let folder = with_encoder();
    let config = train(folder.path());
    assert_eq!(config.encoder, "encoder");
    assert_eq!((config.training.sentences, config.training.left_out), (24, 0));
    assert!(config.tags.is_sorted() && config.tags.contains(&"PRP$".to_owned()));
    let tagger = open(folder.path()).unwrap();
    assert_eq!(tagger.config(), &config);
    let (mut words, mut right) = (0, 0);
    for gold in TaggedSentence::read(&data("train.jsonl")).unwrap() {
        for gold in [gold.lowercase().unwrap_or(gold.clone()), gold] {
            let found = names(&tagger, &gold);
            words += found.len();
            right += found.iter().zip(&gold.tags).filter(|(found, gold)| found == gold).count();
        }
    }
    assert!(right as f64 > 0.95 * words as f64, "{right} of {words}");
    // What it found in the development data is what training measured there.
    let (mut dev, mut right) = (0, 0);
    for gold in TaggedSentence::read(&data("dev.jsonl")).unwrap() {
        let found = names(&tagger, &gold);
        let tagged = found.iter().zip(&gold.tags).filter(|(_, gold)| gold.is_some());
        dev += tagged.clone().count() as u64;
        right += tagged.filter(|(found, gold)| found == gold).count() as u64;
    }
    assert_eq!((config.dev.written.words, config.dev.written.right), (dev, right));
}

#[test]
fn tags_have_the_same_bits_alone_and_in_a_batch() {
    let folder = with_encoder();
    train(folder.path());
    let tagger = open(folder.path()).unwrap();
    let sentences = TaggedSentence::read(&data("train.jsonl")).unwrap();
    let mut words: Vec<Vec<&str>> = sentences.iter().map(TaggedSentence::words).collect();
    words.push(Vec::new());
    words.push(vec!["unheard", "of"]);
    let together = tagger.tag(&words).unwrap();
    for (words, together) in words.iter().zip(&together) {
        assert_eq!(together.len(), words.len());
        assert_eq!(&tagger.tag(std::slice::from_ref(words)).unwrap()[0], together);
    }
    assert!(tagger.tag(&[]).unwrap().is_empty());
}

#[test]
fn training_twice_with_one_seed_writes_the_same_files() {
    let (first, second) = (with_encoder(), with_encoder());
    assert_eq!(train(first.path()), train(second.path()));
    for file in ["config.json", "model.safetensors"] {
        let read =
            |folder: &TempDir| std::fs::read(folder.path().join("tagger").join(file)).unwrap();
        assert!(read(&first) == read(&second), "{file}");
    }
}

#[test]
fn a_sentence_too_long_for_the_encoder_costs_nobody_the_others() {
    let folder = with_encoder();
    let short = TaggedSentence::read(&data("train.jsonl")).unwrap();
    let long = TaggedSentence {
        words: vec!["plan".to_owned(); POSITIONS],
        tags: vec![Some("NN".to_owned()); POSITIONS],
    };
    let with_long = [&short[..], std::slice::from_ref(&long)].concat();
    let options = options(folder.path());
    let config = run(&options, &with_long, &short, &Device::cpu(), &mut |_| ()).unwrap();
    assert_eq!((config.training.sentences, config.training.left_out), (25, 1));
    let tagger = open(folder.path()).unwrap();
    let sentences = [short[0].words(), long.words(), short[1].words()];
    let error = tagger.tag(&sentences).unwrap_err();
    assert!(matches!(error, NetworkError::TooLong { item: 1, limit: POSITIONS, .. }), "{error}");
    assert_eq!(error.item(), Some(1));
    let each = tagger.tag_each(&sentences).unwrap();
    assert_eq!(each.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(each[2].as_ref().unwrap(), &tagger.tag(&[short[1].words()]).unwrap()[0]);
}

#[test]
fn a_tagger_is_refused_by_another_encoder_and_when_damaged() {
    let folder = with_encoder();
    train(folder.path());
    let (encoder, tagger) = (folder.path().join("encoder"), folder.path().join("tagger"));
    write_encoder(&encoder, 8);
    let error = open(folder.path()).unwrap_err();
    assert!(matches!(error, NetworkError::Encoder { .. }), "{error}");
    assert!(error.to_string().contains("the states of `encoder "), "{error}");
    write_encoder(&encoder, 7);
    assert!(open(folder.path()).is_ok());
    write_weights(&tagger, &[]).unwrap();
    assert!(matches!(open(folder.path()), Err(NetworkError::Network { .. })));
    std::fs::remove_file(tagger.join("config.json")).unwrap();
    assert!(matches!(open(folder.path()), Err(NetworkError::File(FileError::Io { .. }))));
}

#[test]
fn the_shipped_tagger_tags_plain_sentences() {
    let encoder = shipped_encoder();
    let tagger = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tagger");
    let tagger = Tagger::open(&tagger, &encoder, &Device::cpu()).unwrap();
    let sentences = [
        "She/PRP bought/VBD a/DT small/JJ house/NN near/IN the/DT sea/NN ./.",
        "Two/CD guards/NNS quickly/RB checked/VBD the/DT old/JJ locks/NNS ./.",
        "He/PRP has/VBZ been/VBN working/VBG in/IN London/NNP since/IN March/NNP ./.",
        "they/PRP will/MD not/RB repair/VB their/PRP$ bridge/NN",
    ];
    let (mut words, mut right) = (0, 0);
    for sentence in sentences {
        let gold: Vec<(&str, &str)> =
            sentence.split(' ').map(|word| word.rsplit_once('/').unwrap()).collect();
        let asked = gold.iter().map(|(word, _)| *word).collect();
        let found = tagger.tag(&[asked]).unwrap().remove(0);
        words += gold.len();
        right += gold.iter().zip(&found).filter(|((_, tag), found)| *tag == found.name).count();
    }
    assert!(right + 2 >= words, "{right} of {words}");
}
