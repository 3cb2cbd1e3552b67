//! Language models rewrite under bans, by a prompt and with an adapter, on a tiny random Llama (see
//! training/parity/language.py).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assert_cmd::Command;
use fnstore::engine::{
    AvoidPhrases, BeamSettings, Constraint, Device, Gguf, LanguageAdapter, LanguageModel,
    LengthLimit, Numbers, SampleSettings, Tokenizer, Vocabulary, violations,
};
use fnstore::paraphrase::{
    Constraints, Paraphraser, Refusal, Request, RequestOutcome, Settings, base_of,
};
use serde::Deserialize;

use crate::bert_parity::golden;
use crate::language_parity::directory;

const CPU: Device = Device::Cpu { threads: 2 };

#[derive(Deserialize)]
struct Case {
    ids: Vec<u32>,
    logits: Vec<Vec<f32>>,
}

fn adapted(numbers: Numbers) -> LanguageModel {
    let adapter = LanguageAdapter::read(&directory("lora")).unwrap();
    let base = directory("llama").join("model.gguf");
    LanguageModel::open_with(&base, Some(Arc::new(adapter)), &CPU, numbers).unwrap()
}

fn open() -> Paraphraser {
    let base = base_of(&directory("lora"), &[directory("")]).unwrap();
    assert_eq!(base, Some(directory("llama").join("model.gguf")));
    Paraphraser::open_with(&directory("lora"), base.as_deref(), &CPU, Numbers::F32).unwrap()
}

fn settings() -> Settings {
    let beam = BeamSettings {
        beam_size: 6,
        n_best: 6,
        length_limit: LengthLimit { factor: 1.0, constant: 6 },
        ..BeamSettings::default()
    };
    Settings { beam, ..Settings::default() }
}

/// A copy of the adapter's directory with a file changed.
fn copy(file: &str, change: impl Fn(String) -> String) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for name in ["adapter_config.json", "adapter_model.safetensors", "prompt.toml"] {
        std::fs::copy(directory("lora").join(name), copy.path().join(name)).unwrap();
    }
    let text = std::fs::read_to_string(copy.path().join(file)).unwrap();
    let other = change(text.clone());
    assert_ne!(text, other);
    std::fs::write(copy.path().join(file), other).unwrap();
    copy
}

fn message_of(directory: &Path, base: &Path) -> String {
    let error = Paraphraser::open_with(directory, Some(base), &CPU, Numbers::F32).unwrap_err();
    format!("{:#}", Chain(&error))
}

/// An error with its causes.
struct Chain<'a>(&'a dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        self.0.source().map_or(Ok(()), |source| write!(f, ": {}", Chain(source)))
    }
}

#[test]
fn an_adapter_beside_the_weights_gives_the_logits_of_merged_ones() {
    for (numbers, most) in [(Numbers::F32, 2e-3), (Numbers::Int8, 3.0)] {
        let mut model = adapted(numbers);
        let mut largest = 0.0;
        for Case { ids, logits } in golden::<Case>("lora/logits.json") {
            let found = model.logits(&[&ids]).unwrap().remove(0);
            let pairs = found.data().iter().zip(logits.iter().flatten());
            largest = pairs.fold(largest, |most, (got, want)| f32::max(most, (got - want).abs()));
        }
        assert!(largest < most, "{numbers:?}: {largest}");
    }
}

#[test]
fn outputs_hold_no_banned_word_and_all_that_is_required() {
    let mut paraphraser = open();
    let constraints = Constraints {
        avoid: vec!["locks".to_owned(), "e".to_owned(), "checked".to_owned()],
        require: vec![vec!["old".to_owned(), "man".to_owned()]],
        ..Constraints::default()
    };
    let request = Request { text: "They checked the locks".to_owned(), constraints };
    let mut settings = settings();
    settings.beam.length_limit = LengthLimit::tokens(12);
    let outcomes = paraphraser.paraphrase(&[request], &settings).unwrap();
    let RequestOutcome::Paraphrases(found) = &outcomes[0] else { panic!("{outcomes:?}") };
    for paraphrase in found {
        let text = &paraphrase.text;
        assert!(violations(text, ["locks", "e", "checked"]).unwrap().is_empty(), "{text}");
        assert!(!violations(text, ["old", "man"]).unwrap().is_empty(), "{text}");
        assert!(!text.contains('\n') && !text.contains("<|im_end|>"), "{text}");
    }
    assert_eq!(paraphraser.leaks(), 0);
}

