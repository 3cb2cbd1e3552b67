//! WN-LMF: WordNets as XML, by the Global WordNet Association's schema 1.0 to 1.4. Open English
//! WordNet is published so.
//!
//! Entries come before synsets and name them by id; so the senses are held until all is read.
//! Synsets are numbered in the order of the file, from 1.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::error::{At, line_behind, text_of};
use super::tree::{attributes_of, referred};
use super::{LexicaError, Result, WordnetFiles, wordnet_lemma};
use crate::model::{IrregularForm, Synset, SynsetId, SynsetRelation, Word, WordClass};

/// The root element.
const ROOT: &str = "LexicalResource";

/// Most bytes that are read, unpacked: ten times those of Open English WordNet.
const MOST_BYTES: u64 = 1 << 30;

/// Bytes that tell what a file is: the root stands behind its document type and comments.
const LOOKED_AT: u64 = 64 << 10;

/// What gzip's files begin with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Whether a file begins as WN-LMF does.
pub(super) fn begins_as_one(path: &Path) -> bool {
    let begins = || -> io::Result<bool> {
        let mut start = Vec::new();
        // A file that is cut off begins as one, too.
        let _ = open_unpacked(path)?.0.take(LOOKED_AT).read_to_end(&mut start);
        Ok(String::from_utf8_lossy(&start).contains(&format!("<{ROOT}")))
    };
    begins().unwrap_or(false)
}

/// The one file of a directory that begins as WN-LMF does: beside it lie a licence and a citation.
pub(super) fn only_one(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path());
    let is_named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".xml") || name.ends_with(".xml.gz")
    };
    let mut found = entries.filter(|path| is_named(path) && begins_as_one(path));
    found.next().filter(|_| found.next().is_none())
}

/// What a file holds, unpacked, and whether it is packed by gzip.
pub(crate) fn open_unpacked(path: &Path) -> io::Result<(Box<dyn Read>, bool)> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(GZIP.len() as u64).read_to_end(&mut start)?;
    let is_gzip = start == GZIP;
    let whole = io::Cursor::new(start).chain(file);
    let content: Box<dyn Read> =
        if is_gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
    Ok((content, is_gzip))
}

pub(super) fn read(path: &Path) -> Result<WordnetFiles> {
    let failed = |source| LexicaError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let (content, is_gzip) = open_unpacked(path).map_err(failed)?;
    content.take(MOST_BYTES).read_to_end(&mut bytes).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput
            if is_gzip =>
        {
            LexicaError::Gzip { path: path.to_owned(), reason: source.to_string() }
        }
        _ => failed(source),
    })?;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    if bytes.len() as u64 == MOST_BYTES {
        let found = format!("{MOST_BYTES} bytes and more");
        return Err(At { file: &name, line: 1 }.wrong(found, "a smaller file"));
    }
    let mut files = Lmf::new(&name, &text_of(&name, bytes)?).read()?;
    files.bytes = fs::metadata(path).map_err(failed)?.len();
    Ok(files)
}

/// A relation by the ids that the file gives: its kind and its target.
type ById = (String, String);

/// The lemma of an entry as it is written, and its part of speech.
#[derive(Clone)]
struct Lemma {
    written: String,
    class: WordClass,
    /// Whether that is of an adjective that is like another.
    is_satellite: bool,
}

/// A synset that a word is in, with the sense's place among the senses of its entry.
type RankedSense = (Option<u32>, SynsetId);

/// A sense of an entry.
struct Sense {
    id: String,
    entry: String,
    key: Option<String>,
    /// Its place among the senses of its word.
    rank: Option<u32>,
    synset: String,
    lemma: Lemma,
    relations: Vec<ById>,
    at: usize,
}

/// A synset with the ids that it names.
struct Unresolved {
    synset: Synset,
    /// Whether the file says its part of speech; else its first sense does.
    has_class: bool,
    /// Its senses or their entries, in order.
    members: Vec<String>,
    relations: Vec<ById>,
    at: usize,
}

