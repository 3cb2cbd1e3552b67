//! What a file holds beside FrameNet, kept as it stands.
//!
//! While a file is read, only the places of unknown attributes, elements and texts are noted. If
//! there are any, a second pass over the file finds the paths of the elements that they stand at;
//! so a file of FrameNet's own pays nothing. Reader and writer build paths by the same [`Path`].

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::element::Element;
use super::fragment::fragment_fault;
use super::xml::{XmlFile, start_of};
use super::xml_writer::NAMESPACES;
use super::{Result, WarningCode};
use crate::model::{Foreign, ForeignAttribute, ForeignContent, ForeignPlace, is_xml_name};

/// Most places that are noted of one file: FrameNet's largest files have some 100,000 elements.
const MOST_PLACES: usize = 1 << 18;

/// Most bytes that are kept of one file, paths included: far below what a record may have.
const MOST_BYTES: usize = 12 << 20;

/// Letters of an `ID` or a name in a path; elements that agree so far are counted.
const KEY: usize = 80;

/// The path of the element that is being read or written.
#[derive(Default)]
pub(super) struct Path {
    text: String,
    /// Length of the path of each open element, and how often each step was taken below it.
    open: Vec<(usize, HashMap<String, u32>)>,
    /// Steps of root elements.
    roots: HashMap<String, u32>,
}

impl Path {
    /// Goes to a child; `key` is its `ID`, or else its name, or nothing.
    pub(super) fn enter(&mut self, name: &str, key: &str) {
        let key: String = key.chars().take(KEY).collect();
        let step = if key.is_empty() { format!("/{name}") } else { format!("/{name}[{key}]") };
        let length = self.text.len();
        let taken = self.open.last_mut().map_or(&mut self.roots, |(_, taken)| taken);
        self.text.push_str(&step);
        let times = taken.entry(step).or_default();
        *times += 1;
        if *times > 1 {
            write!(self.text, "#{times}").expect("a string takes all");
        }
        self.open.push((length, HashMap::new()));
    }

    pub(super) fn leave(&mut self) {
        if let Some((length, _)) = self.open.pop() {
            self.text.truncate(length);
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.text
    }
}

/// Names of an element's attributes; of more than are kept, only the first.
#[derive(Default)]
pub(super) struct SeenNames {
    names: HashSet<String>,
}

impl SeenNames {
    pub(super) fn is_first(&mut self, name: &str) -> bool {
        if self.names.len() < MOST_PLACES {
            return self.names.insert(name.to_owned());
        }
        !self.names.contains(name)
    }
}

/// Something foreign, by the place of the start tag of the element that it stands at.
struct Noted {
    owner: usize,
    what: What,
}

enum What {
    Attribute(ForeignAttribute),
    Content { after: u32, from: usize, to: usize },
}

/// What is foreign in a file that is being read.
#[derive(Default)]
pub(super) struct Notes {
    noted: Vec<Noted>,
    bytes: usize,
}

impl Notes {
    /// Whether there is room for some bytes more.
    fn has_room(&mut self, bytes: usize) -> bool {
        if self.noted.len() >= MOST_PLACES || self.bytes + bytes > MOST_BYTES {
            return false;
        }
        self.bytes += bytes;
        true
    }

    /// Whether all of it was taken.
    fn attribute(&mut self, owner: usize, attribute: ForeignAttribute) -> bool {
        let is_kept = self.has_room(attribute.name.len() + attribute.value.len());
        if is_kept {
            self.noted.push(Noted { owner, what: What::Attribute(attribute) });
        }
        is_kept
    }

    /// As [`attribute`](Self::attribute). What follows other foreign content at once is one with
    /// it, with the space and the comments between.
    fn content(&mut self, owner: usize, after: u32, from: usize, to: usize) -> bool {
        if let Some(Noted { owner: of, what: What::Content { after: there, to: end, .. } }) =
            self.noted.last_mut()
            && (*of, *there) == (owner, after)
        {
            let more = to.saturating_sub(*end);
            if self.bytes + more > MOST_BYTES {
                return false;
            }
            *end = to;
            self.bytes += more;
            return true;
        }
        let is_kept = self.has_room(to.saturating_sub(from));
        if is_kept {
            self.noted.push(Noted { owner, what: What::Content { after, from, to } });
        }
        is_kept
    }