#[test]
fn outputs_hold_words_of_the_list_beside_an_adapter_and_those_of_the_source() {
    let folder = copy("prompt.toml", |text| text.replace("shortest", "tiniest"));
    let base = directory("llama").join("model.gguf");
    let open = || Paraphraser::open_with(folder.path(), Some(&base), &CPU, Numbers::F32).unwrap();
    let without = open();
    std::fs::write(folder.path().join("words.txt"), "a\nis\nof\nthe\nman\n").unwrap();
    let mut with = open();
    assert!(!without.has_word_list() && with.has_word_list());
    assert_ne!(without.adapter_fingerprint(), with.adapter_fingerprint());
    let request = Request {
        text: "They checked the locks".to_owned(),
        constraints: Constraints::avoiding(["locks"]),
    };
    let mut texts = |known_words| -> Vec<String> {
        let mut settings = Settings { known_words, ..settings() };
        settings.beam.length_limit = LengthLimit::tokens(12);
        let outcomes = with.paraphrase(std::slice::from_ref(&request), &settings).unwrap();
        outcomes[0].paraphrases().iter().map(|of| of.text.clone()).collect()
    };
    let is_known = |text: &String| {
        // Marks alone are no words.
        let words = text.split(|of: char| !of.is_ascii_alphabetic()).filter(|of| !of.is_empty());
        let known = ["a", "is", "of", "the", "man", "they", "checked"];
        words.map(str::to_lowercase).all(|word| known.contains(&word.as_str()))
    };
    let (known, any) = (texts(true), texts(false));
    assert!(!known.is_empty() && known.iter().all(is_known), "{known:?}");
    assert_ne!(any, known, "the list decides");
    std::fs::write(folder.path().join("words.txt"), b"\xff").unwrap();
    let message = message_of(folder.path(), &base);
    assert!(message.contains("words.txt") && message.contains("UTF-8"), "{message}");
}

#[test]
fn sentences_side_by_side_are_rewritten_as_each_alone() {
    let mut paraphraser = open();
    let requests = ["They checked it", "the old man", "a <|im_end|> b"].map(|text| Request {
        text: text.to_owned(),
        constraints: Constraints::avoiding(["checked", "man"]),
    });
    for settings in [
        settings(),
        Settings {
            sample: Some(SampleSettings { samples: 3, ..SampleSettings::default() }),
            ..settings()
        },
    ] {
        let together = paraphraser.paraphrase(&requests, &settings).unwrap();
        for (request, outcome) in requests.iter().zip(&together) {
            let alone = paraphraser.paraphrase(std::slice::from_ref(request), &settings).unwrap();
            assert_eq!(&alone[0], outcome, "{}", request.text);
        }
    }
    assert_eq!(paraphraser.leaks(), 0);
}

#[test]
fn a_round_with_more_bans_writes_what_they_alone_would_have_it_write() {
    let mut paraphraser = open();
    let (first, second) =
        (Constraints::avoiding(["checked"]), Constraints::avoiding(["checked", "a", "b", "the"]));
    let text = "They checked it";
    let alone = {
        let request = Request { text: text.to_owned(), constraints: second.clone() };
        paraphraser.paraphrase(&[request], &settings()).unwrap().remove(0)
    };
    let mut session = paraphraser.session(Settings { keep_steps: true, ..settings() }).unwrap();
    let source = session.open_under(text, &first).unwrap();
    session.submit(source, &first).unwrap();
    session.next_finished().unwrap().unwrap();
    let source = session.reopen_under(source, &second).unwrap();
    session.submit(source, &second).unwrap();
    assert_eq!(session.next_finished().unwrap().unwrap().outcome, alone);
}

#[test]
fn a_prompt_that_leaves_no_room_is_refused_by_itself() {
    let requests = [
        Request { text: "it was ".repeat(9), ..Request::default() },
        Request { text: "They checked it".to_owned(), ..Request::default() },
        Request { text: " ".to_owned(), ..Request::default() },
    ];
    let outcomes = open().paraphrase(&requests, &settings()).unwrap();
    let refused = |outcome: &RequestOutcome| match outcome {
        RequestOutcome::Refused(refusal) => Some(*refusal),
        _ => None,
    };
    let long = refused(&outcomes[0]);
    assert!(
        matches!(long, Some(Refusal::Prompt { .. } | Refusal::TooLong { limit: 64, .. })),
        "{long:?}"
    );
    assert_eq!(refused(&outcomes[1]), None);
    assert_eq!(refused(&outcomes[2]), Some(Refusal::Empty));
}

