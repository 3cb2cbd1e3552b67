//! Annotation sets: layers of labels over a sentence.

use std::fmt;

use super::named::named;
use super::{AnnotationSetId, Colors, FeId, FrameId, IdSpace, LuId, Provenance, SentenceId, Span};

/// Status of sets that a person annotated.
pub const MANUAL: &str = "MANUAL";

/// Status of sets whose sentence a model wrote, beside FrameNet's `MANUAL` and `UNANN`.
pub const GENERATED: &str = "GENERATED";

/// Status of sets that were carried into a sentence which a model wrote.
pub const CARRIED: &str = "CARRIED";

/// Status of sets that a model predicted for a sentence which people wrote.
pub const PREDICTED: &str = "PREDICTED";

/// An annotation set that evokes a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationSet {
    /// Its id.
    pub id: AnnotationSetId,
    /// FrameNet's number, when the set is FrameNet's.
    pub xml_id: Option<u64>,
    /// The sentence.
    pub sentence: SentenceId,
    /// The frame that the target evokes.
    pub frame: FrameId,
    /// The LU that the target is a form of.
    pub lu: LuId,
    /// FrameNet's status, as in `MANUAL`, `AUTO_EDITED` or `UNANN`.
    pub status: String,
    /// Date of creation as written; empty when not given.
    pub created: String,
    /// The spans that evoke the frame, in order; several when the target is discontinuous, none
    /// when the layer is empty.
    pub targets: Vec<Span>,
    /// What is known about the FEs.
    pub fe_status: FeStatus,
    /// The layers, in file order.
    pub layers: Vec<Layer>,
    /// Where the set comes from.
    pub provenance: Provenance,
}

impl AnnotationSet {
    /// A set by a user that marks a target, without FEs; a transaction numbers it.
    ///
    /// The target is a span, or several in order where it is discontinuous.
    ///
    /// ```
    /// use fnstore::model::{AnnotationSet, NullInstantiation, Span};
    ///
    /// # use fnstore::model::{FrameId, IdSpace, LuId, SentenceId};
    /// # let (frame, lu) = (FrameId(102), LuId(1001));
    /// # let sentence = SentenceId::new(IdSpace::Exemplar, 5001);
    /// // The editor checked the proofs.
    /// let set = AnnotationSet::new(sentence, frame, lu, Span::new(11, 18))
    ///     .element("Checker", Span::new(0, 10), "Ext", "NP")
    ///     .element("Document", Span::new(19, 29), "Obj", "NP")
    ///     .unexpressed("Matter", NullInstantiation::Indefinite);
    /// assert_eq!(set.fe_layers().map(|layer| layer.labels.len()).sum::<usize>(), 3);
    /// ```
    #[must_use]
    pub fn new(
        sentence: SentenceId,
        frame: FrameId,
        lu: LuId,
        target: impl Into<Vec<Span>>,
    ) -> Self {
        let unnumbered = AnnotationSetId::new(IdSpace::Imported, 0);
        Self {
            status: MANUAL.to_owned(),
            targets: target.into(),
            ..Self::placed(unnumbered, sentence, (frame, lu))
        }
    }

    /// The same set with an FE on a span, and the grammatical function and phrase type of that
    /// span; empty where there is none to tell. Its FEs count as annotated then.
    #[must_use]
    pub fn element(mut self, name: &str, span: Span, gf: &str, pt: &str) -> Self {
        let said = |text| Some(text).filter(|text: &&str| !text.is_empty());
        let label = Label::new(name, Extent::Overt(span));
        put_element(&mut self.layers, 1, &label, [said(gf), said(pt)]);
        Self { fe_status: FeStatus::Annotated, ..self }
    }

    /// The same set without an FE, wherever it stands. What is said of its spans, their grammatical
    /// function and phrase type, goes as well where no other FE has them.
    ///
    /// ```
    /// use fnstore::model::{AnnotationSet, Span};
    ///
    /// # use fnstore::model::{FrameId, IdSpace, LuId, SentenceId};
    /// # let sentence = SentenceId::new(IdSpace::Exemplar, 5001);
    /// // The editor checked the proofs on Monday.
    /// let set = AnnotationSet::new(sentence, FrameId(102), LuId(1001), Span::new(11, 18))
    ///     .element("Checker", Span::new(0, 10), "Ext", "NP")
    ///     .element("Time", Span::new(33, 39), "Dep", "PP");
    /// let moved = set.without_element("Time").element("Time", Span::new(30, 39), "Dep", "PP");
    /// let gone = moved.without_element_at("Time", Span::new(30, 39));
    /// assert!(gone.fe_layers().flat_map(|layer| &layer.labels).all(|fe| fe.name == "Checker"));
    /// ```
    #[must_use]
    pub fn without_element(self, name: &str) -> Self {
        self.without_labels(|label| label.name == name)
    }

