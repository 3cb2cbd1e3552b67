//! Sentences with their annotation sets, as LU files and full-text files both hold them.
//!
//! Offsets in the files count characters and include the end; here they become half-open byte
//! offsets, once and for all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hash, RandomState};

use crate::model::{
    Colors, CorpusId, DocumentId, Extent, FeId, FrameId, Label, Layer, LayerName, LuId,
    NullInstantiation, NumberKind, Occurrence, OddOffsets, Span,
};

use super::element::Element;
use super::foreign_notes::SeenNames;
use super::xml::{Once, XmlFile};
use super::{Result, WarningCode};

/// A sentence as a file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSentence {
    /// FrameNet's number.
    pub xml_id: u64,
    /// Line of the file, from 1.
    pub line: usize,
    /// Text, byte-exact.
    pub text: String,
    /// The place; the LU and the subcorpus are the LU reader's to fill in.
    pub occurrence: Occurrence,
    /// Its annotation sets, in file order.
    pub sets: Vec<ReadSet>,
}

/// An annotation set as a file holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadSet {
    /// FrameNet's number.
    pub xml_id: u64,
    /// Line of the file, from 1.
    pub line: usize,
    /// FrameNet's status.
    pub status: String,
    /// Date of creation as written; empty when not given.
    pub created: String,
    /// What the set's attributes say it evokes.
    pub evokes: Evokes,
    /// Its layers, in file order.
    pub layers: Vec<Layer>,
    /// What labels say of their place that `layers` cannot hold.
    pub odd: Vec<OddOffsets>,
}

/// What an annotation set evokes by its own attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evokes {
    /// A frame; full-text sets name it.
    Frame {
        /// The frame.
        frame: FrameId,
        /// Its name.
        frame_name: String,
        /// The LU.
        lu: LuId,
        /// Its name.
        lu_name: String,
    },
    /// A construction.
    Construction {
        /// Its number.
        id: u32,
        /// Its name.
        name: String,
    },
    /// Not said. In an LU file a set evokes the LU's frame unless it is UNANN and marks no target.
    Unsaid,
}

/// Status of a set that nobody annotated.
pub(crate) const UNANNOTATED: &str = "UNANN";

/// Whether a set in an LU file that does not say what it evokes evokes the file's LU. One of the
/// status `UNANN` holds sentence layers, unless it marks a target, as five of FrameNet 1.5's do.
pub(crate) fn evokes_unsaid(status: &str, has_target: bool) -> bool {
    status != UNANNOTATED || has_target
}

/// Layers that every frame set of FrameNet has beside its target, if only empty; NLTK's reader
/// fails without them.
const EXPECTED: [LayerName; 3] = [LayerName::Fe, LayerName::Gf, LayerName::Pt];

impl ReadSet {
    /// Whether the set evokes a frame when an LU file holds it.
    pub(crate) fn evokes_in_lu_file(&self) -> bool {
        match self.evokes {
            Evokes::Frame { .. } => true,
            Evokes::Unsaid => evokes_unsaid(&self.status, self.has_target()),
            Evokes::Construction { .. } => false,
        }
    }

    /// A set without labels, for readers that take the first set of a sentence for its parts of
    /// speech, as NLTK does.
    pub(crate) fn filler() -> Self {
        Self {
            xml_id: 0,
            line: 0,
            status: UNANNOTATED.to_owned(),
            created: String::new(),
            evokes: Evokes::Unsaid,
            layers: vec![Layer::empty(LayerName::Penn)],
            odd: Vec::new(),
        }
    }

    /// Whether an export alone has put the set there.
    pub(crate) fn is_filler(&self) -> bool {
        let says_nothing = self.layers.iter().all(|layer| layer.labels.is_empty());
        self.xml_id == 0
            && self.status == UNANNOTATED
            && self.evokes == Evokes::Unsaid
            && says_nothing
    }

