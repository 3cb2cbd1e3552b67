//! The database files of Princeton WordNet 3.0 and 3.1: `data.*`, `index.*` and `*.exc`, as
//! `wndb(5WN)` describes them.
//!
//! A synset's number is that of WordNet's Prolog files: one digit for the part of speech, and the
//! eight digits of its place in the file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use super::error::{At, text_of};
use super::{LexicaError, Result, WordnetFiles, wordnet_lemma};
use crate::model::{IrregularForm, Synset, SynsetId, SynsetRelation, Word, WordClass};

/// The files of each part of speech.
const FILES: [(&str, WordClass); 4] = [
    ("noun", WordClass::Noun),
    ("verb", WordClass::Verb),
    ("adj", WordClass::Adjective),
    ("adv", WordClass::Adverb),
];

/// What stands before the place in its file in a synset's number.
const FILE_SPAN: u32 = 100_000_000;

/// The symbols of pointers with the relations' names.
const RELATIONS: [(&str, &str); 28] = [
    ("!", "antonym"),
    ("@", "hypernym"),
    ("@i", "instance_hypernym"),
    ("~", "hyponym"),
    ("~i", "instance_hyponym"),
    ("#m", "holo_member"),
    ("#s", "holo_substance"),
    ("#p", "holo_part"),
    ("%m", "mero_member"),
    ("%s", "mero_substance"),
    ("%p", "mero_part"),
    ("=", "attribute"),
    ("+", "derivation"),
    (";c", "domain_topic"),
    ("-c", "has_domain_topic"),
    (";r", "domain_region"),
    ("-r", "has_domain_region"),
    (";u", "exemplifies"),
    ("-u", "is_exemplified_by"),
    (";", "domain"),
    ("-", "has_domain"),
    ("*", "entails"),
    (">", "causes"),
    ("^", "also"),
    ("$", "similar"),
    ("&", "similar"),
    ("<", "participle"),
    ("\\", "pertainym"),
];

/// The lexicographer's files by number, as `lexnames(5WN)` lists them.
const TOPICS: [&str; 45] = [
    "adj.all",
    "adj.pert",
    "adv.all",
    "noun.Tops",
    "noun.act",
    "noun.animal",
    "noun.artifact",
    "noun.attribute",
    "noun.body",
    "noun.cognition",
    "noun.communication",
    "noun.event",
    "noun.feeling",
    "noun.food",
    "noun.group",
    "noun.location",
    "noun.motive",
    "noun.object",
    "noun.person",
    "noun.phenomenon",
    "noun.plant",
    "noun.possession",
    "noun.process",
    "noun.quantity",
    "noun.relation",
    "noun.shape",
    "noun.state",
    "noun.substance",
    "noun.time",
    "verb.body",
    "verb.change",
    "verb.cognition",
    "verb.communication",
    "verb.competition",
    "verb.consumption",
    "verb.contact",
    "verb.creation",
    "verb.emotion",
    "verb.motion",
    "verb.perception",
    "verb.possession",
    "verb.social",
    "verb.stative",
    "verb.weather",
    "adj.ppl",
];

/// Where the database files lie: in the directory itself, or in its `dict`.
pub(super) fn directory(path: &Path) -> Option<PathBuf> {
    let has_files = |directory: &PathBuf| {
        FILES.iter().any(|(name, _)| directory.join(format!("data.{name}")).is_file())
    };
    [path.to_owned(), path.join("dict")].into_iter().find(has_files)
}

pub(super) fn read(directory: &Path) -> Result<WordnetFiles> {
    let mut files = WordnetFiles { language: "en".to_owned(), ..WordnetFiles::default() };
    let mut data = Data::default();
    let has = |name: &str| directory.join(name).is_file();
    for (name, class) in FILES {
        let [file, index] = ["data", "index"].map(|kind| format!("{kind}.{name}"));
        match (has(&file), has(&index)) {
            (true, true) => {
                let text = read_file(directory, &file, &mut files)?;
                read_data(&file, class, &text, &mut files, &mut data)?;
            }
            (false, false) => {}
            (is_there, _) => {
                let (file, with) = if is_there { (index, file) } else { (file, index) };
                let directory = directory.to_owned();
                return Err(LexicaError::Missing { directory, file, with });
            }
        }
    }
    check_targets(&files, &data)?;
    name_satellites(&mut files, &data);
    for (name, class) in FILES {
        let [index, exceptions] = [format!("index.{name}"), format!("{name}.exc")];
        if has(&index) {
            let text = read_file(directory, &index, &mut files)?;
            read_index(&index, class, &text, &mut files.words, &data)?;
        }
        if has(&exceptions) {
            let text = read_file(directory, &exceptions, &mut files)?;
            read_exceptions(&exceptions, class, &text, &mut files.irregular)?;
        }
    }
    check_members(&files, &data)?;
    files.synsets.sort_by_key(|synset| synset.id);
    if files.name.is_empty() {
        "wordnet".clone_into(&mut files.name);
    }
    Ok(files)
}

