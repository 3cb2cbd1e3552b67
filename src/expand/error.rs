//! What can go wrong in an expansion.

use std::path::{Path, PathBuf};

use super::Manifest;
use super::shard_request::ShardRequestError;
use crate::align::AlignError;
use crate::database::DatabaseError;
use crate::filter::FilterError;
use crate::grow::CommitError;
use crate::learn::NetworkError;
use crate::model::{AnnotationSetId, coded};
use crate::paraphrase::ParaphraseError;
use crate::store::StoreError;
use crate::vectors::VectorsError;
use crate::verify::VerifyError;

/// An expansion cannot start or go on. What was committed before stays, and the same command goes
/// on from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExpandError {
    /// The database failed, or the expression names what it does not hold.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// What was made could not be committed.
    #[error(transparent)]
    Commit(CommitError),
    /// A model is nowhere to be found.
    #[error(
        "there is no model `{name}` in {}; put it there or name its place",
        places(.searched)
    )]
    ModelMissing {
        /// Directory name of the model.
        name: String,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// The rewriter cannot be opened or failed.
    #[error("cannot rewrite sentences")]
    Paraphrase(#[from] ParaphraseError),
    /// The aligner cannot be opened or failed.
    #[error("cannot align targets{}", of_seed(.seed))]
    Align {
        /// The set whose target was aligned; none while the aligner was opened.
        seed: Option<AnnotationSetId>,
        /// Why.
        source: AlignError,
    },
    /// The word vectors cannot be opened.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// The filter cannot be opened.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The frame model failed.
    #[error(transparent)]
    Identify(#[from] NetworkError),
    /// The verifier failed.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The tagger cannot be opened or failed.
    #[error("cannot tag words")]
    Tag {
        /// Why.
        source: NetworkError,
    },
    /// There is no seed: nothing to be parted, or the set that is to be expanded is not there or is
    /// no one's that people made.
    #[error(
        "no human annotation set matches `{query}`; expected seeds of one release (X-no-seeds)"
    )]
    NoSeeds {
        /// The query.
        query: String,
    },
    /// A part is asked for that cannot be.
    #[error(transparent)]
    ShardRequest(#[from] ShardRequestError),
    /// A file of a shard is not what is expected.
    #[error("`{}` {reason}", file.display())]
    Shard {
        /// The file.
        file: PathBuf,
        /// What it is, what was expected, and what to do.
        reason: String,
    },
    /// A shard was computed of other seeds than its query finds.
    #[error(
        "`{}` is a shard of the {expected} seeds that `{query}` found; here it finds {found}, and some differ: they or \
         LUs of their frames were edited in between, or another split list holds; compute the shards of this store \
         anew (X-seeds)",
        file.display()
    )]
    OtherSeeds {
        /// The file.
        file: PathBuf,
        /// Its query.
        query: String,
        /// Seeds that its manifest says.
        expected: u64,
        /// Seeds that the query finds.
        found: u64,
    },
    /// A shard goes on with seeds whose earlier rounds were merged elsewhere.
    #[error(
        "X-rounds: `{}` goes on with {seeds} of its seeds ({}), whose sets of earlier rounds release `{}` lacks; merge \
         first the shards of `{}` that have them, of fewer rounds and recipe {}: shard {}/{}, if they were as many",
        file.display(),
        some_of(named, *seeds),
        manifest.release,
        manifest.query,
        manifest.recipe,
        manifest.shard.number,
        manifest.shard.of
    )]
    RoundsBefore {
        /// The file.
        file: PathBuf,
        /// What it is of.
        manifest: Box<Manifest>,
        /// The first of those seeds.
        named: Vec<String>,
        /// How many they are.
        seeds: u64,
    },
    /// Another process computes the same shard.
    #[error(
        "another process computes this shard: it has `{}` locked; wait until it ends, or name another file (X-locked)",
        part.display()
    )]
    ShardLocked {
        /// The file with its lines.
        part: PathBuf,
    },
    /// A file of a shard or of a model cannot be read or written.
    #[error("cannot read or write `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The recipe cannot be followed.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The seeds that are asked for cannot be expanded.
    #[error(transparent)]
    Seeds(#[from] SeedsError),
}

coded!(ExpandError {
    Self::Database(error) => error.trouble(),
    Self::Commit(error) => error.trouble(),
    Self::Paraphrase(error) => error.trouble(),
    Self::Align { source, .. } => source.trouble(),
    Self::Filter(error) => error.trouble(),
    Self::Identify(error) => error.trouble(),
    Self::Verify(error) => error.trouble(),
    Self::Tag { source } => source.trouble(),
    Self::ModelMissing { .. } => NoModel.coded("M-missing"),
    Self::ShardRequest(error) => error.trouble(),
    Self::NoSeeds { .. } => Failed.coded("X-no-seeds"),
    Self::OtherSeeds { .. } => Failed.coded("X-seeds"),
    Self::RoundsBefore { .. } => Failed.coded("X-rounds"),
    Self::ShardLocked { .. } => Locked.coded("X-locked"),
    Self::Vectors(error) => error.trouble(),
    Self::Recipe(error) => error.trouble(),
    Self::Seeds(error) => error.trouble(),
});

coded!(RecipeError {
    Self::GuideMissing => Failed.coded("M-guide"),
    Self::FrameModelMissing => NoModel.coded("M-missing"),
    Self::VerifierMissing | Self::NobodyToAsk => NoModel.coded("M-verifier"),
    Self::SplitList { .. } => Failed.coded("X-split-list"),
    _ => Failed.coded("X-setting"),
});

