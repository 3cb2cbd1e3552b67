//! The column families of a store.

/// Column families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Meta,
    Frame,
    Relation,
    SemType,
    LexUnit,
    Document,
    Sentence,
    Annotation,
    SentenceLayers,
    SetLocation,
    BySentence,
    Name,
    Recipe,
    Journal,
    Judgement,
    Decision,
    Edition,
    Layout,
    Change,
}

impl Family {
    pub(super) const ALL: [Self; 19] = [
        Self::Meta,
        Self::Frame,
        Self::Relation,
        Self::SemType,
        Self::LexUnit,
        Self::Document,
        Self::Sentence,
        Self::Annotation,
        Self::SentenceLayers,
        Self::SetLocation,
        Self::BySentence,
        Self::Name,
        Self::Recipe,
        Self::Journal,
        Self::Judgement,
        Self::Decision,
        Self::Edition,
        Self::Layout,
        Self::Change,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::Frame => "frame",
            Self::Relation => "relation",
            Self::SemType => "semtype",
            Self::LexUnit => "lexunit",
            Self::Document => "document",
            Self::Sentence => "sentence",
            Self::Annotation => "annotation",
            Self::SentenceLayers => "sentence_layers",
            Self::SetLocation => "set_location",
            Self::BySentence => "by_sentence",
            Self::Name => "name",
            Self::Recipe => "recipe",
            Self::Journal => "journal",
            Self::Judgement => "judgement",
            Self::Decision => "decision",
            Self::Edition => "edition",
            Self::Layout => "layout",
            Self::Change => "change",
        }
    }

    /// Whether the family's keys start with a release.
    pub(super) fn by_release(self) -> bool {
        !matches!(self, Self::Meta | Self::Recipe | Self::Change)
    }

    /// Whether stores of format 1.0 have the family. A reader finds nothing in one that a store lacks;
    /// a writer makes it.
    pub(super) fn in_first_format(self) -> bool {
        !matches!(self, Self::Layout | Self::Decision | Self::Edition)
    }
}