fn read_file(directory: &Path, name: &str, files: &mut WordnetFiles) -> Result<String> {
    let path = directory.join(name);
    let bytes = fs::read(&path).map_err(|source| LexicaError::Io { path, source })?;
    files.bytes += bytes.len() as u64;
    text_of(name, bytes)
}

/// The lines of a file behind its licence, each with its place. Lines of the licence begin with
/// two spaces.
fn lines_of<'a>(file: &'a str, text: &'a str) -> impl Iterator<Item = (At<'a>, &'a str)> {
    let numbered =
        text.lines().enumerate().map(move |(at, line)| (At { file, line: at + 1 }, line));
    numbered.filter(|(_, line)| !line.starts_with("  ") && !line.trim().is_empty())
}

/// Licence and version from the head of a data file: `  14 WordNet 3.0 Copyright 2006 ...`.
fn read_head(text: &str, files: &mut WordnetFiles) {
    let head = text.lines().take_while(|line| line.starts_with("  "));
    let unnumbered = head.map(|line| {
        let line = line.trim_start();
        line.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim()
    });
    let lines: Vec<&str> = unnumbered.collect();
    for line in &lines {
        let Some(rest) = line.strip_prefix("WordNet ") else { continue };
        if let Some((version, _)) = rest.split_once(" Copyright") {
            version.clone_into(&mut files.version);
            files.name = format!("wordnet-{version}");
        }
    }
    files.licence = lines.join("\n").trim().to_owned();
}

/// The words of a line, one after the other.
struct Fields<'a> {
    at: At<'a>,
    fields: std::str::Split<'a, char>,
}

