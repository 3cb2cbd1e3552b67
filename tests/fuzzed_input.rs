//! The readers of what comes from outside, fed for a minute in all: XML, JSON lines, queries, and
//! the records of the store's rows. Every input gives a value or an error of the right kind; a
//! panic, an overflow of the stack or a runaway allocation ends the test.
//!
//! Inputs are valid ones, mutated (bytes flipped, cut, doubled, spliced from another input, tokens
//! of the format put in), and some that are built to hurt. `FNSTORE_FUZZ_SECONDS` says how long all
//! four take together, `FNSTORE_FUZZ_SEED` repeats a run. An input that fails is made smaller and
//! printed as bytes of Rust, to become a regression test.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fnstore::store::{RowFaultKind, decode_row};
use rocksdb::{DB, IteratorMode, Options};

use crate::mutated_input::{
    LABELLED, PIECES, QUERIES, assert_labelled_texts, assert_parsed, assert_placed, assert_records,
    files, json_lines, read,
};
use crate::{generated, mini};

/// Of all four targets together.
const SECONDS: u64 = 60;

const TARGETS: u32 = 4;

/// Inputs longer than this are cut: what goes wrong does so in short ones.
const LONGEST: usize = 64 << 10;

/// xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`; 0 when that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What a target is fed with.
struct Inputs<'a> {
    valid: Vec<Vec<u8>>,
    /// What means something in the format.
    tokens: &'a [&'a [u8]],
    /// An input that is built to hurt, of about a size.
    hostile: &'a dyn Fn(&mut Random, usize) -> Vec<u8>,
}

impl Inputs<'_> {
    fn next(&self, random: &mut Random) -> Vec<u8> {
        if random.below(64) == 0 {
            let size = 1 << random.below(17);
            return (self.hostile)(random, size);
        }
        let mut input = random.pick(&self.valid).clone();
        for _ in 0..=random.below(6) {
            self.mutate(&mut input, random);
        }
        input.truncate(LONGEST);
        input
    }

    fn mutate(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len());
        let end = (at + 1 + random.below(64)).min(input.len());
        match random.below(8) {
            0 | 1 if !input.is_empty() => input[at] ^= 1 << random.below(8),
            2 if !input.is_empty() => input[at] = *random.pick(&[0, 0x7f, 0x80, 0xc0, 0xfd, 0xff]),
            3 if !input.is_empty() => drop(input.drain(at..end)),
            4 => input.truncate(at),
            5 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            6 => {
                let other = random.pick(&self.valid);
                let from = random.below(other.len());
                let to = (from + random.below(200)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            _ => drop(input.splice(at..at, random.pick(self.tokens).iter().copied())),
        }
    }
}

/// Feeds a target for its share of the time.
fn feed(target: &str, inputs: &Inputs<'_>, read: impl Fn(&[u8])) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let time = Duration::from_secs(number("FNSTORE_FUZZ_SECONDS").unwrap_or(SECONDS)) / TARGETS;
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
    let seed = number("FNSTORE_FUZZ_SEED").unwrap_or(clock | 1);
    let mut random = Random(seed);
    let fails = |input: &[u8]| catch_unwind(AssertUnwindSafe(|| read(input))).is_err();
    let started = Instant::now();
    let mut count = 0_u64;
    for input in &inputs.valid {
        assert!(!fails(input), "{target}: as it is: b\"{}\"", input.escape_ascii());
    }
    while count == 0 || started.elapsed() < time {
        let input = inputs.next(&mut random);
        count += 1;
        if fails(&input) {
            let input = smaller(input, fails);
            panic!("{target}, seed {seed}, input {count}: b\"{}\"", input.escape_ascii());
        }
    }
    println!("{target}: {count} inputs, seed {seed}");
}