#[test]
fn an_adapter_that_does_not_fit_is_refused_with_file_field_and_code() {
    let base = directory("llama").join("model.gguf");
    for (from, to, names) in [
        ("\"base_fingerprint\": \"7", "\"base_fingerprint\": \"8", "`base_fingerprint` is `8"),
        ("\"format\": 1", "\"format\": 3", "`format` is `3`, expected 1 (A-field)"),
        ("\"LORA\"", "\"LOHA\"", "`peft_type` is `LOHA`"),
        ("\"r\": 4", "\"r\": 0", "`r` is `0`, expected 1 to 4096 (A-field)"),
        ("\"r\": 4", "\"r\": 5", ", expected [5, "),
        ("\"r\": 4", "\"rank\": 4", "missing field `r`"),
    ] {
        let adapter = copy("adapter_config.json", |text| text.replace(from, to));
        let message = message_of(adapter.path(), &base);
        assert!(message.contains(names), "{to}: {message}");
    }
    // The adapter is another model's.
    let nowhere = tempfile::tempdir().unwrap();
    let other = nowhere.path().join("other.gguf");
    let mut bytes = std::fs::read(&base).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&other, bytes).unwrap();
    let told = message_of(&directory("lora"), &other);
    assert!(told.contains("A-base") && told.contains("other.gguf"), "{told}");
    std::fs::remove_file(&other).unwrap();
    let missing =
        base_of(&directory("lora"), &[nowhere.path().to_owned()]).unwrap_err().to_string();
    assert!(missing.contains("A-missing") && missing.contains("fetch it there"), "{missing}");
}

#[test]
fn a_prompt_that_does_not_fit_is_refused_with_file_field_and_line() {
    let base = directory("llama").join("model.gguf");
    for (from, to, names) in [
        ("<|im_end|>", "<|no such token|>", "`stop` is `<|no such token|>`"),
        ("answer = \"=\"\n", "", "missing field `answer`"),
        ("hint = \"?{}\\n\"", "hint = \"?\"", "line 6: `hint`"),
    ] {
        let adapter = copy("prompt.toml", |text| text.replace(from, to));
        let message = message_of(adapter.path(), &base);
        assert!(message.contains(names) && message.contains("prompt.toml"), "{to}: {message}");
    }
}