impl<'a> Fields<'a> {
    fn next(&mut self, expected: &str) -> Result<&'a str> {
        let ended = || self.at.wrong("the line's end", expected);
        self.fields.next().filter(|field| !field.is_empty()).ok_or_else(ended)
    }

    fn number(&mut self, radix: u32, expected: &str) -> Result<u32> {
        let field = self.next(expected)?;
        let wrong = |_| self.at.wrong(format!("`{field}`"), expected);
        u32::from_str_radix(field, radix).map_err(wrong)
    }

    /// A synset's place in its file, of eight digits.
    fn offset(&mut self) -> Result<u32> {
        const EXPECTED: &str = "a place of eight digits";
        let number = self.number(10, EXPECTED)?;
        let is_place = number < FILE_SPAN;
        is_place.then_some(number).ok_or_else(|| self.at.wrong(number.to_string(), EXPECTED))
    }

    /// A part of speech, with its letter.
    fn class(&mut self) -> Result<(WordClass, &'a str)> {
        const EXPECTED: &str = "a part of speech: n, v, a, s or r";
        let letter = self.next(EXPECTED)?;
        let class = WordClass::of_letter(letter).filter(|class| *class != WordClass::Other);
        let class = class.ok_or_else(|| self.at.wrong(format!("`{letter}`"), EXPECTED))?;
        Ok((class, letter))
    }

    /// The sentence frames of a verb, `count (+ frame word)*`, which are not kept.
    fn sentence_frames(&mut self, words: u32) -> Result<()> {
        let count = self.number(10, "the number of sentence frames")?;
        for _ in 0..count {
            let sign = self.next("`+`")?;
            if sign != "+" {
                return Err(self.at.wrong(format!("`{sign}`"), "`+`"));
            }
            self.number(10, "the number of a sentence frame")?;
            let word = self.number(16, "the number of a word, hexadecimal")?;
            if word > words {
                let expected = format!("one of the {words} words");
                return Err(self.at.wrong(format!("a sentence frame of word {word}"), expected));
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        match self.fields.next() {
            Some(rest) => Err(self.at.wrong(format!("`{rest}`"), "the line's end")),
            None => Ok(()),
        }
    }
}

fn number_of(class: WordClass, offset: u32) -> SynsetId {
    SynsetId((class as u32 + 1) * FILE_SPAN + offset)
}

/// What of the data files the others are held against.
#[derive(Default)]
struct Data {
    /// Where each synset stands: its place among all, its class and its line.
    places: HashMap<SynsetId, (usize, WordClass, usize)>,
}

impl Data {
    /// Runs `told` with the place of a synset's line.
    fn at<T>(&self, synset: SynsetId, told: impl FnOnce(At<'_>) -> T) -> T {
        let (_, class, line) = self.places[&synset];
        let name = FILES.iter().find(|(_, of)| *of == class).map_or("", |(name, _)| name);
        told(At { file: &format!("data.{name}"), line })
    }
}

fn read_data(
    file: &str,
    class: WordClass,
    text: &str,
    files: &mut WordnetFiles,
    data: &mut Data,
) -> Result<()> {
    if files.licence.is_empty() {
        read_head(text, files);
    }
    for (at, line) in lines_of(file, text) {
        let synset = synset_of(at, line)?;
        if synset.class != class {
            return Err(at.wrong(format!("a synset of `{}`", synset.class.as_str()), file));
        }
        if data.places.insert(synset.id, (files.synsets.len(), class, at.line)).is_some() {
            return Err(at.repeated("synset", synset.written));
        }
        files.synsets.push(synset);
    }
    Ok(())
}

/// The synset of a line: `offset file class count (word id)* count (pointer)* [frames] | gloss`.
fn synset_of(at: At<'_>, line: &str) -> Result<Synset> {
    let missing = || at.wrong("no `|`", "a synset and its gloss, with `|` between them");
    let (data, gloss) = line.split_once('|').ok_or_else(missing)?;
    let mut fields = Fields { at, fields: data.trim_end().split(' ') };
    let offset = fields.offset()?;
    let topic = fields.number(10, "the number of a lexicographer's file")?;
    let (class, letter) = fields.class()?;
    let words = fields.number(16, "the number of words, hexadecimal")?;
    let kind = if letter == "s" { 5 } else { class as u32 + 1 };
    let (mut members, mut keys) = (Vec::new(), Vec::new());
    for _ in 0..words {
        let word = without_marker(fields.next("a word")?);
        let sense = fields.number(16, "the number of the word's sense, hexadecimal")?;
        members.push(word.replace('_', " "));
        keys.push(format!("{}%{kind}:{topic:02}:{sense:02}::", word.to_lowercase()));
    }
    let relations = relations_of(&mut fields, words)?;
    if class == WordClass::Verb {
        fields.sentence_frames(words)?;
    }
    fields.end()?;
    let (definitions, examples) = parts_of(gloss);
    Ok(Synset {
        id: number_of(class, offset),
        written: format!("{offset:08}-{letter}"),
        class,
        is_satellite: letter == "s",
        ili: None,
        topic: TOPICS.get(topic as usize).copied().unwrap_or_default().to_owned(),
        members,
        keys,
        definitions,
        examples,
        relations,
    })
}

/// The pointers of a synset of so many words.
fn relations_of(fields: &mut Fields<'_>, members: u32) -> Result<Vec<SynsetRelation>> {
    let at = fields.at;
    let pointers = fields.number(10, "the number of pointers")?;
    let mut relations = Vec::new();
    for _ in 0..pointers {
        let symbol = fields.next("a pointer's symbol")?;
        let known = RELATIONS.iter().find(|(known, _)| *known == symbol);
        let unknown = || at.wrong(format!("the pointer `{symbol}`"), "a symbol of wninput(5WN)");
        let kind = known.ok_or_else(unknown)?.1.to_owned();
        let target = fields.offset()?;
        let target = number_of(fields.class()?.0, target);
        let words = fields.number(16, "two numbers of words, hexadecimal")?;
        if words >> 8 > members {
            let expected = format!("one of the {members} words");
            return Err(at.wrong(format!("a pointer from word {}", words >> 8), expected));
        }
        let words = ((words >> 8) as u16, (words & 0xff) as u16);
        relations.push(SynsetRelation { kind, target, words });
    }
    Ok(relations)
}

/// Puts into the sense keys of satellites the first word of their head, as `senseidx(5WN)` says.
fn name_satellites(files: &mut WordnetFiles, data: &Data) {
    let head_of = |of: &Synset| {
        let head = of.relations.iter().find(|it| it.kind == "similar" && of.is_satellite)?;
        let key = files.synsets[data.places[&head.target].0].keys.first()?;
        let (word, rest) = key.split_once('%')?;
        Some(format!("{word}:{}", rest.split(':').nth(2)?))
    };
    let heads: Vec<Option<String>> = files.synsets.iter().map(head_of).collect();
    for (synset, head) in files.synsets.iter_mut().zip(heads) {
        let Some(head) = head else { continue };
        for key in &mut synset.keys {
            key.truncate(key.len() - "::".len());
            *key += &format!(":{head}");
        }
    }
}

/// A word without the marker of an adjective's place, as in `galore(ip)`.
fn without_marker(word: &str) -> &str {
    let bare = ["(a)", "(p)", "(ip)"].iter().find_map(|marker| word.strip_suffix(marker));
    bare.unwrap_or(word)
}

/// Definition and examples of a gloss. Its parts stand between semicolons outside of quotes; one
/// that begins with a quote is an example. Of an example's author, behind it, nothing is kept.
fn parts_of(gloss: &str) -> (Vec<String>, Vec<String>) {
    let mut is_quoted = false;
    let parts = gloss.split(|letter: char| {
        is_quoted ^= letter == '"';
        letter == ';' && !is_quoted
    });
    let (mut definition, mut examples) = (Vec::new(), Vec::new());
    for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
        match part.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.rfind('"').unwrap_or(quoted.len());
                examples.extend(examples_of(&quoted[..end]));
            }
            None => definition.push(part),
        }
    }
    examples.retain(|example| !example.is_empty());
    let definition = definition.join("; ");
    (Some(definition).filter(|it| !it.is_empty()).into_iter().collect(), examples)
}