    /// Puts the layers that it lacks, and that readers take for granted, before all others, where
    /// no release has them. Labels of odd places move along.
    pub(crate) fn fill_layers(&mut self) {
        let lacks = |name: &&LayerName| {
            !self.layers.iter().any(|layer| layer.name == **name && layer.rank == 1)
        };
        let fillers: Vec<Layer> =
            EXPECTED.iter().filter(lacks).cloned().map(Layer::empty).collect();
        let count = u32::try_from(fillers.len()).unwrap_or(0);
        self.odd.iter_mut().for_each(|odd| odd.layer += count);
        self.layers.splice(..0, fillers);
    }

    /// Takes out what [`fill_layers`](Self::fill_layers) put before the Target layer.
    pub(crate) fn drop_filled_layers(&mut self) {
        let is_filler = |layer: &Layer| {
            layer.rank == 1 && layer.labels.is_empty() && EXPECTED.contains(&layer.name)
        };
        let fillers = self.layers.iter().take_while(|layer| is_filler(layer)).count();
        if self.layers.get(fillers).is_none_or(|next| next.name != LayerName::Target) {
            return;
        }
        let count = u32::try_from(fillers).unwrap_or(0);
        self.odd.iter_mut().for_each(|odd| odd.layer = odd.layer.saturating_sub(count));
        self.layers.drain(..fillers);
    }

    /// The spans of all Target layers, in order of text.
    #[must_use]
    pub fn targets(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = self.target_labels().collect();
        spans.sort_unstable();
        spans.dedup();
        spans
    }

    /// Whether it marks a target.
    pub(crate) fn has_target(&self) -> bool {
        self.target_labels().next().is_some()
    }

    fn target_labels(&self) -> impl Iterator<Item = Span> {
        let layers = self.layers.iter().filter(|layer| layer.name == LayerName::Target);
        let spans = layers.flat_map(|layer| &layer.labels).filter_map(|label| label.extent.span());
        spans.filter(|span| !span.is_empty())
    }
}

/// Reads the `sentence` whose start was read.
pub(super) fn read_sentence<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
) -> Result<ReadSentence> {
    let mut sentence = ReadSentence {
        xml_id: xml.id(element, NumberKind::Sentence, "ID", "")?,
        line: xml.line_of(element),
        text: String::new(),
        occurrence: Occurrence {
            lu: None,
            subcorpus: None,
            corpus: xml.optional_id(element, NumberKind::Corpus, "corpID")?.map(CorpusId),
            document: xml.optional_id(element, NumberKind::Document, "docID")?.map(DocumentId),
            paragraph: xml.count(element, "paragNo")?,
            number: xml.count(element, "sentNo")?,
            position: xml.count(element, "aPos")?,
        },
        sets: Vec::new(),
    };
    xml.know(element, &["ID", "corpID", "docID", "paragNo", "sentNo", "aPos"])?;
    let (mut boundaries, mut text) = (Boundaries::default(), Once::default());
    xml.children(|xml, child| {
        match child.name() {
            // Labels are places in the first text, also when that is empty.
            "text" if text.is_first() => {
                sentence.text = xml.text_of(&child)?;
                boundaries = Boundaries::of(&sentence.text);
            }
            "annotationSet" => sentence.sets.push(read_set(xml, &child, &boundaries)?),
            _ => xml.unknown(&child)?,
        }
        Ok(())
    })?;
    Ok(sentence)
}