/// A WN-LMF file being read.
struct Lmf<'a> {
    file: &'a str,
    text: &'a str,
    reader: Reader<&'a [u8]>,
    files: WordnetFiles,
    has_lexicon: bool,
    entry: String,
    lemma: Option<Lemma>,
    /// The sense or synset that is open.
    owner: Option<Owner>,
    senses: Vec<Sense>,
    synsets: Vec<Unresolved>,
    irregular: BTreeMap<(WordClass, String), Vec<String>>,
    /// The element whose text is read.
    open: Option<&'static str>,
    content: String,
}

/// What relations stand in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Sense,
    Synset,
}

/// Elements whose text counts.
const TEXTS: [&str; 2] = ["Definition", "Example"];

/// The attributes of a start tag.
struct Attributes<'a> {
    file: &'a str,
    before: &'a [u8],
    element: String,
    values: Vec<(String, String)>,
}

impl Attributes<'_> {
    fn at(&self) -> At<'_> {
        At { file: self.file, line: line_behind(self.before) }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let value = self.values.iter().find(|(known, _)| known == name)?;
        Some(value.1.as_str()).filter(|value| !value.is_empty())
    }

    fn need(&self, name: &str) -> Result<String> {
        let absent =
            || self.at().wrong(format!("`{}` without `{name}`", self.element), "that attribute");
        self.get(name).map(str::to_owned).ok_or_else(absent)
    }

    fn class(&self) -> Result<Option<WordClass>> {
        let Some(letter) = self.get("partOfSpeech") else { return Ok(None) };
        let unknown =
            || self.at().wrong(format!("the part of speech `{letter}`"), "a letter of WN-LMF");
        WordClass::of_letter(letter).map(Some).ok_or_else(unknown)
    }

    fn is_satellite(&self) -> bool {
        self.get("partOfSpeech") == Some("s")
    }

    /// The kind of a relation; where the schema has none, the one that the file gives.
    fn relation(&self) -> Result<ById> {
        let kind = self.need("relType")?;
        let own = self.get("dc:type").filter(|_| kind == "other");
        Ok((own.map_or_else(|| kind.clone(), str::to_owned), self.need("target")?))
    }
}