/// The examples between a part's first quote and its last: one that may hold quotes itself, or
/// several with a mark or word between them, as in `a cup", "a drink`.
fn examples_of(quoted: &str) -> Vec<String> {
    let pieces: Vec<&str> = quoted.split('"').map(str::trim).collect();
    let mut between = pieces.iter().skip(1).step_by(2);
    let are_several = between.all(|piece| matches!(*piece, "" | "," | ";" | "or" | "and"));
    let examples = match are_several && pieces.len() % 2 == 1 {
        true => pieces.into_iter().step_by(2).collect(),
        false => vec![quoted.trim()],
    };
    examples.into_iter().map(str::to_owned).collect()
}

/// Every pointer leads to a synset, and to a word of it.
fn check_targets(files: &WordnetFiles, data: &Data) -> Result<()> {
    for synset in &files.synsets {
        for SynsetRelation { target, words, .. } in &synset.relations {
            let name = || format!("{:08}", target.0 % FILE_SPAN);
            let Some((place, ..)) = data.places.get(target) else {
                return Err(data.at(synset.id, |at| at.absent("synset", name())));
            };
            let members = files.synsets[*place].members.len();
            if usize::from(words.1) > members {
                let found = format!("a pointer to word {} of `{}`", words.1, name());
                let expected = format!("one of its {members} words");
                return Err(data.at(synset.id, |at| at.wrong(found, expected)));
            }
        }
    }
    Ok(())
}

/// Every word of a synset leads to it.
fn check_members(files: &WordnetFiles, data: &Data) -> Result<()> {
    let words = files.words.iter();
    let known: HashMap<(WordClass, &str), &[SynsetId]> =
        words.map(|word| ((word.class, &*word.lemma), &*word.senses)).collect();
    for synset in &files.synsets {
        for member in &synset.members {
            let lemma = wordnet_lemma(member);
            let senses = known.get(&(synset.class, &lemma)).copied().unwrap_or_default();
            if !senses.contains(&synset.id) {
                let found = format!("`{member}`, which the index does not lead here");
                let expected = "a word with a line in the index";
                return Err(data.at(synset.id, |at| at.wrong(found, expected)));
            }
        }
    }
    Ok(())
}

/// The words of an index: `lemma class senses pointers symbols* senses tagged offsets*`.
fn read_index(
    file: &str,
    class: WordClass,
    text: &str,
    words: &mut Vec<Word>,
    data: &Data,
) -> Result<()> {
    let mut of_file: BTreeMap<String, Vec<SynsetId>> = BTreeMap::new();
    for (at, line) in lines_of(file, text) {
        let mut fields = Fields { at, fields: line.trim_end().split(' ') };
        let lemma = wordnet_lemma(fields.next("a lemma")?);
        let (of, letter) = fields.class()?;
        if of != class {
            return Err(at.wrong(format!("a word of `{letter}`"), file));
        }
        let count = fields.number(10, "the number of synsets")?;
        let symbols = fields.number(10, "the number of pointers")?;
        for _ in 0..symbols {
            fields.next("a pointer's symbol")?;
        }
        let again = fields.number(10, "the number of senses")?;
        if again != count {
            return Err(at.wrong(format!("{again} senses"), format!("{count}, as before")));
        }
        fields.number(10, "the number of tagged senses")?;
        let senses = of_file.entry(lemma).or_default();
        for _ in 0..count {
            let offset = fields.offset()?;
            let synset = number_of(class, offset);
            if !data.places.contains_key(&synset) {
                return Err(at.absent("synset", format!("{offset:08}")));
            }
            if !senses.contains(&synset) {
                senses.push(synset);
            }
        }
        fields.end()?;
    }
    let word = |(lemma, senses)| Word { class, lemma, senses };
    words.extend(of_file.into_iter().map(word));
    Ok(())
}