coded!(SeedsError {
    Self::Decided { .. } => Failed.coded("X-decided"),
    _ => Failed.coded("X-lus"),
});

impl ExpandError {
    /// Whether whoever asked for it stopped it.
    pub(super) fn is_stopped(&self) -> bool {
        match self {
            Self::Paraphrase(error) => error.is_stopped(),
            Self::Verify(error) => error.is_stopped(),
            _ => false,
        }
    }
}

/// A recipe asks for what this database or these models cannot give.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// A number of the recipe is out of its range.
    #[error("{name} is {found}, expected {expected}")]
    Number {
        /// Name of the number.
        name: &'static str,
        /// What it is.
        found: usize,
        /// What it may be.
        expected: String,
    },
    /// The recipe is guided, and its models have none for it.
    #[error(
        "the recipe is guided, and its models name no word vectors and no tagger; name them or do without a guide"
    )]
    GuideMissing,
    /// The recipe asks how likely frames are, and there is no frame model.
    #[error(
        "the recipe has `frame-fit = true`, and there is no frame model with its encoder; install the model \
         `frames` or leave the setting out"
    )]
    FrameModelMissing,
    /// Judges shall choose, and there are none.
    #[error(
        "the recipe has `choice = \"judged\"`, and there is no model `verifier` with its language model, or a server \
         rewrites; install the verifier and a rewriter, or choose otherwise"
    )]
    VerifierMissing,
    /// A verifier shall be asked about what is kept, and there is none.
    #[error(
        "what is kept is to be verified, and there is no model `verifier` with its language model; install it, or do \
         not ask"
    )]
    NobodyToAsk,
    /// More words shall be banned than there are, or fewer than none.
    #[error("reword is {found}, expected 0 to 1, the share of a sentence's content words")]
    Reword {
        /// What the recipe says.
        found: f32,
    },
    /// Words shall be banned that a tagger finds, and there is none.
    #[error(
        "the recipe rewords and is not guided, expected a guide, as by the lexicon, whose tagger finds content \
         words, and its models `word-vectors` and `tagger`"
    )]
    RewordUnguided,
    /// Words shall be banned for one round, and a server rewrites: each that it keeps would cost
    /// requests.
    #[error(
        "the recipe rewords, which a server cannot be held to; expected a model, or no `reword`"
    )]
    RewordServer,
    /// Rounds shall change targets whose sets outputs do not get.
    #[error(
        "the recipe changes several targets and writes the set of one; expected `carry = \"all\"`, or no `targets`"
    )]
    TargetsAlone,
    /// Chains shall end by what nobody asks, or by what is no probability.
    #[error(
        "least-frame-fit is {found}, expected 0 to 1, and 0 without `frame-fit = true`; set both or leave it out"
    )]
    LeastFrameFit {
        /// What the recipe says.
        found: f32,
    },
    /// Chains shall end by answers that nobody gives, or by what is no probability.
    #[error(
        "least-evokes is {found}, expected 0 to 1, and 0 without `choice = \"judged\"`; set both or leave it out"
    )]
    LeastEvokes {
        /// What the recipe says.
        found: f32,
    },
    /// The recipe says of what it is blind to under one split list, and the database is under
    /// another.
    #[error(
        "the database is under the split list `{found}`, expected `{expected}`, under which the recipe says what \
         it is blind to"
    )]
    SplitList {
        /// The database's list, or `none`.
        found: String,
        /// The recipe's list, or `none`.
        expected: String,
    },
}

/// Seeds that are asked for cannot be expanded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeedsError {
    /// No LU that is asked for lacks sentences.
    #[error(
        "{}; expected LUs without sentences that people annotated",
        match attested.as_slice() {
            [] => "no LU is found".to_owned(),
            [name] => format!("`{name}` has sentences of its own"),
            [name, ..] => format!("all {} LUs that are found have sentences, as `{name}`", attested.len()),
        }
    )]
    NoneWithoutSentences {
        /// Names of the LUs that are found.
        attested: Vec<String>,
    },
    /// A term asks for annotation, where LUs are asked for that have none.
    #[error(
        "`{term}` asks for annotation; expected terms of release, frame, lu, pos and lu_status"
    )]
    NotOfLexUnits {
        /// The term.
        term: String,
    },
    /// To begin anew would remove sentences of LUs on which people decided.
    #[error(
        "sentences of `{}` would go, on which people decided; expected seeds without decisions: take these back, or \
         remove the sentences by `origin=generated`",
        lexunits.join("`, `")
    )]
    Decided {
        /// Names of the LUs.
        lexunits: Vec<String>,
    },
}

/// The first of so many names, with a sign that there are more.
fn some_of(named: &[String], all: u64) -> String {
    let more = if all > named.len() as u64 { ", ..." } else { "" };
    format!("{}{more}", named.join(", "))
}

impl ExpandError {
    pub(super) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }
}

impl From<CommitError> for ExpandError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Database(error) => Self::Database(error),
            other => Self::Commit(other),
        }
    }
}

impl From<StoreError> for ExpandError {
    fn from(error: StoreError) -> Self {
        Self::Database(error.into())
    }
}

fn places(searched: &[PathBuf]) -> String {
    let places: Vec<String> = searched.iter().map(|path| format!("`{}`", path.display())).collect();
    if places.is_empty() { "no directory at all".to_owned() } else { places.join(", ") }
}

fn of_seed(seed: &Option<AnnotationSetId>) -> String {
    seed.map_or(String::new(), |seed| format!(" of set {seed}"))
}
