//! `fnstore model`: what it lists, what it finds wrong, and that nothing is half added or half
//! chosen.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli_program::Ran;
use crate::cli_schema::faults_in;

fn parity(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/parity").join(name)
}

/// What the program prints with these directories in `FNSTORE_MODELS`.
fn with_models(home: &Path, dirs: &[&Path], arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env("FNSTORE_MODELS", std::env::join_paths(dirs).unwrap());
    command.env("XDG_DATA_HOME", home.join("data")).env("FNSTORE_CACHE", home.join("cache"));
    Ran::of(command.env("FNSTORE_DIR", "/nonexistent/store").args(arguments).output().unwrap())
}

#[test]
fn models_of_every_directory_that_the_variable_lists_are_found_and_absent_ones_are_told() {
    let home = TempDir::new().unwrap();
    let [one, two, absent] = ["one", "two", "absent"].map(|name| home.path().join(name));
    for (dir, name) in [(&one, "first"), (&two, "second")] {
        fs::create_dir_all(dir.join(name)).unwrap();
        fs::write(dir.join(name).join("config.json"), "{}").unwrap();
    }
    let both = with_models(home.path(), &[&one, &two], &["model", "list", "--format", "jsonl"]);
    let names: Vec<Value> = both.records().iter().map(|model| model["name"].clone()).collect();
    assert!(names.contains(&json!("first")) && names.contains(&json!("second")), "{both:?}");
    assert!(!both.stderr.contains("FNSTORE_MODELS"), "{both:?}");
    let told = with_models(home.path(), &[&absent, &two], &["model", "list", "--format", "jsonl"]);
    let message = format!("`FNSTORE_MODELS` names `{}`, which is no directory", absent.display());
    assert_eq!(told.stderr.matches(&message).count(), 1, "{told:?}");
    assert!(told.stdout.contains("second"), "{told:?}");
}

/// Runs the program with a home of its own.
fn fnstore(home: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fnstore"));
    command.env_remove("FNSTORE_MODELS").env("FNSTORE_DIR", "/nonexistent/store");
    command.env("XDG_DATA_HOME", home.join("data")).env("FNSTORE_CACHE", home.join("cache"));
    Ran::of(command.args(arguments).write_stdin(input).output().unwrap())
}

fn model(home: &TempDir, arguments: &[&str]) -> Ran {
    fnstore(home.path(), &[&["model", "--format", "jsonl"], arguments].concat(), "")
}

const SPECIAL: [&str; 4] = ["<pad>", "</s>", "<s>", "<unk>"];

fn added_tokens() -> Vec<Value> {
    let token = |(id, content): (usize, &&str)| {
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false,
                "rstrip": false, "normalized": false, "special": true })
    };
    SPECIAL.iter().enumerate().map(token).collect()
}

fn letters() -> impl Iterator<Item = String> {
    ('a'..='z').chain('A'..='Z').chain('0'..='9').chain(['.', ',', '-']).map(String::from)
}

/// Byte-level pairs as BART's, over so few letters that the tiny network knows them all.
fn byte_level() -> Value {
    let merged = ["th", "the", "\u{120}the", "in", "\u{120}a"];
    let own = [String::from("\u{120}")].into_iter().chain(letters());
    let pieces = own.chain(merged.map(String::from));
    let vocab: BTreeMap<String, usize> = SPECIAL
        .map(String::from)
        .into_iter()
        .chain(pieces)
        .enumerate()
        .map(|(id, piece)| (piece, id))
        .collect();
    let special = |id: usize| json!({ "id": SPECIAL[id], "ids": [id], "tokens": [SPECIAL[id]] });
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added_tokens(),
        "normalizer": null,
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true,
                           "use_regex": true },
        "decoder": { "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true,
                     "use_regex": true },
        "post_processor": { "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "<s>", "type_id": 0 } },
                       { "Sequence": { "id": "A", "type_id": 0 } },
                       { "SpecialToken": { "id": "</s>", "type_id": 0 } }],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } },
                     { "Sequence": { "id": "B", "type_id": 0 } }],
            "special_tokens": { "<s>": special(2), "</s>": special(1) } },
        "model": { "type": "BPE", "dropout": null, "unk_token": null,
                   "continuing_subword_prefix": null, "end_of_word_suffix": null,
                   "fuse_unk": false, "byte_fallback": false, "vocab": vocab,
                   "merges": [["t", "h"], ["th", "e"], ["\u{120}", "the"], ["i", "n"],
                              ["\u{120}", "a"]] },
    })
}