fn read_set<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    boundaries: &Boundaries,
) -> Result<ReadSet> {
    let mut set = ReadSet {
        xml_id: xml.id(element, NumberKind::AnnotationSet, "ID", "")?,
        line: xml.line_of(element),
        status: element.text_or_empty("status")?,
        created: element.text_or_empty("cDate")?,
        evokes: read_evokes(xml, element)?,
        layers: Vec::new(),
        odd: Vec::new(),
    };
    let known =
        ["ID", "status", "cDate", "frameID", "frameName", "luID", "luName", "cxnID", "cxnName"];
    xml.know(element, &known)?;
    xml.children(|xml, child| match child.name() {
        "layer" => {
            xml.know(&child, &["name", "rank"])?;
            let name = LayerName::parse(&xml.name(&child, "name")?);
            let rank = xml.count(&child, "rank")?.unwrap_or(1);
            let index = u32::try_from(set.layers.len()).unwrap_or(u32::MAX);
            let labels = read_labels(xml, (&name, index), boundaries, &mut set.odd)?;
            set.layers.push(Layer { name, rank, labels });
            Ok(())
        }
        _ => xml.unknown(&child),
    })?;
    let targets = set.layers.iter().filter(|layer| layer.name == LayerName::Target).count();
    if targets > 1 {
        let detail = format!("set {} has {targets} Target layers; merged", set.xml_id);
        xml.warn(element, WarningCode::TargetLayers, detail);
    }
    Ok(set)
}

fn read_evokes<'a>(xml: &mut XmlFile<'a>, element: &Element<'a>) -> Result<Evokes> {
    const EVOKED: [&str; 6] = ["frameID", "frameName", "luID", "luName", "cxnID", "cxnName"];
    if !element.has_any(&EVOKED) {
        return Ok(Evokes::Unsaid);
    }
    if element.has_any(&["frameID", "frameName"]) {
        let (frame_name, lu_name) = (xml.name(element, "frameName")?, xml.name(element, "luName")?);
        let frame = FrameId(xml.short_id(element, NumberKind::Frame, "frameID", &frame_name)?);
        let lu = LuId(xml.short_id(element, NumberKind::LexUnit, "luID", &lu_name)?);
        let what = "names a construction beside its frame";
        keep_unused(xml, element, ["cxnID", "cxnName"], what)?;
        return Ok(Evokes::Frame { frame, frame_name, lu, lu_name });
    }
    keep_unused(xml, element, ["luID", "luName"], "names an LU and no frame")?;
    if element.has("cxnID") || element.has("cxnName") {
        let name = element.text_or_empty("cxnName")?;
        let id = xml.short_id(element, NumberKind::Construction, "cxnID", &name)?;
        return Ok(Evokes::Construction { id, name });
    }
    Ok(Evokes::Unsaid)
}

/// Keeps attributes that say nothing beside the others of their element, and warns of them.
fn keep_unused<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    names: [&str; 2],
    what: &str,
) -> Result<()> {
    let mut is_odd = false;
    for name in names {
        if let Some(value) = element.attribute(name)? {
            xml.keep_attribute(element, name, value, "");
            is_odd = true;
        }
    }
    if is_odd {
        xml.warn_with(element, WarningCode::UnreadableValue, || {
            let [first, second] = names;
            format!("an annotation set {what}; `{first}` and `{second}` are kept for exports")
        });
    }
    Ok(())
}

fn read_labels(
    xml: &mut XmlFile<'_>,
    (layer, index): (&LayerName, u32),
    boundaries: &Boundaries,
    odd: &mut Vec<OddOffsets>,
) -> Result<Vec<Label>> {
    let mut labels: Vec<Label> = Vec::new();
    let mut first = FirstPlaces::default();
    xml.children(|xml, child| {
        if child.name() != "label" {
            return xml.unknown(&child);
        }
        let (label, written) = read_label(xml, &child, boundaries)?;
        xml.end()?;
        // Equal in all, annotator and colours too: what differs anywhere is not the same label.
        if first.is_repeated(&labels, &label) {
            let detail =
                format!("label `{}` of layer {layer} stands there twice; kept twice", label.name);
            xml.warn(&child, WarningCode::DuplicateLabel, detail);
        }
        if let Some(Written { start, end, null }) = written {
            let label = u32::try_from(labels.len()).unwrap_or(u32::MAX);
            odd.push(OddOffsets { layer: index, label, start, end, null });
        }
        labels.push(label);
        Ok(())
    })?;
    Ok(labels)
}

/// Where each of some values, the labels of a layer, stood first, by its hash.
#[derive(Default)]
struct FirstPlaces {
    places: HashMap<u64, usize>,
    hasher: RandomState,
}

