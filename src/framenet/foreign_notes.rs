//! What a file holds beside FrameNet, by the places of the elements that it stands at.
//!
//! While a file is read, only the places of unknown attributes, elements and texts are noted. If
//! there are any, a second pass over the file finds the paths of the elements that they stand at;
//! so a file of FrameNet's own pays nothing. Reader and writer build paths by the same [`Path`].

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::place::tag_at;
use crate::model::{Foreign, ForeignAttribute, ForeignContent, ForeignPlace};

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
pub(super) struct Noted {
    pub(super) owner: usize,
    pub(super) what: What,
}

pub(super) enum What {
    Attribute(ForeignAttribute),
    Content { after: u32, from: usize, to: usize },
}

/// What is foreign in a file that is being read.
#[derive(Default)]
pub(super) struct Notes {
    pub(super) noted: Vec<Noted>,
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
    pub(super) fn attribute(&mut self, owner: usize, attribute: ForeignAttribute) -> bool {
        let is_kept = self.has_room(attribute.name.len() + attribute.value.len());
        if is_kept {
            self.noted.push(Noted { owner, what: What::Attribute(attribute) });
        }
        is_kept
    }

    /// As [`attribute`](Self::attribute). What follows other foreign content at once is one with
    /// it, with the space and the comments between.
    pub(super) fn content(&mut self, owner: usize, after: u32, from: usize, to: usize) -> bool {
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

fn place(position: u64) -> usize {
    usize::try_from(position).unwrap_or(usize::MAX)
}
