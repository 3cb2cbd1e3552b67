//! A release of any size for the benches, made by a seeded generator, and a store of it.
//!
//! The generated files have FrameNet's shape and about its proportions: some ten LUs a frame, some
//! dozen exemplars an LU, three FEs a set. Words are syllables drawn at random, so that the index
//! has many different ones.

pub(crate) mod synthetic;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use fnstore::database::Database;
use fnstore::transfer::ImportOptions;

/// Frames of a generated release; FrameNet 1.5 has 1,019.
const FRAMES: u32 = 60;
const LUS_OF_A_FRAME: u32 = 10;
const SENTENCES_OF_AN_LU: u32 = 13;
const WORDS_OF_A_SENTENCE: u32 = 20;
const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

/// A store to measure on: a copy of nothing, only read.
pub(crate) struct BenchStore {
    /// Where it lies.
    pub(crate) path: PathBuf,
    /// What it is, for the table.
    pub(crate) what: String,
    temporary: Option<tempfile::TempDir>,
}

impl BenchStore {
    /// The store named by `FNSTORE_BENCH_STORE`, or one of a generated release.
    pub(crate) fn open() -> Result<Self, Box<dyn Error>> {
        if let Some(path) = std::env::var_os("FNSTORE_BENCH_STORE").map(PathBuf::from) {
            let what = format!("the store in {}", path.display());
            return Ok(Self { path, what, temporary: None });
        }
        let temporary = tempfile::tempdir()?;
        let release = temporary.path().join("generated");
        generate(&release)?;
        let path = temporary.path().join("store");
        Database::open_writer(&path)?.import(&release, &ImportOptions::default(), &mut |_| {})?;
        let what = format!("a generated release of {FRAMES} frames");
        Ok(Self { path, what, temporary: Some(temporary) })
    }

    /// Whether it is one of a generated release.
    pub(crate) fn is_generated(&self) -> bool {
        self.temporary.is_some()
    }
}

/// Writes a release into an empty or absent directory.
pub(crate) fn generate(root: &Path) -> Result<(), Box<dyn Error>> {
    for folder in ["frame", "lu", "fulltext"] {
        fs::create_dir_all(root.join(folder))?;
    }
    let mut random = Random(7);
    let mut index = format!("{HEAD}<frameIndex>\n");
    for frame in 1..=FRAMES {
        writeln!(index, "<frame name=\"Frame_{frame}\" ID=\"{frame}\" mDate=\"\"/>")?;
        let lus = (0..LUS_OF_A_FRAME).map(|lu| frame * 100 + lu);
        let mut listed = String::new();
        for lu in lus {
            let lemma = random.word();
            writeln!(
                listed,
                "<lexUnit status=\"Created\" POS=\"V\" name=\"{lemma}.v\" ID=\"{lu}\"/>"
            )?;
            let file = lu_file(frame, lu, &lemma, &mut random)?;
            fs::write(root.join(format!("lu/lu{lu}.xml")), file)?;
        }
        fs::write(root.join(format!("frame/Frame_{frame}.xml")), frame_file(frame, &listed))?;
    }
    index.push_str("</frameIndex>\n");
    fs::write(root.join("frameIndex.xml"), index)?;
    Ok(())
}

/// FEs of every generated frame.
const ELEMENTS: [&str; 3] = ["Agent", "Theme", "Time"];

fn frame_file(frame: u32, lexunits: &str) -> String {
    let elements: String = (1..)
        .zip(ELEMENTS)
        .map(|(number, name)| {
            format!("<FE coreType=\"Core\" name=\"{name}\" ID=\"{}\"/>\n", frame * 10 + number)
        })
        .collect();
    format!("{HEAD}<frame name=\"Frame_{frame}\" ID=\"{frame}\">\n{elements}{lexunits}</frame>\n")
}

fn lu_file(
    frame: u32,
    lu: u32,
    lemma: &str,
    random: &mut Random,
) -> Result<String, std::fmt::Error> {
    let mut file = format!(
        "{HEAD}<lexUnit status=\"Created\" POS=\"V\" name=\"{lemma}.v\" ID=\"{lu}\" \
         frame=\"Frame_{frame}\" frameID=\"{frame}\">\n<subCorpus name=\"V\">\n"
    );
    for sentence in 0..SENTENCES_OF_AN_LU {
        let id = lu * 100 + sentence;
        let words: Vec<String> = (0..WORDS_OF_A_SENTENCE)
            .map(|at| if at == 3 { lemma.to_owned() } else { random.word() })
            .collect();
        writeln!(file, "<sentence ID=\"{id}\"><text>{} </text>", words.join(" "))?;
        let starts: Vec<usize> = words
            .iter()
            .scan(0, |next, word| {
                let start = *next;
                *next += word.len() + 1;
                Some(start)
            })
            .collect();
        let label = |at: usize, rest: &str| {
            format!("<label start=\"{}\" end=\"{}\" {rest}/>", starts[at], starts[at + 1] - 2)
        };
        let elements: String = (0..)
            .zip(ELEMENTS)
            .map(|(at, name)| {
                let fe = frame as usize * 10 + at + 1;
                label(2 * at, &format!("name=\"{name}\" feID=\"{fe}\""))
            })
            .collect();
        let tags: String = (0..words.len() - 1).map(|at| label(at, "name=\"NN1\"")).collect();
        writeln!(
            file,
            "<annotationSet status=\"UNANN\" ID=\"{}\"><layer rank=\"1\" name=\"BNC\">{tags}\
             </layer></annotationSet>\n<annotationSet status=\"MANUAL\" ID=\"{}\">\
             <layer rank=\"1\" name=\"FE\">{elements}</layer>\
             <layer rank=\"1\" name=\"Target\">{}</layer></annotationSet></sentence>",
            2 * id,
            2 * id + 1,
            label(3, "name=\"Target\"")
        )?;
    }
    file.push_str("</subCorpus>\n</lexUnit>\n");
    Ok(file)
}

/// A seeded generator: xorshift, which is all that made-up words need.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 12] =
            ["ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te"];
        (0..2 + self.below(3)).map(|_| SYLLABLES[self.below(SYLLABLES.len())]).collect()
    }
}
