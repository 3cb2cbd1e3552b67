//! The formats of `fnstore export`.

use fnstore::named;

named! {
    /// A format of export.
    pub(super) enum To {
        /// Every record, a line of JSON each
        Jsonl => "jsonl",
        /// A directory of FrameNet's own files
        FramenetXml => "framenet-xml",
        /// Tokens in 15 columns, as open-sesame reads them
        Conll => "conll",
        /// Tokens in 16 columns, as pyfn writes them
        Bios => "bios",
        /// Tokens of a sentence in one block, with a column for each set: for training
        TrainingConll => "training-conll",
        /// The same with core types
        TrainingBios => "training-bios",
        /// Tokens of a sentence in one block, with columns of CoNLL-U and for sets: for training
        ConlluPlus => "conllu-plus",
        /// Three files PATH.frame.elements, PATH.sentences and PATH.sentences.tokenized
        Semafor => "semafor",
        /// A row for each FE label
        Csv => "csv",
        /// The rows of csv in columns, compressed with zstd
        Parquet => "parquet",
        /// Some sentences of each LU with a paraphrase, in which annotators find the trigger
        AlignmentTask => "alignment-task",
        /// Of generated sets, what a filter looks at and what people say of them
        FilterData => "filter-data",
    }
}

impl To {
    /// Whether a record is of a sentence with all of its sets, in one of the forms that say what
    /// each of them is worth.
    pub(super) fn is_of_sentences(self, is_training: bool) -> bool {
        match self {
            Self::Jsonl | Self::Parquet => is_training,
            to => to == Self::ConlluPlus,
        }
    }

    /// Whether a file of the format may hold sets of several releases: each record names its own.
    pub(super) fn holds_several(self, is_training: bool) -> bool {
        match self {
            Self::Csv | Self::Parquet | Self::AlignmentTask | Self::FilterData => true,
            Self::Jsonl => is_training,
            Self::FramenetXml | Self::Semafor | Self::ConlluPlus => false,
            Self::Conll | Self::Bios | Self::TrainingConll | Self::TrainingBios => false,
        }
    }
}
