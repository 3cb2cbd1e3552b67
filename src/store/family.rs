//! The column families of a store.

use crate::model::named;

named! {
    /// Column families.
    pub(super) enum Family {
        Meta => "meta",
        Frame => "frame",
        Relation => "relation",
        SemType => "semtype",
        LexUnit => "lexunit",
        Document => "document",
        Sentence => "sentence",
        Annotation => "annotation",
        SentenceLayers => "sentence_layers",
        SetLocation => "set_location",
        BySentence => "by_sentence",
        Name => "name",
        Recipe => "recipe",
        Journal => "journal",
        Judgement => "judgement",
        Verification => "verification",
        Decision => "decision",
        Edition => "edition",
        Layout => "layout",
        Change => "change",
        Commit => "commit",
        Before => "before",
        Count => "count",
        Evidence => "evidence",
        Resource => "resource",
        Synset => "synset",
        Sense => "sense",
        Irregular => "irregular",
        Discovery => "discovery",
        Predicate => "predicate",
        Mapping => "mapping",
        Link => "link",
    }
}

/// Records, each family by the number that stands for it in a before-image.
const RECORDS: [(u8, Family); 16] = [
    (1, Family::Frame),
    (2, Family::Relation),
    (3, Family::SemType),
    (4, Family::LexUnit),
    (5, Family::Document),
    (6, Family::Sentence),
    (7, Family::Annotation),
    (8, Family::SentenceLayers),
    (9, Family::Journal),
    (10, Family::Judgement),
    (11, Family::Verification),
    (12, Family::Decision),
    (13, Family::Edition),
    (14, Family::Layout),
    (15, Family::Discovery),
    (16, Family::Link),
];

impl Family {
    pub(super) fn name(self) -> &'static str {
        self.as_str()
    }

    /// The number that stands for a family of records in a before-image.
    pub(super) fn record_number(self) -> Option<u8> {
        RECORDS.iter().find(|(_, known)| *known == self).map(|(number, _)| *number)
    }

    /// The family of records that a number stands for in a before-image.
    pub(super) fn of_record(number: u8) -> Option<Self> {
        RECORDS.iter().find(|(known, _)| *known == number).map(|(_, family)| *family)
    }

    /// Whether a store that an earlier program wrote may lack it; a writer makes it.
    pub(super) fn may_be_absent(self) -> bool {
        matches!(
            self,
            Self::Count
                | Self::Evidence
                | Self::Commit
                | Self::Before
                | Self::Resource
                | Self::Synset
                | Self::Sense
                | Self::Irregular
                | Self::Discovery
                | Self::Predicate
                | Self::Mapping
                | Self::Link
        )
    }

    /// Whether the family's keys start with a release.
    pub(super) fn by_release(self) -> bool {
        !matches!(
            self,
            Self::Meta | Self::Recipe | Self::Change | Self::Commit | Self::Before | Self::Resource
        )
    }
}