    /// Finds the paths of what was noted in a file's content. Gives as well how many places had no
    /// room.
    pub(super) fn locate(self, content: &str) -> (Foreign, u64) {
        let mut foreign = Foreign::default();
        if self.noted.is_empty() {
            return (foreign, 0);
        }
        let paths = paths(content, &self.noted);
        let mut places: HashMap<usize, usize> = HashMap::new();
        let (mut bytes, mut lost) = (self.bytes, 0);
        for Noted { owner, what } in self.noted {
            let place = match (places.get(&owner), paths.get(&owner)) {
                (Some(place), _) => *place,
                (None, Some(path)) if bytes + path.len() <= MOST_BYTES => {
                    bytes += path.len();
                    let element = path.clone();
                    foreign.places.push(ForeignPlace { element, ..ForeignPlace::default() });
                    places.insert(owner, foreign.places.len() - 1);
                    foreign.places.len() - 1
                }
                _ => {
                    lost += 1;
                    continue;
                }
            };
            let place = &mut foreign.places[place];
            match what {
                What::Attribute(attribute) => place.attributes.push(attribute),
                What::Content { after, from, to } => {
                    let xml = content.get(from..to).unwrap_or_default().to_owned();
                    place.content.push(ForeignContent { after, xml });
                }
            }
        }
        (foreign, lost)
    }
}

/// The paths of elements, by the place of their start tags; foreign elements have none and count
/// for none.
fn paths(content: &str, noted: &[Noted]) -> HashMap<usize, String> {
    let mut waiting: HashSet<usize> = noted.iter().map(|noted| noted.owner).collect();
    let range = |noted: &Noted| match noted.what {
        What::Content { from, to, .. } => Some((from, to)),
        What::Attribute(_) => None,
    };
    let ends: HashMap<usize, usize> = noted.iter().filter_map(range).collect();
    let mut reader = Reader::from_str(content);
    let (mut path, mut found, mut skip_to) = (Path::default(), HashMap::new(), 0);
    loop {
        let at = tag_at(content, place(reader.buffer_position()));
        // The file was read once already: it is well-formed.
        let Ok(event) = reader.read_event() else { return found };
        if let Some(end) = ends.get(&at) {
            skip_to = skip_to.max(*end);
        }
        if at < skip_to {
            continue;
        }
        let is_empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(start) | Event::Empty(start) => {
                path.enter(start.local_name().into_inner(), &key_of(&start));
                if waiting.remove(&at) {
                    found.insert(at, path.as_str().to_owned());
                }
                if is_empty {
                    path.leave();
                }
            }
            Event::End(_) => path.leave(),
            Event::Eof => return found,
            _ => {}
        }
        if waiting.is_empty() {
            return found;
        }
    }
}

