//! The formats other than FrameNet's XML that records leave in and come in by.
//!
//! One format is lossless and read back: [`jsonl`], every record as a line of JSON. The others are
//! for other programs: token formats ([`TokenFormat`]: CoNLL, BIOS, SEMAFOR) and tables
//! ([`CsvTable`], [`ParquetTable`]). Each counts what it cannot hold in a [`LossLog`].
//! [`SpanReader`] reads plain span-labelled data and mined pairs, [`read_split_list`] lists of
//! parts of the data. For training there is a record for each sentence ([`TrainingSentence`]),
//! which says what nobody annotated.
//!
//! This layer knows records and bytes, no store: what is written where, and what a line may refer
//! to, is [`crate::database`]'s. `schema/exchange.md` describes the formats.

mod error;
pub mod jsonl;
mod labelled;
mod lemmas;
mod lines;
mod loss;
mod lu_list;
mod mined;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet_table;
#[cfg(feature = "parquet")]
mod parquet_table;
mod rows;
mod spans;
mod split_list;
mod token_formats;
mod tokens;
mod training;
mod training_conllu;
mod training_file;
#[cfg(not(feature = "parquet"))]
#[path = "no_training_table.rs"]
mod training_table;
#[cfg(feature = "parquet")]
mod training_table;

pub use error::{ExchangeError, FaultCode};
pub use labelled::{LabelledSpan, LabelledText};
pub use lemmas::Lemmas;
pub use lines::{LINE_LIMIT, Lines};
pub(crate) use loss::Holds;
pub use loss::{Loss, LossLog};
pub use lu_list::{
    RankedLu, RankedSubstitute, open_lu_list, open_ranked_lus, open_ranked_substitutes,
};
pub use parquet_table::ParquetTable;
pub use rows::{CsvTable, LabelRow};
pub use spans::SpanReader;
pub use split_list::{kept_split_list, open_split_list, read_split_list};
pub use token_formats::{SemaforFiles, TokenFormat, TokenWriter, TokensWritten};
pub use tokens::{Annotated, Token, Tokens, WordTagger};
pub use training::{Spacing, TrainingFormat, TrainingSentence};
pub use training_file::TrainingFile;

type Result<T> = std::result::Result<T, ExchangeError>;