    /// As [`without_element`](Self::without_element), on one span alone.
    #[must_use]
    pub fn without_element_at(self, name: &str, span: Span) -> Self {
        self.without_labels(|label| label.name == name && label.extent == Extent::Overt(span))
    }

    fn without_labels(mut self, goes: impl Fn(&Label) -> bool) -> Self {
        let mut gone: Vec<(u8, Extent)> = Vec::new();
        for layer in self.layers.iter_mut().filter(|layer| layer.name == LayerName::Fe) {
            let labels = layer.labels.extract_if(.., |label| goes(label));
            gone.extend(labels.map(|label| (layer.rank, label.extent)));
        }
        let stays = |rank: u8, extent: &Extent, layers: &[Layer]| {
            let mut of_rank =
                layers.iter().filter(|layer| layer.name == LayerName::Fe && layer.rank == rank);
            of_rank.any(|layer| layer.labels.iter().any(|label| label.extent == *extent))
        };
        gone.retain(|(rank, extent)| {
            extent.span().is_some() && !stays(*rank, extent, &self.layers)
        });
        let says = [LayerName::Gf, LayerName::Pt];
        for layer in self.layers.iter_mut().filter(|layer| says.contains(&layer.name)) {
            let rank = layer.rank;
            layer.labels.retain(|label| !gone.contains(&(rank, label.extent.clone())));
        }
        self
    }

    /// The same set with an FE that no words express. Its FEs count as annotated then.
    #[must_use]
    pub fn unexpressed(mut self, name: &str, kind: NullInstantiation) -> Self {
        put_element(&mut self.layers, 1, &Label::new(name, Extent::Null(kind)), [None, None]);
        Self { fe_status: FeStatus::Annotated, ..self }
    }

    /// A set of which nothing is known yet but where it belongs.
    #[must_use]
    pub fn placed(id: AnnotationSetId, sentence: SentenceId, (frame, lu): (FrameId, LuId)) -> Self {
        Self {
            id,
            xml_id: None,
            sentence,
            frame,
            lu,
            status: String::new(),
            created: String::new(),
            targets: Vec::new(),
            fe_status: FeStatus::Unknown,
            layers: Vec::new(),
            provenance: Provenance::User,
        }
    }

    /// The trigger: the target's text, pieces joined by a space.
    ///
    /// `text` is the sentence's.
    #[must_use]
    pub fn trigger(&self, text: &str) -> String {
        let pieces: Vec<&str> = self.targets.iter().filter_map(|span| span.of(text)).collect();
        pieces.join(" ")
    }

    /// Whether it marks the same words of the same sentence as another set, under the same LU.
    #[must_use]
    pub fn stands_as(&self, other: &Self) -> bool {
        let place = |set: &Self| (set.sentence, set.frame, set.lu);
        place(self) == place(other) && self.targets == other.targets
    }

    /// The FE layers, the first rank first.
    pub fn fe_layers(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| layer.name == LayerName::Fe)
    }
}

named! {
    /// What an annotation set says about frame elements.
    pub enum FeStatus {
        /// They are annotated; those not labelled are not expressed.
        Annotated => "annotated",
        /// Nobody annotated them (status `UNANN`): absence says nothing.
        Unannotated => "unannotated",
        /// An import or a model named none: absence says nothing.
        Unknown => "unknown",
        /// A model placed them: those of a generated set's seed or of a carried set's source, as
        /// far as they were found, or what a labeller found. It may have missed some.
        Carried => "carried",
    }
}

/// A set of layers that evokes no frame: parts of speech, named entities, constructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentenceLayers {
    /// Its id.
    pub id: AnnotationSetId,
    /// FrameNet's number.
    pub xml_id: u64,
    /// The sentence.
    pub sentence: SentenceId,
    /// Number and name of the construction, for construction sets.
    pub construction: Option<(u32, String)>,
    /// FrameNet's status.
    pub status: String,
    /// Date of creation as written; empty when not given.
    pub created: String,
    /// The LU files that list it; none for full text.
    pub listed_under: Vec<LuId>,
    /// The layers, in file order.
    pub layers: Vec<Layer>,
}

/// A layer of labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Which layer.
    pub name: LayerName,
    /// Rank: a second FE layer has rank 2.
    pub rank: u8,
    /// Its labels, in file order.
    pub labels: Vec<Label>,
}

impl Layer {
    /// A layer of the first rank without labels.
    #[must_use]
    pub fn empty(name: LayerName) -> Self {
        Self { name, rank: 1, labels: Vec::new() }
    }

    /// The layer that marks targets.
    #[must_use]
    pub fn of_targets(targets: &[Span]) -> Self {
        let label = |span: &Span| Label::new(LayerName::Target.as_str(), Extent::Overt(*span));
        Self { name: LayerName::Target, rank: 1, labels: targets.iter().map(label).collect() }
    }
}