/// What an element is told from others of its name by.
fn key_of(start: &BytesStart<'_>) -> String {
    for wanted in ["ID", "name"] {
        let mut attributes = start.attributes();
        let value = attributes
            .with_checks(false)
            .flatten()
            .find(|attribute| attribute.key.into_inner() == wanted)
            .and_then(|found| {
                Some(found.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
            })
            .unwrap_or_default();
        if !value.is_empty() {
            return value;
        }
    }
    String::new()
}

/// Where the tag begins that is read next at a place; white space may stand before it.
pub(super) fn tag_at(content: &str, place: usize) -> usize {
    let rest = content.get(place..).unwrap_or_default();
    place + (rest.len() - rest.trim_start().len())
}

fn place(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}

/// Whether an attribute of a root element is one that every file gets when it is written.
fn is_written(name: &str, value: &str) -> bool {
    let is_schema = value.starts_with("../schema/") || value.starts_with("schema/");
    NAMESPACES.contains(&(name, value)) || name == "xsi:schemaLocation" && is_schema
}

impl<'a> XmlFile<'a> {
    /// Keeps every attribute of an element that is not one of `known`, and warns of it.
    /// Declarations of name spaces and what belongs to XML Schema say nothing about FrameNet, and
    /// are kept without.
    pub(super) fn know(&mut self, element: &Element<'a>, known: &[&str]) -> Result<()> {
        if element.has_only(known) {
            return Ok(());
        }
        let mut seen = SeenNames::default();
        element.attributes(|name, value| {
            if !seen.is_first(name) {
                self.repeated_attribute(element, name, &value);
            } else if !known.contains(&name) {
                self.foreign_attribute(element, name, value.into_owned());
            }
            Ok(())
        })
    }

    /// Warns of an attribute that stands in its element again, which XML does not allow: the first
    /// counts.
    pub(super) fn repeated_attribute(&mut self, element: &Element<'a>, name: &str, value: &str) {
        self.warn_with(element, WarningCode::AttributeRepeated, || {
            let (of, value) = (element.name(), start_of(value));
            format!(
                "attribute `{name}` stands twice in `{of}`; the first counts, `{value}` does not"
            )
        });
    }

    /// Keeps an attribute that the schema does not know.
    pub(super) fn foreign_attribute(&mut self, element: &Element<'a>, name: &str, value: String) {
        let is_declared = name == "xmlns" || name.starts_with("xmlns:") || name.starts_with("xsi:");
        if !is_declared {
            self.warn_with(element, WarningCode::UnknownAttribute, || {
                let of = element.name();
                format!("attribute `{name}` of `{of}` is not FrameNet's; kept as it stands")
            });
        } else if is_written(name, &value) {
            return;
        }
        self.keep_attribute(element, name, value, "");
    }

    /// Keeps an attribute for exports; one of FrameNet's own takes the place of what the record
    /// says.
    pub(super) fn keep_attribute(
        &mut self,
        element: &Element<'a>,
        name: &str,
        value: String,
        instead_of: &str,
    ) {
        let (name, instead_of) = (name.to_owned(), instead_of.to_owned());
        let attribute = ForeignAttribute { name: name.clone(), value, instead_of };
        if !self.notes.attribute(element.place(), attribute) {
            self.warn_with(element, WarningCode::UnknownDropped, || {
                let of = element.name();
                format!("attribute `{name}` of `{of}` is beyond what is kept of a file; dropped")
            });
        }
    }

    /// Reads past an element that the schema does not know, and keeps it.
    pub(super) fn unknown(&mut self, element: &Element<'a>) -> Result<()> {
        self.unknown_after(element, None)
    }

    /// As [`unknown`](Self::unknown); in an element of text, behind some bytes of it.
    pub(super) fn unknown_after(
        &mut self,
        element: &Element<'a>,
        after: Option<usize>,
    ) -> Result<()> {
        self.warn_with(element, WarningCode::UnknownElement, || {
            format!("element `{}` is not FrameNet's; kept as it stands", element.name())
        });
        self.elements = self.elements.saturating_sub(1);
        self.skip()?;
        let (owner, children) = self.take_back_child();
        let after = after.map_or(children, |bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        let end = self.position();
        if !self.notes.content(owner, after, element.place(), end) {
            self.warn_with(element, WarningCode::UnknownDropped, || {
                format!("element `{}` is beyond what is kept of a file; dropped", element.name())
            });
        }
        Ok(())
    }

    /// Keeps a text that stands where FrameNet has elements only.
    pub(super) fn unknown_text(&mut self, piece: &str) {
        self.warn_here(WarningCode::UnknownText, || {
            let shown = start_of(piece.trim());
            format!("text `{shown}` stands between elements; kept as it stands")
        });
        let (owner, after) = self.inside();
        let (from, to) = self.text_read();
        if !self.notes.content(owner, after, from, to) {
            self.warn_here(WarningCode::UnknownDropped, || {
                let shown = start_of(piece.trim());
                format!("text `{shown}` is beyond what is kept of a file; dropped")
            });
        }
    }

    /// The element that is being read: where its start tag is, and the children so far.
    fn inside(&self) -> (usize, u32) {
        let (offset, children) = self.open.last().copied().unwrap_or_default();
        (tag_at(self.at.content, offset), children)
    }

    /// As [`inside`](Self::inside), when the last child turned out to be none of FrameNet's.
    fn take_back_child(&mut self) -> (usize, u32) {
        if let Some((_, children)) = self.open.last_mut() {
            *children = children.saturating_sub(1);
        }
        self.inside()
    }

    /// Where the text lies that was read last, without white space around it.
    fn text_read(&self) -> (usize, usize) {
        let (from, to) = (tag_at(self.at.content, self.at.offset), self.position());
        let text = self.at.content.get(from..to).unwrap_or_default();
        (from, from + text.trim_end().len())
    }

    /// What was kept, once the file is read; warns of what had no room. What could not stand in a
    /// file again is not XML.
    pub(super) fn foreign(&mut self) -> Result<Foreign> {
        for Noted { what, owner } in &self.notes.noted {
            let (fault, place) = match what {
                What::Attribute(attribute) if is_xml_name(&attribute.name) => continue,
                What::Attribute(attribute) => {
                    let name = attribute.name.escape_debug();
                    (format!("`{name}`, which is no name in XML"), *owner)
                }
                What::Content { from, to, .. } => {
                    let piece = self.at.content.get(*from..*to).unwrap_or_default();
                    match fragment_fault(piece) {
                        Some(fault) => (fault, *from),
                        None => continue,
                    }
                }
            };
            return Err(self.at.moved(place).malformed(fault));
        }
        let (foreign, lost) = std::mem::take(&mut self.notes).locate(self.content());
        for _ in 0..lost {
            self.warn_here(WarningCode::UnknownDropped, || {
                "what is not FrameNet's is beyond what is kept of a file; dropped".to_owned()
            });
        }
        Ok(foreign)
    }
}

/// What an [`XmlWriter`](super::xml_writer::XmlWriter) writes beside FrameNet.
pub(super) struct ForeignWriter<'a> {
    places: HashMap<&'a str, &'a ForeignPlace>,
    path: Path,
    open: Vec<OpenPlace<'a>>,
    /// The `ID` and the name of the element whose start tag is being written.
    keys: [String; 2],
}

/// An open element.
#[derive(Default)]
struct OpenPlace<'a> {
    content: &'a [ForeignContent],
    children: u32,
}