/// The input without whatever it fails without.
fn smaller(mut input: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at + piece <= input.len() {
            let without = [&input[..at], &input[at + piece..]].concat();
            if fails(&without) {
                input = without;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    input
}

/// `size` times the one, then as often the other.
fn nested(open: &str, close: &str, size: usize) -> Vec<u8> {
    (open.repeat(size) + &close.repeat(size)).into_bytes()
}

#[test]
fn xml_of_any_kind_is_read_or_refused_with_its_line() {
    let mut tokens: Vec<&[u8]> = PIECES.iter().map(|piece| piece.as_bytes()).collect();
    tokens.extend::<[&[u8]; 6]>([
        b"ID=\"0\"",
        b"start=\"-1\"",
        b"end=\"4294967296\"",
        b"<layer ",
        b"\0",
        b"\xff\xfe",
    ]);
    // The first byte says which file it is.
    let valid =
        (0_u8..).zip(files()).map(|(which, (_, content))| [&[which], content.as_slice()].concat());
    let hostile = |random: &mut Random, size: usize| {
        let text = match random.below(5) {
            0 => nested("<frame>", "</frame>", size),
            1 => format!("<frame name=\"{}\"/>", "x".repeat(size)).into_bytes(),
            2 => format!(
                "<frame {}/>",
                (0..size / 8).map(|at| format!("a{at}='' ")).collect::<String>()
            )
            .into_bytes(),
            3 => format!(
                "<!DOCTYPE f [{}]><frame>&e9;</frame>",
                (1..10)
                    .map(|level| {
                        format!("<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10))
                    })
                    .collect::<String>()
            )
            .into_bytes(),
            _ => format!(
                "<frame><definition>{}</definition></frame>",
                "&lt;fex&gt;".repeat(size / 8)
            )
            .into_bytes(),
        };
        [vec![random.next() as u8], text].concat()
    };
    let inputs = Inputs { valid: valid.collect(), tokens: &tokens, hostile: &hostile };
    feed("XML", &inputs, |input| {
        let Some((which, content)) = input.split_first() else { return };
        let (file, _) = &files()[usize::from(*which) % files().len()];
        if let Err(error) = read(file, content) {
            assert_placed(file, content, &error);
        }
    });
}

#[test]
fn json_lines_of_any_kind_are_read_or_refused_with_their_line() {
    let mut lines = json_lines().split_inclusive(|byte| *byte == b'\n');
    let header = lines.next().unwrap();
    // One record behind the header, so that most of an input is looked at.
    let mut valid: Vec<Vec<u8>> = lines.map(|line| [header, line].concat()).collect();
    valid.push(LABELLED.as_bytes().to_vec());
    let tokens: [&[u8]; 16] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b"\\",
        b"\\ud800",
        b"\\u0000",
        b"null",
        b"-1",
        b"1e400",
        b"18446744073709551616",
        b"\n",
        b"\"start\":",
        b"\"end\":0,",
        b"\xf0\x9f\x98",
    ];
    let hostile = |random: &mut Random, size: usize| match random.below(4) {
        0 => nested("[", "]", size),
        1 => [header, &nested("{\"text\":", "}", size)].concat(),
        2 => format!("{{\"text\":\"{}\",\"spans\":[]}}\n", "\\ud83d\\ude00".repeat(size / 12))
            .into_bytes(),
        _ => format!(
            "{{\"text\":\"x\",\"spans\":[{}]}}\n",
            "{\"start\":0,\"end\":1,\"type\":\"T\"},".repeat(size / 32)
        )
        .into_bytes(),
    };
    feed("JSON lines", &Inputs { valid, tokens: &tokens, hostile: &hostile }, |input| {
        assert_records(input);
        assert_labelled_texts(input);
    });
}

#[test]
fn queries_of_any_kind_are_errors_or_read_as_they_are_written() {
    let tokens: [&[u8]; 20] = [
        b"frame", b"fe", b"text", b"=", b"!=", b"<=", b"~", b"(", b")", b"{", b"}", b" ", b"not ",
        b"or ", b"and ", b"\"", b"\\", b"*", b"(?i)", b"{1000}",
    ];
    let hostile = |random: &mut Random, size: usize| match random.below(5) {
        0 => nested("(", ")", size),
        1 => "not ".repeat(size / 4).into_bytes(),
        2 => "frame=a or ".repeat(size / 10).into_bytes(),
        3 => format!("text~\"{}\"", "(a{99}){99}".repeat(size / 11)).into_bytes(),
        _ => format!("trigger=\"{}\"", "*?".repeat(size / 2)).into_bytes(),
    };
    let valid = QUERIES.iter().map(|query| query.as_bytes().to_vec()).collect();
    feed("queries", &Inputs { valid, tokens: &tokens, hostile: &hostile }, |input| {
        assert_parsed(&String::from_utf8_lossy(input));
    });
}

/// Every row of a store, as one input each: the family's number, the length of the key, the key,
/// the value.
fn rows(families: &mut Vec<String>) -> Vec<Vec<u8>> {
    let (dir, database, report) = mini::imported();
    generated::write(&database, report.release.id);
    // With judgements, decisions and editions.
    let lines = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/format-1/release.jsonl");
    database.import_jsonl(&lines, Some("reviewed"), &mut |_| {}).unwrap();
    drop(database);
    let mut rows = Vec::new();
    let (options, path) = (Options::default(), dir.path().join("db"));
    let names: Vec<String> = DB::list_cf(&options, &path).unwrap();
    let db = DB::open_cf(&options, &path, &names).unwrap();
    for name in names.iter().filter(|name| *name != "default") {
        let number = families.len() as u8;
        families.push(name.clone());
        for row in db.iterator_cf(db.cf_handle(name).unwrap(), IteratorMode::Start) {
            let (key, value) = row.unwrap();
            rows.push([&[number, key.len() as u8], &*key, &*value].concat());
        }
    }
    rows
}

#[test]
fn records_of_any_kind_are_decoded_or_refused() {
    let mut families = Vec::new();
    let valid = rows(&mut families);
    assert!(valid.len() > 500 && families.len() > 15, "{} rows of {families:?}", valid.len());
    // Numbers that say that a length of some bytes follows, and the longest of them.
    let tokens: [&[u8]; 8] = [
        b"\0",
        b"\x01",
        b"\x02",
        b"\xfb\xff\xff",
        b"\xfc\xff\xff\xff\xff",
        b"\xfd\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\xff",
        b"\xfe\xfe",
    ];
    let hostile = |random: &mut Random, size: usize| {
        let mut input = random.pick(&valid).clone();
        input.truncate(2 + usize::from(input[1]) + random.below(8));
        input.extend([0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, random.next() as u8]);
        input.resize(input.len() + size, random.next() as u8);
        input
    };
    let inputs = Inputs { valid: valid.clone(), tokens: &tokens, hostile: &hostile };
    feed("records", &inputs, |input| {
        let [family, length, rest @ ..] = input else { return };
        let family = &families[usize::from(*family) % families.len()];
        let (key, value) = rest.split_at(usize::from(*length).min(rest.len()));
        match decode_row(family, key, value) {
            Ok(_) | Err((RowFaultKind::Key | RowFaultKind::Record, _)) => {}
            Err(other) => panic!("{other:?}"),
        }
    });
}
