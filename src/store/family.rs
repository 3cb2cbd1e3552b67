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
    }
}

impl Family {
    pub(super) fn name(self) -> &'static str {
        self.as_str()
    }

    /// Whether the family's keys start with a release.
    pub(super) fn by_release(self) -> bool {
        !matches!(self, Self::Meta | Self::Recipe | Self::Change)
    }
}