impl<'a> ForeignWriter<'a> {
    /// `None` where there is nothing to write.
    pub(super) fn new(foreign: &'a Foreign) -> Option<Self> {
        if foreign.is_empty() {
            return None;
        }
        let places = foreign.places.iter().map(|place| (place.element.as_str(), place)).collect();
        Some(Self { places, path: Path::default(), open: Vec::new(), keys: Default::default() })
    }

    /// Takes note of an attribute that is written.
    pub(super) fn see(&mut self, name: &str, value: &str) {
        match name {
            "ID" => value.clone_into(&mut self.keys[0]),
            "name" => value.clone_into(&mut self.keys[1]),
            _ => {}
        }
    }

    /// A start tag is whole: gives the attributes that it gets beside its own.
    pub(super) fn entered(&mut self, name: &str) -> &'a [ForeignAttribute] {
        let [id, called] = std::mem::take(&mut self.keys);
        self.path.enter(name, if id.is_empty() { &called } else { &id });
        let place = self.places.get(self.path.as_str()).copied();
        let content = place.map_or(&[][..], |place| &place.content);
        self.open.push(OpenPlace { content, children: 0 });
        place.map_or(&[], |place| &place.attributes)
    }

    pub(super) fn left(&mut self) {
        self.path.leave();
        self.open.pop();
    }

    /// What stands in the innermost element before its next child.
    pub(super) fn before_child(&mut self) -> &'a [ForeignContent] {
        let Some(open) = self.open.last_mut() else { return &[] };
        let here = open.content.iter().take_while(|piece| piece.after <= open.children).count();
        open.children += 1;
        let (now, later) = open.content.split_at(here);
        open.content = later;
        now
    }

    /// What of the innermost element was not written yet.
    pub(super) fn rest(&mut self) -> &'a [ForeignContent] {
        self.open.last_mut().map_or(&[], |open| std::mem::take(&mut open.content))
    }
}