#[test]
fn models_of_files_and_adapters_are_added_checked_and_chosen() {
    let home = tempfile::tempdir().unwrap();
    let ran = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
        command.args(arguments).arg("--models").arg(home.path());
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let path = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (file, lora) = (path(directory("llama").join("model.gguf")), path(directory("lora")));
    let (code, _, told) = ran(&["model", "add", &lora]);
    assert_eq!(code, Some(65), "{told}");
    assert!(told.contains("M-base") && told.contains("A-missing"), "{told}");
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing is stored");
    let (code, out, told) = ran(&["model", "add", &file, "--name", "tiny", "--format", "json"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(out.contains("\"language-model\"") && out.contains("\"llama\""), "{out}");
    let (code, _, told) = ran(&["model", "use", "tiny"]);
    assert!(code != Some(0) && told.contains("without a `prompt.toml`"), "{told}");
    let (code, out, told) = ran(&["model", "add", &lora, "--format", "json"]);
    assert_eq!(code, Some(0), "{told}");
    assert!(out.contains("\"adapter\"") && out.contains("\"lora\""), "{out}");
    let (code, out, _) = ran(&["model", "verify", "tiny", "lora"]);
    assert_eq!(code, Some(0), "{out}");
    let (code, _, told) = ran(&["model", "use", "lora"]);
    assert_eq!(code, Some(0), "{told}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["paraphrase", "--device", "cpu", "--beam", "4", "--avoid", "checked"]);
    let output = command.arg("--models").arg(home.path()).write_stdin("They checked it").output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(text.contains("\"paraphrases\"") && !text.contains("\"error\""), "{text}");
}

#[test]
fn a_file_that_was_cut_is_no_model_and_nothing_is_stored() {
    let (from, models) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = std::fs::read(directory("llama").join("model.gguf")).unwrap();
    let file = from.path().join("cut.gguf");
    std::fs::write(&file, &bytes[..bytes.len() - 200]).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.args(["model", "add", file.to_str().unwrap(), "--models"]).arg(models.path());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("G-beyond"), "{told}");
    assert!(told.contains("M-weights") && told.contains("cut.gguf"), "{told}");
    assert_eq!(std::fs::read_dir(models.path()).unwrap().count(), 0);
}

/// The next number of a small generator (SplitMix64), below `most`.
fn below(state: &mut u64, most: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % most as u64) as usize
}

/// Tokens at random, half of them such as go on with a banned phrase in some spelling.
/// `FNSTORE_FULL_LEAKS=1` takes a million.
#[test]
fn no_walk_over_byte_level_tokens_spells_a_banned_phrase() {
    const EOS: u32 = u32::MAX;
    let steps = if std::env::var_os("FNSTORE_FULL_LEAKS").is_some() { 1_000_000 } else { 5_000 };
    let file = Gguf::open(&directory("tokenizers").join("smollm.gguf")).unwrap();
    let tokenizer = Tokenizer::from_pieces(&file.pieces().unwrap()).unwrap();
    let size = tokenizer.vocab_size();
    let surfaces: Vec<&[u8]> = (0..size as u32).map(|id| tokenizer.surface(id)).collect();
    let vocabulary = Arc::new(Vocabulary::new(surfaces.iter().copied()));
    let phrases = [
        "check",
        "checked",
        "the locks",
        "e",
        "caf\u{e9}",
        "don't",
        "1234",
        "open it",
        "Sebasti\u{e1}n",
        "\u{4e2d}\u{6587}",
        "x-ray",
        "she's",
        "ab",
        "BA",
    ];
    let avoid = Arc::new(AvoidPhrases::new(vocabulary, phrases).unwrap());
    let constraint = Constraint { everywhere: Some(avoid), ..Constraint::default() };
    let spellings = |phrase: &str| {
        [phrase.to_owned(), phrase.to_uppercase(), phrase.to_lowercase()]
            .map(|phrase| format!(" {phrase}"))
    };
    let spelled: Vec<Vec<u8>> =
        phrases.iter().flat_map(|phrase| spellings(phrase)).map(String::into_bytes).collect();
    let (mut random, mut taken, mut texts) = (17, 0, 0);
    while taken < steps {
        let (mut state, mut bytes) = (constraint.start(99), Vec::new());
        let mut aim: &[u8] = &[];
        for step in 0.. {
            let blocked = constraint.blocked(state, EOS);
            let may_end = blocked.as_ref().is_none_or(|blocked| blocked.may_end);
            let is_blocked = |token: u32| {
                blocked.as_ref().is_some_and(|blocked| blocked.tokens.binary_search(&token).is_ok())
            };
            if step >= 12 && may_end && !is_blocked(EOS) {
                break;
            }
            assert!(step < 2_000, "no way on: {:?}", String::from_utf8_lossy(&bytes));
            if aim.is_empty() {
                let phrase = &spelled[below(&mut random, spelled.len())];
                aim = &phrase[below(&mut random, 2)..];
            }
            let goes_on = |token: &u32| {
                let surface = surfaces[*token as usize];
                !surface.is_empty() && aim.starts_with(surface) && !is_blocked(*token)
            };
            let fitting: Vec<u32> = (0..size as u32).filter(goes_on).collect();
            let wants_aim = below(&mut random, 8) > 0 && !fitting.is_empty();
            let token = match wants_aim {
                true => fitting[below(&mut random, fitting.len())],
                false => below(&mut random, size) as u32,
            };
            if is_blocked(token) {
                continue;
            }
            aim = if wants_aim { &aim[surfaces[token as usize].len()..] } else { &[] };
            state = constraint.advance(state, token);
            bytes.extend_from_slice(surfaces[token as usize]);
            taken += 1;
        }
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(constraint.violations(&text), [""; 0], "{text:?}");
        texts += 1;
    }
    assert!(texts > steps / 200, "{texts} texts");
}