/// Pieces of SentencePiece as T5's, with these letters.
fn unigram(letters: impl Iterator<Item = String>) -> Value {
    let pieces = ["\u{2581}", "\u{2581}the", "ed", "in"].map(String::from).into_iter();
    let vocab: Vec<Value> = SPECIAL
        .map(|token| json!([token, 0.0]))
        .into_iter()
        .chain(pieces.chain(letters).map(|piece| json!([piece, -2.0])))
        .collect();
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added_tokens(),
        "normalizer": null, "post_processor": null,
        "pre_tokenizer": { "type": "Metaspace", "replacement": "\u{2581}",
                           "prepend_scheme": "always", "split": true },
        "decoder": { "type": "Metaspace", "replacement": "\u{2581}",
                     "prepend_scheme": "always", "split": true },
        "model": { "type": "Unigram", "unk_id": 3, "vocab": vocab, "byte_fallback": false },
    })
}

/// A tiny network as transformers wrote it, with a tokenizer.
fn checkpoint(name: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in ["config.json", "generation_config.json", "model.safetensors"] {
        if parity(name).join(file).exists() {
            fs::copy(parity(name).join(file), directory.path().join(file)).unwrap();
        }
    }
    let tokenizer = match name {
        "bart" => byte_level(),
        // Its network knows 61 tokens.
        "bert" => unigram(letters().take(26)),
        _ => unigram(letters()),
    };
    fs::write(directory.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(directory.path().join("optimizer.pt"), "left over").unwrap();
    directory
}

fn path(directory: &TempDir) -> &str {
    directory.path().to_str().unwrap()
}

fn record(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record = ran.records().remove(0);
    assert_eq!(faults_in("model.schema.json", &record), [""; 0], "{record}");
    record
}

/// Every file below a directory, with its content.
fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(tree(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    found
}

#[test]
fn checkpoints_of_every_layout_are_added_chosen_and_rewrite() {
    let home = tempfile::tempdir().unwrap();
    let models = home.path().join("data/fnstore/models");
    for (name, layout) in [("bart", "bart"), ("t5", "t5"), ("flan-t5", "t5"), ("marian", "marian")]
    {
        let checkpoint = checkpoint(name);
        let added = record(&model(&home, &["add", path(&checkpoint), "--name", name]));
        assert_eq!((&added["name"], &added["layout"]), (&json!(name), &json!(layout)));
        assert_eq!((&added["kind"], &added["is_default"]), (&json!("paraphraser"), &json!(false)));
        assert_eq!(added["path"], json!(models.join(name)));
        assert!(!models.join(name).join("optimizer.pt").exists());
        assert!(models.join(name).join("BLAKE3SUMS").exists());

        let chosen = record(&model(&home, &["use", name]));
        assert_eq!((&chosen["name"], &chosen["is_default"]), (&json!(name), &json!(true)));
        let listed: Vec<Value> = model(&home, &["list"]).records();
        let defaults = listed.iter().filter(|model| {
            assert_eq!(faults_in("model.schema.json", model), [""; 0]);
            model["is_default"] == true && model["kind"] == "paraphraser"
        });
        assert_eq!(defaults.map(|model| &model["name"]).collect::<Vec<_>>(), [&json!(name)]);

        for numbers in ["f32", "int8"] {
            let arguments = [
                "paraphrase",
                "--device",
                "cpu",
                "--beam",
                "8",
                "--n-best",
                "4",
                "--numbers",
                numbers,
                "--avoid",
                "a",
                "--avoid",
                "in",
                "--max-length-factor",
                "1",
            ];
            let ran = fnstore(home.path(), &arguments, "the cat sat in a hat.\n");
            assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
            let record = ran.records().remove(0);
            let by_path = [&arguments[..], &["--model", path(&checkpoint)]].concat();
            let by_path = fnstore(home.path(), &by_path, "the cat sat in a hat.\n").records();
            assert_eq!(record["paraphrases"], by_path[0]["paraphrases"], "{name}");
            let paraphrases = record["paraphrases"].as_array().unwrap();
            assert!(!paraphrases.is_empty(), "{name}: {record}");
            for paraphrase in paraphrases {
                let text = paraphrase["text"].as_str().unwrap().to_lowercase();
                let mut words = text.split(|c: char| !c.is_alphanumeric());
                assert!(!words.any(|word| matches!(word, "a" | "in")), "{name}: {text}");
                assert!(!text.contains(['<', '\u{120}', '\u{2581}']), "{name}: {text}");
            }
        }
    }
    // The one that comes with the program, again.
    assert_eq!(record(&model(&home, &["use", "paraphrase"]))["place"], "shipped");
}

#[test]
fn a_phrase_can_be_required_of_a_byte_level_model() {
    let home = tempfile::tempdir().unwrap();
    let bart = checkpoint("bart");
    let arguments = [
        "paraphrase",
        "--model",
        path(&bart),
        "--device",
        "cpu",
        "--beam",
        "8",
        "--require",
        "in the",
    ];
    let ran = fnstore(home.path(), &arguments, "the cat sat.\n");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let record = ran.records().remove(0);
    let texts = record["paraphrases"].as_array().unwrap();
    assert!(!texts.is_empty());
    for paraphrase in texts {
        let text = paraphrase["text"].as_str().unwrap().to_lowercase();
        assert!(text.contains("in the"), "{text}");
    }
}

/// Asserts that a checkpoint that was changed is refused, and nothing is left of it.
#[track_caller]
fn assert_refused(change: impl FnOnce(&Path), code: i32, says: &[&str]) {
    let (home, bart) = (tempfile::tempdir().unwrap(), checkpoint("bart"));
    change(bart.path());
    let ran = model(&home, &["add", path(&bart), "--name", "mine"]);
    assert_eq!(ran.code, Some(code), "{ran:?}");
    assert!(says.iter().all(|part| ran.stderr.contains(part)), "{says:?} in {}", ran.stderr);
    assert!(ran.stdout.is_empty() && tree(&home.path().join("data")).is_empty());
}

fn edit_config(directory: &Path, field: &str, value: Value) {
    let path = directory.join("config.json");
    let mut config: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    config[field] = value;
    fs::write(path, config.to_string()).unwrap();
}

#[test]
fn what_does_not_load_is_not_added() {
    let remove = |name: &'static str| move |at: &Path| fs::remove_file(at.join(name)).unwrap();
    let set = |field: &'static str, value: Value| move |at: &Path| edit_config(at, field, value);
    assert_refused(remove("config.json"), 65, &["M-config", "config.json"]);
    assert_refused(remove("model.safetensors"), 65, &["M-weights", "model.safetensors"]);
    assert_refused(remove("tokenizer.json"), 65, &["M-tokenizer", "tokenizer.json"]);
    assert_refused(set("model_type", json!("gpt2")), 65, &["M-config", "`gpt2`", "`t5`"]);
    let act = set("activation_function", json!("mish"));
    assert_refused(act, 65, &["M-config", "`activation_function` is `mish`"]);
    let width = set("encoder_ffn_dim", json!(57));
    assert_refused(width, 65, &["M-weights", "model.encoder.layers.0.fc1.weight", "[57, 40]"]);
    let layers = set("decoder_layers", json!(4));
    assert_refused(layers, 65, &["M-weights", "no tensor `model.decoder.layers.3"]);
    let mark = set("avoid_token", json!("<avoid>"));
    assert_refused(mark, 65, &["M-config", "`avoid_token` is `<avoid>`"]);
    let words = set("vocab_size", json!(50));
    assert_refused(words, 65, &["M-weights", "`final_logits_bias`", "[1, 50]"]);
    let broken = |at: &Path| fs::write(at.join("tokenizer.json"), "{").unwrap();
    assert_refused(broken, 65, &["M-tokenizer", "cannot parse tokenizer"]);
    let pickled = |at: &Path| {
        fs::rename(at.join("model.safetensors"), at.join("pytorch_model.bin")).unwrap();
    };
    assert_refused(pickled, 65, &["M-weights", "`pytorch_model.bin`", "save_pretrained"]);
    let sentence_piece = |at: &Path| {
        fs::rename(at.join("tokenizer.json"), at.join("spiece.model")).unwrap();
    };
    assert_refused(sentence_piece, 65, &["M-tokenizer", "`spiece.model`", "save_pretrained"]);
}

#[test]
fn names_that_are_taken_or_none_change_nothing() {
    let (home, bart) = (tempfile::tempdir().unwrap(), checkpoint("bart"));
    record(&model(&home, &["add", path(&bart), "--name", "mine"]));
    let before = tree(home.path());
    let taken = model(&home, &["add", path(&bart), "--name", "mine"]);
    assert_eq!(taken.code, Some(2), "{taken:?}");
    assert!(taken.stderr.contains("mine` already"), "{}", taken.stderr);
    for name in ["../out", ".hidden", "a b", ""] {
        let ran = model(&home, &["add", path(&bart), "--name", name]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains("cannot name a model"), "{}", ran.stderr);
    }
    let absent = model(&home, &["add", "/nowhere/at-all"]);
    assert_eq!(absent.code, Some(2), "{absent:?}");
    assert!(absent.stderr.contains("there is no directory and no GGUF file `/nowhere/at-all`"));
    assert_eq!(tree(home.path()), before);
}

#[test]
fn a_choice_that_fails_leaves_the_one_before() {
    let (home, bart) = (tempfile::tempdir().unwrap(), checkpoint("bart"));
    record(&model(&home, &["add", path(&bart), "--name", "mine"]));
    record(&model(&home, &["use", "mine"]));
    let before = tree(home.path());
    let models = home.path().join("data/fnstore/models");
    let by_path = models.join("mine");
    for (name, says) in [
        ("nobody", "there is no model `nobody`; there are `mine`"),
        (by_path.to_str().unwrap(), "there is no model"),
        ("mine/", "there is no model `mine/`"),
        (".", "there is no model `.`"),
        ("..", "there is no model `..`"),
        ("aligner", "`aligner` is an aligner, expected a rewriter"),
    ] {
        let ran = model(&home, &["use", name]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
    assert_eq!(tree(home.path()), before);

    // A choice that is gone, and one that is nonsense, are said with the file that made it.
    fs::rename(models.join("mine"), models.join("other")).unwrap();
    let ran = fnstore(home.path(), &["paraphrase"], "They left.\n");
    assert_eq!(ran.code, Some(69), "{ran:?}");
    for part in ["default.json", "there is no model `mine`", "fnstore model use"] {
        assert!(ran.stderr.contains(part), "{}", ran.stderr);
    }
    fs::write(models.join("default.json"), "[1]").unwrap();
    let ran = model(&home, &["list"]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    assert!(ran.stderr.contains("default.json"), "{}", ran.stderr);
    record(&model(&home, &["use", "other"]));
}

#[test]
fn a_changed_file_is_found_until_it_is_recorded_anew() {
    let (home, bart) = (tempfile::tempdir().unwrap(), checkpoint("bart"));
    record(&model(&home, &["add", path(&bart), "--name", "mine"]));
    let check = |arguments: &[&str], code: i32| -> Vec<Value> {
        let ran = model(&home, &[&["verify"], arguments].concat());
        assert_eq!(ran.code, Some(code), "{ran:?}");
        let records = ran.records();
        for record in &records {
            assert_eq!(faults_in("model-check.schema.json", record), [""; 0], "{record}");
        }
        records
    };
    let whole = check(&["mine"], 0).remove(0);
    assert_eq!((&whole["is_whole"], &whole["has_sums"]), (&json!(true), &json!(true)));
    // A checkpoint that was never added has no hashes, and may be whole all the same.
    assert_eq!(check(&[path(&bart)], 0)[0]["has_sums"], json!(false));

    let mine = home.path().join("data/fnstore/models/mine");
    let mut weights = fs::read(mine.join("model.safetensors")).unwrap();
    *weights.last_mut().unwrap() ^= 1;
    fs::write(mine.join("model.safetensors"), &weights).unwrap();
    let changed = check(&["mine"], 1).remove(0);
    assert_eq!(changed["findings"][0]["code"], "M-sum");
    assert!(changed["findings"][0]["detail"].as_str().unwrap().contains("model.safetensors"));
    assert_eq!(check(&["mine", "--record"], 0)[0]["is_whole"], json!(true));
    assert_eq!(check(&["mine"], 0)[0]["has_sums"], json!(true));

    // Cut short: it does not load, and recording it would call it whole.
    fs::write(mine.join("model.safetensors"), &weights[..weights.len() / 2]).unwrap();
    let sums = fs::read(mine.join("BLAKE3SUMS")).unwrap();
    let codes = |record: &Value| -> Vec<String> {
        let findings = record["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(codes(&check(&["mine"], 1)[0]), ["M-sum", "M-weights"]);
    assert_eq!(codes(&check(&["mine", "--record"], 1)[0]), ["M-weights"]);
    assert_eq!(fs::read(mine.join("BLAKE3SUMS")).unwrap(), sums);
    // The broken one is listed with its problem, too.
    let ran = model(&home, &["list"]);
    let broken = ran.records().into_iter().find(|model| model["name"] == "mine").unwrap();
    assert!(broken["problem"].is_string() && broken["kind"].is_null(), "{broken}");
    assert!(ran.stderr.contains("cannot be used"), "{}", ran.stderr);

    let ran = model(&home, &["verify", "nobody"]);
    assert_eq!(ran.code, Some(69), "{ran:?}");
    assert!(ran.stderr.contains("there is no model `nobody`"), "{}", ran.stderr);
}

#[test]
fn an_encoder_is_a_model_that_does_not_rewrite() {
    let home = tempfile::tempdir().unwrap();
    let bert = checkpoint("bert");
    let added = record(&model(&home, &["add", path(&bert), "--name", "small"]));
    assert_eq!((&added["kind"], &added["layout"]), (&json!("encoder"), &json!("bert")));
    let ran = model(&home, &["use", "small"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`small` is an encoder"), "{}", ran.stderr);
}

#[test]
fn an_encoder_with_a_tokenizer_of_more_words_than_it_knows_is_not_added() {
    let home = tempfile::tempdir().unwrap();
    let bert = checkpoint("bert");
    fs::write(bert.path().join("tokenizer.json"), unigram(letters()).to_string()).unwrap();
    let ran = model(&home, &["add", path(&bert), "--name", "small"]);
    assert_eq!(ran.code, Some(65), "{ran:?}");
    for part in ["M-tokenizer", "the tokenizer has `73` ids", "knows `61`"] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
}

#[test]
fn a_directory_of_models_may_be_empty_or_given() {
    let home = tempfile::tempdir().unwrap();
    let empty = home.path().join("none");
    let ran = model(&home, &["list", "--models", empty.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("there is no model in"), "{}", ran.stderr);
    let bart = checkpoint("bart");
    let given = ["--models", empty.to_str().unwrap()];
    record(&model(&home, &[&["add", path(&bart), "--name", "paraphrase"], &given[..]].concat()));
    let listed = model(&home, &[&["list"], &given[..]].concat()).records();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["place"], &listed[0]["is_default"]), (&json!("own"), &json!(true)));
    let table = fnstore(home.path(), &["model", "list", "--format", "table"], "");
    assert!(table.stdout.contains("paraphraser") && table.stdout.contains("default"), "{table:?}");
}

#[cfg(unix)]
#[test]
fn a_linked_checkpoint_is_called_as_its_link() {
    let (home, bart) = (tempfile::tempdir().unwrap(), checkpoint("bart"));
    let link = home.path().join("linked");
    std::os::unix::fs::symlink(bart.path(), &link).unwrap();
    let added = record(&model(&home, &["add", link.to_str().unwrap()]));
    assert_eq!(added["name"], "linked");
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_earlier_directory_hides_or_decides_is_said() {
    let (home, bart) = (tempfile::tempdir().unwrap(), checkpoint("bart"));
    // The models beside the program come before the user's own.
    let program = home.path().join("bin/fnstore");
    fs::create_dir(home.path().join("bin")).unwrap();
    // By another process: a program that this one has open for writing may be inherited by a test
    // beside this one, and cannot be run meanwhile.
    let from = env!("CARGO_BIN_EXE_fnstore");
    let copied = std::process::Command::new("cp").arg(from).arg(&program).status().unwrap();
    assert!(copied.success());
    let earlier = home.path().join("share/fnstore/models");
    record(&model(
        &home,
        &["add", path(&bart), "--name", "x", "--models", earlier.to_str().unwrap()],
    ));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.env_remove("FNSTORE_MODELS").env("FNSTORE_DIR", "/nonexistent/store");
        command.env("XDG_DATA_HOME", home.path().join("data"));
        command.env("FNSTORE_CACHE", home.path().join("cache"));
        command.args(["model", "--format", "jsonl"]).args(arguments);
        Ran::of(command.output().unwrap())
    };
    record(&run(&["use", "x"]));
    let hidden = run(&["add", path(&bart), "--name", "x"]);
    let shown = record(&hidden);
    assert_eq!((&shown["is_default"], &shown["is_hidden"]), (&json!(false), &json!(true)));
    assert!(hidden.stderr.contains("warning: a directory that is looked at earlier"), "{hidden:?}");

    record(&run(&["add", path(&bart), "--name", "mine"]));
    fs::write(earlier.join("default.json"), "{\"paraphraser\": \"x\"}").unwrap();
    let without_effect = run(&["use", "mine"]);
    assert_eq!(record(&without_effect)["is_default"], json!(false));
    assert!(without_effect.stderr.contains("take `x` still"), "{without_effect:?}");
}