impl<'a> Lmf<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self {
            file,
            text,
            reader,
            files: WordnetFiles::default(),
            has_lexicon: false,
            entry: String::new(),
            lemma: None,
            owner: None,
            senses: Vec::new(),
            synsets: Vec::new(),
            irregular: BTreeMap::new(),
            open: None,
            content: String::new(),
        }
    }

    fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// A place, by the bytes before it.
    fn at(&self, offset: usize) -> At<'a> {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        At { file: self.file, line: line_behind(before) }
    }

    fn read(mut self) -> Result<WordnetFiles> {
        let (mut has_root, mut depth) = (false, 0_u32);
        loop {
            let offset = self.position();
            let event = self.reader.read_event().map_err(|error| {
                let offset = usize::try_from(self.reader.error_position()).unwrap_or(usize::MAX);
                self.at(offset).wrong(error.to_string(), "well-formed XML")
            })?;
            match &event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                Event::Eof if depth > 0 => {
                    return Err(self.at(offset).wrong("the file's end", "end tags"));
                }
                _ => {}
            }
            match event {
                Event::Start(start) if !has_root => {
                    has_root = start.local_name().as_ref() == ROOT;
                    if !has_root {
                        let found = format!("the root `{}`", start.local_name().as_ref());
                        return Err(self.at(offset).wrong(found, format!("`{ROOT}`")));
                    }
                }
                Event::Start(start) => self.start(&start, offset)?,
                Event::End(end) => self.end(end.local_name().as_ref()),
                Event::Text(piece) if self.open.is_some() => self.content.push_str(&piece),
                Event::CData(piece) if self.open.is_some() => self.content.push_str(&piece),
                Event::GeneralRef(reference) if self.open.is_some() => {
                    let text = referred(&reference, self.at(offset))?;
                    self.content.push_str(&text);
                }
                Event::Eof => break,
                _ => {}
            }
        }
        if !self.has_lexicon {
            return Err(self.at(self.text.len()).wrong("the file's end", "a `Lexicon`"));
        }
        self.resolved()
    }

    fn attributes(&self, start: &BytesStart<'_>, offset: usize) -> Result<Attributes<'a>> {
        let values = attributes_of(start, self.at(offset))?;
        let (file, before) = (self.file, &self.text.as_bytes()[..offset]);
        Ok(Attributes { file, before, element: start.local_name().as_ref().to_owned(), values })
    }

    fn start(&mut self, start: &BytesStart<'_>, offset: usize) -> Result<()> {
        let name = start.local_name();
        self.open = TEXTS.into_iter().find(|text| *text == name.as_ref());
        self.content.clear();
        match name.as_ref() {
            "Lexicon" => self.lexicon(&self.attributes(start, offset)?, offset),
            "LexiconExtension" => {
                Err(self.at(offset).wrong("a `LexiconExtension`", "a lexicon that is whole"))
            }
            "LexicalEntry" => {
                self.entry = self.attributes(start, offset)?.need("id")?;
                Ok(())
            }
            "Lemma" => {
                let of = self.attributes(start, offset)?;
                let absent = || of.at().wrong("`Lemma` without `partOfSpeech`", "that attribute");
                self.lemma = Some(Lemma {
                    written: of.need("writtenForm")?,
                    class: of.class()?.ok_or_else(absent)?,
                    is_satellite: of.is_satellite(),
                });
                Ok(())
            }
            "Form" => {
                let form = wordnet_lemma(&self.attributes(start, offset)?.need("writtenForm")?);
                let lemma = self.lemma_here(offset)?;
                let lemmas = self.irregular.entry((lemma.class, form)).or_default();
                let lemma = wordnet_lemma(&lemma.written);
                if !lemmas.contains(&lemma) {
                    lemmas.push(lemma);
                }
                Ok(())
            }
            "Sense" => self.sense(&self.attributes(start, offset)?, offset),
            "Synset" => self.synset(&self.attributes(start, offset)?, offset),
            "SenseRelation" => {
                let of = self.attributes(start, offset)?;
                let owner = self.senses.last_mut().filter(|_| self.owner == Some(Owner::Sense));
                let outside = || of.at().wrong("`SenseRelation` alone", "it in a `Sense`");
                owner.ok_or_else(outside)?.relations.push(of.relation()?);
                Ok(())
            }
            "SynsetRelation" => {
                let of = self.attributes(start, offset)?;
                let owner = self.synsets.last_mut().filter(|_| self.owner == Some(Owner::Synset));
                let outside = || of.at().wrong("`SynsetRelation` alone", "it in a `Synset`");
                owner.ok_or_else(outside)?.relations.push(of.relation()?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn lemma_here(&self, offset: usize) -> Result<Lemma> {
        let absent =
            || self.at(offset).wrong("an entry without a lemma", "`Lemma` before its senses");
        self.lemma.clone().ok_or_else(absent)
    }

    fn lexicon(&mut self, of: &Attributes<'_>, offset: usize) -> Result<()> {
        if std::mem::replace(&mut self.has_lexicon, true) {
            return Err(self.at(offset).wrong("a second `Lexicon`", "one in a file: part them"));
        }
        self.files.language = of.need("language")?;
        self.files.version = of.need("version")?;
        self.files.name = format!("{}-{}", of.need("id")?, self.files.version);
        self.files.licence = of.need("license")?;
        Ok(())
    }

    fn sense(&mut self, of: &Attributes<'_>, offset: usize) -> Result<()> {
        self.owner = Some(Owner::Sense);
        let sense = Sense {
            id: of.need("id")?,
            entry: self.entry.clone(),
            key: of.get("dc:identifier").map(str::to_owned),
            rank: of.get("n").and_then(|rank| rank.parse().ok()),
            synset: of.need("synset")?,
            lemma: self.lemma_here(offset)?,
            relations: Vec::new(),
            at: offset,
        };
        self.senses.push(sense);
        Ok(())
    }

    fn synset(&mut self, of: &Attributes<'_>, offset: usize) -> Result<()> {
        (self.lemma, self.owner) = (None, Some(Owner::Synset));
        let (number, class) = (self.synsets.len() as u32 + 1, of.class()?);
        let synset = Synset {
            id: SynsetId(number),
            written: of.need("id")?,
            class: class.unwrap_or(WordClass::Other),
            is_satellite: of.is_satellite(),
            // `in` stands for one that is proposed and has no number yet.
            ili: of.get("ili").filter(|ili| *ili != "in").map(str::to_owned),
            topic: of.get("lexfile").unwrap_or_default().to_owned(),
            members: Vec::new(),
            keys: Vec::new(),
            definitions: Vec::new(),
            examples: Vec::new(),
            relations: Vec::new(),
        };
        let members = of.get("members").unwrap_or_default().split_whitespace();
        self.synsets.push(Unresolved {
            synset,
            has_class: class.is_some(),
            members: members.map(str::to_owned).collect(),
            relations: Vec::new(),
            at: offset,
        });
        Ok(())
    }

    fn end(&mut self, name: &str) {
        match name {
            "LexicalEntry" => (self.lemma, self.owner) = (None, None),
            "Sense" | "Synset" => self.owner = None,
            _ => {}
        }
        let Some(open) = self.open.take().filter(|open| *open == name) else { return };
        let text = self.content.split_whitespace().collect::<Vec<_>>().join(" ");
        // Examples of senses stand in entries, before all synsets.
        let is_of_synset = self.owner == Some(Owner::Synset) && !text.is_empty();
        if let Some(last) = self.synsets.last_mut().filter(|_| is_of_synset) {
            match open {
                "Definition" => last.synset.definitions.push(text),
                _ => last.synset.examples.push(text),
            }
        }
    }

    /// What the file holds, with numbers for ids.
    fn resolved(mut self) -> Result<WordnetFiles> {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        for (at, of) in (0_u32..).zip(&self.synsets) {
            if numbers.insert(of.synset.written.clone(), at).is_some() {
                return Err(self.at(of.at).repeated("synset", &of.synset.written));
            }
        }
        let of_synsets = self.senses_of_synsets(&numbers)?;
        // Of each sense its synset, and its place among the words there.
        let mut places: HashMap<&str, (u32, u16)> = HashMap::new();
        for (at, senses) in (0_u32..).zip(&of_synsets) {
            for (place, sense) in (1_usize..).zip(senses) {
                let place = u16::try_from(place).unwrap_or(u16::MAX);
                if places.insert(&sense.id, (at, place)).is_some() {
                    return Err(self.at(sense.at).repeated("sense", &sense.id));
                }
            }
        }
        let relations = self.relations(&numbers, &places)?;
        let members: Vec<_> = of_synsets.iter().map(|senses| members_of(senses)).collect();
        let words = self.words(&places);
        let mut files = std::mem::take(&mut self.files);
        for ((of, found), relations) in self.synsets.into_iter().zip(members).zip(relations) {
            let (members, keys, first) = found;
            let own = (of.synset.class, of.synset.is_satellite);
            let (class, is_satellite) = first.filter(|_| !of.has_class).unwrap_or(own);
            files.synsets.push(Synset {
                class,
                is_satellite,
                members,
                keys,
                relations,
                ..of.synset
            });
        }
        files.words = words;
        let irregular = self.irregular.into_iter();
        files.irregular.extend(irregular.map(|((class, form), lemmas)| IrregularForm {
            class,
            form,
            lemmas,
        }));
        Ok(files)
    }

    /// The senses of each synset, in the order that it gives, else in the file's.
    fn senses_of_synsets(&self, numbers: &HashMap<String, u32>) -> Result<Vec<Vec<&Sense>>> {
        let mut senses: Vec<Vec<&Sense>> = vec![Vec::new(); self.synsets.len()];
        for sense in &self.senses {
            let absent = || self.at(sense.at).absent("synset", &sense.synset);
            senses[*numbers.get(&sense.synset).ok_or_else(absent)? as usize].push(sense);
        }
        for (of, senses) in self.synsets.iter().zip(&mut senses) {
            let members = of.members.iter().enumerate();
            let order: HashMap<&str, usize> =
                members.map(|(place, member)| (member.as_str(), place)).collect();
            senses.sort_by_key(|sense| {
                let place =
                    order.get(sense.entry.as_str()).or_else(|| order.get(sense.id.as_str()));
                place.copied().unwrap_or(usize::MAX)
            });
        }
        Ok(senses)
    }

    /// The words with their synsets. Entries of one lemma are one word; its senses come by their
    /// numbers where all have one, else in the order of the file.
    fn words(&self, places: &HashMap<&str, (u32, u16)>) -> Vec<Word> {
        let mut words: BTreeMap<(WordClass, String), Vec<RankedSense>> = BTreeMap::new();
        for sense in &self.senses {
            let Lemma { written, class, .. } = &sense.lemma;
            let synset = SynsetId(places[sense.id.as_str()].0 + 1);
            let senses = words.entry((*class, wordnet_lemma(written))).or_default();
            senses.push((sense.rank, synset));
        }
        let word = |((class, lemma), mut senses): (_, Vec<RankedSense>)| {
            if senses.iter().all(|(rank, _)| rank.is_some()) {
                senses.sort_by_key(|(rank, _)| *rank);
            }
            let mut seen = HashSet::new();
            let senses = senses.into_iter().map(|(_, synset)| synset);
            Word { class, lemma, senses: senses.filter(|synset| seen.insert(*synset)).collect() }
        };
        words.into_iter().map(word).collect()
    }

    /// The relations of each synset, and of its words.
    fn relations(
        &self,
        numbers: &HashMap<String, u32>,
        places: &HashMap<&str, (u32, u16)>,
    ) -> Result<Vec<Vec<SynsetRelation>>> {
        let mut relations: Vec<Vec<SynsetRelation>> = vec![Vec::new(); self.synsets.len()];
        for (from, of) in self.synsets.iter().enumerate() {
            for (kind, target) in &of.relations {
                let absent = || self.at(of.at).absent("synset", target);
                let target = SynsetId(numbers.get(target).ok_or_else(absent)? + 1);
                relations[from].push(SynsetRelation { kind: kind.clone(), target, words: (0, 0) });
            }
        }
        for sense in &self.senses {
            let (from, own) = places[sense.id.as_str()];
            for (kind, target) in &sense.relations {
                let of_sense = places.get(target.as_str()).copied();
                let of_synset = || numbers.get(target).map(|at| (*at, 0));
                let absent = || self.at(sense.at).absent("sense", target);
                let (target, other) = of_sense.or_else(of_synset).ok_or_else(absent)?;
                let (kind, target) = (kind.clone(), SynsetId(target + 1));
                relations[from as usize].push(SynsetRelation { kind, target, words: (own, other) });
            }
        }
        Ok(relations)
    }
}

/// The words of a synset, their sense keys, and the part of speech of the first, with whether it is
/// a satellite's.
fn members_of(senses: &[&Sense]) -> (Vec<String>, Vec<String>, Option<(WordClass, bool)>) {
    let members = senses.iter().map(|sense| sense.lemma.written.clone()).collect();
    let key = |sense: &&Sense| sense.key.clone().unwrap_or_else(|| sense.id.clone());
    let first = senses.first().map(|sense| (sense.lemma.class, sense.lemma.is_satellite));
    (members, senses.iter().map(key).collect(), first)
}

#[cfg(test)]
mod tests;