impl FirstPlaces {
    const FEW: usize = 12;

    /// Whether `value`, which comes behind `values`, is equal to one of them. It is asked of each
    /// in turn.
    fn is_repeated<T: Eq + Hash>(&mut self, values: &[T], value: &T) -> bool {
        // Most layers have a few labels, which are compared sooner than hashed.
        if values.len() < Self::FEW {
            return values.contains(value);
        }
        if self.places.is_empty() {
            for (at, value) in values.iter().enumerate() {
                self.places.entry(self.hasher.hash_one(value)).or_insert(at);
            }
        }
        match self.places.entry(self.hasher.hash_one(value)) {
            Entry::Vacant(place) => {
                place.insert(values.len());
                false
            }
            // Two different ones hardly ever have one hash; then all are compared.
            Entry::Occupied(place) => values[*place.get()] == *value || values.contains(value),
        }
    }
}

/// What the attributes of a label say: the label without its extent, its first and last character,
/// and the null instantiation.
fn read_attributes<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
) -> Result<(Label, [Option<u32>; 2], Option<NullInstantiation>)> {
    let mut label = Label::new(String::new(), Extent::None);
    let (mut start, mut end, mut null) = (None, None, None);
    let (mut known, mut others) = (0_u8, SeenNames::default());
    element.attributes(|key, value| {
        let bit = match key {
            "name" => 1,
            "start" => 2,
            "end" => 4,
            "feID" => 8,
            "itype" => 16,
            "cBy" => 32,
            "fgColor" => 64,
            "bgColor" => 128,
            _ => 0,
        };
        if known & bit != 0 || bit == 0 && !others.is_first(key) {
            xml.repeated_attribute(element, key, &value);
            return Ok(());
        }
        known |= bit;
        match bit {
            1 => label.name = value.into_owned(),
            2 => start = xml.offset_in(element, (key, &value)),
            4 => end = xml.offset_in(element, (key, &value)),
            8 => {
                let kind = NumberKind::FrameElement;
                label.fe = xml.optional_id_in(element, kind, (key, &value)).map(FeId);
            }
            16 => null = Some(NullInstantiation::parse(&value)),
            32 => label.annotator = value.into_owned(),
            64 => label.colors.get_or_insert_with(Colors::default).fg = value.into_owned(),
            128 => label.colors.get_or_insert_with(Colors::default).bg = value.into_owned(),
            _ => xml.foreign_attribute(element, key, value.into_owned()),
        }
        Ok(())
    })?;
    Ok((label, [start, end], null))
}

fn read_label<'a>(
    xml: &mut XmlFile<'a>,
    element: &Element<'a>,
    boundaries: &Boundaries,
) -> Result<(Label, Option<Written>)> {
    let (mut label, [start, end], null) = read_attributes(xml, element)?;
    if let Some(NullInstantiation::Other(text)) = &null {
        let detail =
            format!("null instantiation `{text}` of `{}` is unknown; kept as text", label.name);
        xml.warn(element, WarningCode::NullUnknown, detail);
    }
    let written = Written { start, end, null: null.as_ref().map(|null| null.as_str().to_owned()) };
    let span = start.zip(end).map(|(start, end)| match start {
        // A label of nothing at the beginning.
        0 if NumberKind::Offset.is_fresh(end.into()) && xml.offset(end) == "-1" => {
            Some(Span::new(0, 0))
        }
        _ => boundaries.span(start, end),
    });
    let mut odd = true;
    match (span, start.or(end), &null) {
        (None, Some(_), _) => {
            let lone = if end.is_none() { "a start and no end" } else { "an end and no start" };
            let detail = format!("label `{}` has {lone}; kept without a span", label.name);
            xml.warn(element, WarningCode::UnreadableValue, detail);
        }
        (Some(None), ..) => {
            let [first, last] = [start, end].map(|offset| xml.offset(offset.unwrap_or(0)));
            let detail = format!(
                "label `{}` covers characters {first} to {last} of {}; kept without a span",
                label.name,
                boundaries.characters(),
            );
            xml.warn(element, WarningCode::SpanRange, detail);
        }
        (Some(Some(_)), _, Some(_)) => {
            let detail = format!(
                "label `{}` has a span and a null instantiation; kept with the span",
                label.name
            );
            xml.warn(element, WarningCode::UnreadableValue, detail);
        }
        _ => odd = false,
    }
    label.extent = match (span.flatten(), null) {
        (Some(span), _) => Extent::Overt(span),
        (None, Some(null)) => Extent::Null(null),
        (None, None) => Extent::None,
    };
    Ok((label, odd.then_some(written)))
}

