//! Expansion: new annotated sentences from human ones, by rounds of paraphrase and alignment.
//!
//! The loop is that of `grow/`; `proposer.rs` and `checker.rs` are its stages. For each human
//! annotation set (the *seed*), exemplar or full text, whatever its status:
//!
//! 1. the trigger, its case variants and all inflected forms are banned (`chain.rs`);
//! 2. the sentence, spaced as people write it, is rewritten under these bans. Where the lexicon
//!    guides (`guide.rs`), with another LU of the frame or a word that is like its LUs. The best
//!    outputs go on;
//! 3. the aligner finds the target in each of them; the best (paraphrase, span) pair wins
//!    (`ranking.rs`);
//! 4. the pair becomes a generated annotation set with its provenance (`checker.rs`), under an LU
//!    of the frame or a proposed one (`trigger_lexicon.rs`);
//! 5. the aligner finds the seed's FEs in the output (`elements.rs`), and the other sets of the
//!    seed's sentence with theirs (`companions.rs`);
//! 6. the new trigger's forms are banned, too, and the *original* sentence is rewritten again, for
//!    as many rounds as asked for.
//!
//! LUs without sentences get those of their sisters (`sisters.rs`).
//!
//! Where there is a filter among the models, each set is written with its scores (`filtering.rs`).
//!
//! `Tasks` makes of the same sentences what annotators align, for training data of one's own.
//!
//! Copies, repetitions, weak alignments and triggers that are unlike the frame are flags; where the
//! lexicon guides, a chain ends before a doubtful trigger (`ranking.rs`).
//!
//! Culkin, Hu, Stengel-Eskin, Qin and Van Durme (2021), Iterative Paraphrastic Augmentation with
//! Discriminative Span Alignment, section 5 and footnote 16.

mod aligning;
mod attempt;
mod blindness;
mod chain;
mod checker;
mod companions;
mod destination;
mod diversity;
mod elements;
mod error;
mod expander;
mod filtering;
mod fitting;
mod frame_guide;
mod guide;
mod in_context;
mod judged_choice;
mod judges;
mod knowledge;
mod known_units;
mod loaded_models;
mod manifest;
mod model_files;
mod models;
mod pace;
mod partners;
mod phrase_set;
mod proposer;
mod ranking;
mod reading;
mod recipe;
mod recipes;
mod report;
mod rewording;
mod rewriting;
mod run;
mod seed;
mod seeds;
mod shard;
mod shard_before;
mod shard_lock;
mod shard_request;
mod shard_run;
mod shard_status;
mod shards_together;
mod sisters;
mod status;
mod tally;
mod tasks;
mod trigger_lexicon;
mod trigger_slot;
mod unit;
mod valence;
mod verifying;
mod word_class;

#[doc(hidden)]
pub use crate::engine::ComputeError;
pub use crate::engine::{Device, DeviceChoice, GpuOptions, Numbers};
#[doc(hidden)]
pub use crate::grow::CommitError;
pub use crate::grow::Stop;
pub use blindness::BlindTo;
pub use companions::Carry;
#[doc(hidden)]
pub use companions::Dropped;
#[doc(hidden)]
pub use diversity::{DiversityRow, diversity};
pub use elements::KeepElements;
pub use error::{ExpandError, RecipeError, SeedsError};
pub use expander::Expander;
#[doc(hidden)]
pub use filtering::{FilterTally, Rescored, filter_data, rescore};
pub(crate) use fitting::FitJudge;
#[doc(hidden)]
pub use fitting::{Refitted, refit, refit_sets};
#[doc(hidden)]
pub use judges::Judges;
pub(crate) use judges::{FrameQuestions, SetQuestion};
#[doc(hidden)]
pub use manifest::{Manifest, Shard};
#[doc(hidden)]
pub use models::{FILTER, FrameModels, GuideModels, VerifierModels, WORD_VECTORS};
pub use models::{Models, RewriterSource};
pub(crate) use pace::{MEASURED_LONGEST, spread};
pub use partners::Targets;
use recipe::Followed;
pub use recipe::{Choice, Guidance, Recipe, RunOptions, Search};
#[doc(hidden)]
pub use recipes::Words;
pub use recipes::{RecipeFileError, RecipeSettings};
#[doc(hidden)]
pub use report::{CarriedTally, CompanyTally};
pub use report::{EndReason, ExpansionProgress, Output, Phase, Report};
#[doc(hidden)]
pub use run::{run, run_with};
#[doc(hidden)]
pub use seeds::SEEDS;
#[doc(hidden)]
pub use shard_request::{ShardRequestError, require_models};
#[doc(hidden)]
pub use shard_run::{merge_shard, merge_shard_again, require_same_seeds, run_shard};
#[doc(hidden)]
pub use shard_status::{FoundShards, ShardState, ShardStatus, ShardsStatus, shards_in};
#[doc(hidden)]
pub use shards_together::{ShardFile, read_shards, require_seeds_of_shards};
pub use sisters::FromSisters;
pub(crate) use sisters::{FrameGap, lexunits_without_sentences};
#[doc(hidden)]
pub use status::{Estimate, FrameStatus, Status, StatusRecord, estimate, forget, status};
#[doc(hidden)]
pub use tasks::{TaskSettings, Tasks};
pub(crate) use trigger_lexicon::{free_number, name_of, proposed_unit};
pub(crate) use unit::Unit;
pub(crate) use valence::{Valences, expressed};
#[doc(hidden)]
pub use verifying::{Verified, verify};
pub(crate) use word_class::fits as word_fits;

type Result<T> = std::result::Result<T, ExpandError>;