/// The irregular forms of a file: a form and its lemmas.
fn read_exceptions(
    file: &str,
    class: WordClass,
    text: &str,
    irregular: &mut Vec<IrregularForm>,
) -> Result<()> {
    let mut of_file: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (at, line) in lines_of(file, text) {
        let mut fields = line.split_whitespace().map(wordnet_lemma);
        let form = fields.next().unwrap_or_default();
        let lemmas: Vec<String> = fields.collect();
        if lemmas.is_empty() {
            return Err(at.wrong(format!("`{form}` alone"), "a form and its lemmas"));
        }
        let known = of_file.entry(form).or_default();
        for lemma in lemmas {
            if !known.contains(&lemma) {
                known.push(lemma);
            }
        }
    }
    irregular.extend(of_file.into_iter().map(|(form, lemmas)| IrregularForm {
        class,
        form,
        lemmas,
    }));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: At<'_> = At { file: "data.verb", line: 7 };

    #[test]
    fn a_line_of_data_is_a_synset_with_its_pointers() {
        let line = "00001740 29 v 02 breathe 0 take_a_breath 0 002 @ 00005041 v 0000 \
                    + 03110323 n 020a 02 + 02 00 + 08 00 | draw air; \"I can breathe\"; or \"hold\" it";
        let synset = synset_of(AT, line).unwrap();
        assert_eq!((synset.id, synset.class), (SynsetId(200_001_740), WordClass::Verb));
        assert_eq!((&*synset.written, &*synset.topic), ("00001740-v", "verb.body"));
        assert_eq!(synset.members, ["breathe", "take a breath"]);
        assert_eq!(synset.definitions, ["draw air; or \"hold\" it"]);
        assert_eq!(synset.examples, ["I can breathe"]);
        assert_eq!(synset.keys, ["breathe%2:29:00::", "take_a_breath%2:29:00::"]);
        let kinds: Vec<&str> = synset.relations.iter().map(|of| &*of.kind).collect();
        assert_eq!(kinds, ["hypernym", "derivation"]);
        assert_eq!(synset.relations[1].target, SynsetId(103_110_323));
        assert_eq!(synset.relations[1].words, (2, 10));
    }

    #[test]
    fn a_gloss_is_parted_outside_of_its_quotes() {
        let parts = |gloss: &str| {
            let (definition, examples) = parts_of(gloss);
            (definition.join("|"), examples.join("|"))
        };
        for (gloss, definition, examples) in [
            (" of or by; in part ", "of or by; in part", ""),
            (" a \"big\" one; \"it is; was\" ", "a \"big\" one", "it is; was"),
            (" x; \"all the world\" - A. Poet; \"a stage\"", "x", "all the world|a stage"),
            (" x; \"a cup\", \"a drink\" ", "x", "a cup|a drink"),
            (" x; \"he said \"no\" twice\" ", "x", "he said \"no\" twice"),
            (" x; \"never closed ", "x", "never closed"),
            (" \"alone\" ", "", "alone"),
        ] {
            assert_eq!(parts(gloss), (definition.to_owned(), examples.to_owned()), "{gloss}");
        }
    }

    #[test]
    fn an_adjective_loses_the_marker_of_its_place() {
        assert_eq!(without_marker("galore(ip)"), "galore");
        assert_eq!(without_marker("well_read(p)"), "well_read");
        assert_eq!(without_marker("B(b)"), "B(b)");
    }

    #[test]
    fn a_damaged_line_is_told_with_its_place() {
        for (line, said) in [
            ("00001740 29 v 01 breathe 0 000", "no `|`, expected a synset"),
            ("17 29 q 01 breathe 0 000 | x", "`q`, expected a part of speech"),
            ("00001740 29 v 0g breathe 0 000 | x", "`0g`, expected the number of words"),
            ("00001740 29 v 01 breathe 0 001 ? 00001740 v 0000 | x", "the pointer `?`"),
            ("00001740 29 v 01 breathe 0 001 @ 00001740 | x", "the line's end, expected a part"),
            ("900001740 29 v 01 breathe 0 000 | x", "a place of eight digits"),
        ] {
            let error = synset_of(AT, line).unwrap_err().to_string();
            assert!(error.starts_with("L-line: data.verb:7: ") && error.contains(said), "{error}");
        }
    }
}