/// What a label says of its place, as written.
struct Written {
    start: Option<u32>,
    end: Option<u32>,
    null: Option<String>,
}

/// Byte offsets of a text's characters.
#[derive(Default)]
struct Boundaries {
    length: u32,
    /// Byte offset of every character; empty when characters are bytes.
    starts: Vec<u32>,
}

impl Boundaries {
    fn of(text: &str) -> Self {
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if text.is_ascii() {
            return Self { length, starts: Vec::new() };
        }
        let offsets = text.char_indices().map(|(offset, _)| offset);
        let starts = offsets.map(|offset| u32::try_from(offset).unwrap_or(u32::MAX)).collect();
        Self { length, starts }
    }

    fn characters(&self) -> usize {
        if self.starts.is_empty() { self.length as usize } else { self.starts.len() }
    }

    fn byte(&self, character: usize) -> Option<u32> {
        match character.cmp(&self.characters()) {
            std::cmp::Ordering::Equal => Some(self.length),
            std::cmp::Ordering::Greater => None,
            std::cmp::Ordering::Less if self.starts.is_empty() => u32::try_from(character).ok(),
            std::cmp::Ordering::Less => self.starts.get(character).copied(),
        }
    }

    /// The bytes of characters `first..=last`. A label of nothing is written with its end one
    /// before its start (203 punctuation labels of FrameNet 1.5).
    fn span(&self, first: u32, last: u32) -> Option<Span> {
        let start = self.byte(first as usize)?;
        let end = self.byte((last as usize).checked_add(1)?)?;
        (start <= end).then(|| Span::new(start, end))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;

    use super::*;

    thread_local! {
        static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    /// A value that counts how often it is compared.
    struct Counting(usize);

    impl PartialEq for Counting {
        fn eq(&self, other: &Self) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    impl Eq for Counting {}

    impl Hash for Counting {
        fn hash<H: Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    #[test]
    fn repeated_values_are_found_with_work_that_grows_as_their_number() {
        const VALUES: usize = 20_000;
        let (mut first, mut values, mut repeated) = (FirstPlaces::default(), Vec::new(), 0);
        for number in 0..VALUES {
            // Half of them are new, a quarter is the same one.
            let value = Counting(if number % 2 == 0 { number } else { number % 4 });
            repeated += usize::from(first.is_repeated(&values, &value));
            values.push(value);
        }
        assert_eq!(repeated, VALUES / 2 - 2);
        let most = VALUES + FirstPlaces::FEW.pow(2);
        assert!(COMPARED.get() <= most, "{} comparisons", COMPARED.get());
    }

    #[test]
    fn characters_become_bytes() {
        let text = "a\u{e9}\u{1F600}b";
        let boundaries = Boundaries::of(text);
        assert_eq!(boundaries.span(1, 2).and_then(|span| span.of(text)), Some("\u{e9}\u{1F600}"));
        assert_eq!(boundaries.span(3, 3).and_then(|span| span.of(text)), Some("b"));
        assert_eq!(boundaries.span(3, 4), None, "past the end");
        assert_eq!(boundaries.span(2, 1), Some(Span::new(3, 3)), "a label of nothing");
        assert_eq!(boundaries.span(3, 1), None, "backwards");
        assert_eq!(Boundaries::of("ab").span(0, 1), Some(Span::new(0, 2)));
    }
}