/// Puts an FE label among layers, with what is said of the same stretch by GF and PT. The first
/// rank has all three layers, if empty: FrameNet's have GF and PT there alone.
pub(crate) fn put_element(
    layers: &mut Vec<Layer>,
    rank: u8,
    label: &Label,
    [gf, pt]: [Option<&str>; 2],
) {
    put_element_layers(layers);
    let rows = [(LayerName::Fe, Some(&*label.name)), (LayerName::Gf, gf), (LayerName::Pt, pt)];
    for (name, said) in rows {
        let Some(said) = said else { continue };
        let at = layers.iter().position(|layer| layer.name == name && layer.rank == rank);
        let at = at.unwrap_or_else(|| {
            layers.push(Layer { rank, ..Layer::empty(name.clone()) });
            layers.len() - 1
        });
        let label = Label { name: said.to_owned(), ..label.clone() };
        // What two FEs of one span share is said once.
        if name == LayerName::Fe || !layers[at].labels.contains(&label) {
            layers[at].labels.push(label);
        }
    }
}

/// Puts the layers of FEs that are not there yet among layers.
pub(crate) fn put_element_layers(layers: &mut Vec<Layer>) {
    for name in [LayerName::Fe, LayerName::Gf, LayerName::Pt] {
        if !layers.iter().any(|layer| layer.name == name && layer.rank == 1) {
            layers.push(Layer::empty(name));
        }
    }
}

macro_rules! layer_names {
    ($($variant:ident = $text:literal,)*) => {
        /// The name of a layer.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "FrameNet's own list")]
        pub enum LayerName {
            $($variant,)*
            /// Any other name, kept as text.
            Named(String),
        }

        impl LayerName {
            /// FrameNet's spelling.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Named(name) => name,
                }
            }

            /// Reads FrameNet's spelling.
            #[must_use]
            pub fn parse(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => Self::Named(text.to_owned()),
                }
            }
        }
    };
}

layer_names! {
    Target = "Target",
    Fe = "FE",
    Gf = "GF",
    Pt = "PT",
    Other = "Other",
    Sent = "Sent",
    Verb = "Verb",
    Noun = "Noun",
    Adj = "Adj",
    Adv = "Adv",
    Prep = "Prep",
    Scon = "Scon",
    Art = "Art",
    Bnc = "BNC",
    Penn = "PENN",
    Ner = "NER",
    Wsl = "WSL",
}

impl LayerName {
    /// The highest rank that FrameNet gives layers of the name, where it says more of some spans in
    /// several; readers of its XML refuse a higher one.
    #[must_use]
    pub fn most_ranks(&self) -> Option<u8> {
        match self {
            Self::Fe => Some(3),
            Self::Gf | Self::Pt => Some(1),
            _ => None,
        }
    }
}

impl fmt::Display for LayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A label of a layer.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Label {
    /// Its name: an FE, a phrase type, a tag.
    pub name: String,
    /// What it covers.
    pub extent: Extent,
    /// The FE, in FE layers.
    pub fe: Option<FeId>,
    /// Annotator as written; empty when not given.
    pub annotator: String,
    /// Display colours, when the label has its own.
    pub colors: Option<Colors>,
}

impl Label {
    /// A label that names no FE, by nobody, without colours of its own.
    #[must_use]
    pub fn new(name: impl Into<String>, extent: Extent) -> Self {
        Self { name: name.into(), extent, fe: None, annotator: String::new(), colors: None }
    }
}

/// What a label covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Extent {
    /// Text.
    Overt(Span),
    /// Nothing: a null instantiation.
    Null(NullInstantiation),
    /// Neither: the file gives no offsets and no kind.
    None,
}

impl Extent {
    /// The span of an overt label.
    #[must_use]
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Overt(span) => Some(*span),
            Self::Null(_) | Self::None => None,
        }
    }
}

/// Why an FE is not expressed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum NullInstantiation {
    /// INI: left open.
    Indefinite,
    /// DNI: known from context.
    Definite,
    /// CNI: licensed by a construction.
    Constructional,
    /// INC: the target itself expresses it.
    Incorporated,
    /// Any other text.
    Other(String),
}

impl NullInstantiation {
    /// FrameNet's spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Indefinite => "INI",
            Self::Definite => "DNI",
            Self::Constructional => "CNI",
            Self::Incorporated => "INC",
            Self::Other(text) => text,
        }
    }

    /// Reads FrameNet's spelling.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text {
            "INI" => Self::Indefinite,
            "DNI" => Self::Definite,
            "CNI" => Self::Constructional,
            "INC" => Self::Incorporated,
            _ => Self::Other(text.to_owned()),
        }
    }
}
