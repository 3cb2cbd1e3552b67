//! Python bindings of fnstore: the module `fnstore._fnstore`, around which the package in
//! `fnstore/` is.
//!
//! They use the library's public interface and nothing else. Objects are frozen and may be used
//! from any thread; what takes long runs without the interpreter's lock.

mod annotate;
mod annotation;
mod arrow;
mod attest;
mod augment;
mod changes;
mod database;
mod discover;
mod drawn;
mod editions;
mod error;
mod expand;
mod export;
mod framenet;
mod generate;
mod handle;
mod html;
mod import;
mod lexicon;
mod links;
mod measures;
mod mining;
mod models;
mod number;
mod paraphrase;
mod passes;
mod program;
mod promises;
mod proposals;
mod query;
mod reads;
mod servers;
mod shards;
mod stores;
mod texts;
mod transaction;
mod upkeep;
mod words;
mod worker;

use mimalloc::MiMalloc;
use pyo3::prelude::*;

/// Reading sets is mostly short-lived small allocations, on all cores.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[pymodule]
mod _fnstore {
    use pyo3::prelude::*;

    use crate::augment::{_aggregated, _augmented};
    use crate::mining::{_alike, _drawn, _grouped, _rated_counts, _ratings};
    use crate::program::_program;
    use crate::words::{_answered, _word_links};

    #[pymodule_export]
    use crate::annotate::{AnnotatedText, FoundFe, Target, TextAnnotator};
    #[pymodule_export]
    use crate::annotation::{
        AnnotationSet, Carrying, Element, Generation, Judgement, Label, Layer,
    };
    #[pymodule_export]
    use crate::attest::AttestationReport;
    #[pymodule_export]
    use crate::augment::AggregatedPredictions;
    #[pymodule_export]
    use crate::changes::{Change, Commit};
    #[pymodule_export]
    use crate::database::{Database, create, open};
    #[pymodule_export]
    use crate::discover::{DiscoveredLu, FrameSearch};
    #[pymodule_export]
    use crate::editions::{Edition, EditionChanges};
    #[pymodule_export]
    use crate::expand::{ExpansionReport, Progress};
    #[pymodule_export]
    use crate::export::ExportReport;
    #[pymodule_export]
    use crate::framenet::FramenetFiles;
    #[pymodule_export]
    use crate::generate::{GenerationProgress, GenerationReport};
    #[pymodule_export]
    use crate::import::ImportReport;
    #[pymodule_export]
    use crate::lexicon::{
        Document, Frame, FrameElement, FrameRelation, Growth, LexicalUnit, Release, SemType,
    };
    #[pymodule_export]
    use crate::links::Link;
    #[pymodule_export]
    use crate::measures::{Diversity, ForeignContent, HiddenLus, ProposalDecision};
    #[pymodule_export]
    use crate::mining::{MinedPair, PairMiner, Ratings};
    #[pymodule_export]
    use crate::paraphrase::{Paraphrase, Rewriting, SentenceRewriter};
    #[pymodule_export]
    use crate::passes::{FilterReport, VerificationReport};
    #[pymodule_export]
    use crate::promises::{PromiseCheck, PromiseStanding, PublishedEdition};
    #[pymodule_export]
    use crate::proposals::{Attestation, Proposal};
    #[pymodule_export]
    use crate::query::{Answers, Query, Table};
    #[pymodule_export]
    use crate::reads::{
        Agreement, Coverage, KeptRecipe, Predicate, Realization, Sentence, Valence, WordnetSynset,
        recipe, recipe_names,
    };
    #[pymodule_export]
    use crate::servers::Server;
    #[pymodule_export]
    use crate::shards::{
        FoundShards, FrameProgress, ShardProgress, ShardedExpansion, shard_status,
    };
    #[pymodule_export]
    use crate::stores::{DeletionReport, Difference, MergedShard, restore};
    #[pymodule_export]
    use crate::texts::{
        Alignment, Score, SpanAligner, Substitutes, Tagged, TextScorer, Verdict, WordFinder,
        WordTagger,
    };
    #[pymodule_export]
    use crate::transaction::Edits;
    #[pymodule_export]
    use crate::upkeep::{BackupReport, CheckReport, Finding, Leak};
    #[pymodule_export]
    use crate::words::{AlignmentTask, AlignmentTasks, AnnotatorAgreement, WordLinks};

    /// What the package calls is no name of the module's.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let own = module.as_any();
        own.setattr("_program", wrap_pyfunction!(_program, module)?)?;
        own.setattr("_augmented", wrap_pyfunction!(_augmented, module)?)?;
        own.setattr("_aggregated", wrap_pyfunction!(_aggregated, module)?)?;
        own.setattr("_alike", wrap_pyfunction!(_alike, module)?)?;
        own.setattr("_grouped", wrap_pyfunction!(_grouped, module)?)?;
        own.setattr("_drawn", wrap_pyfunction!(_drawn, module)?)?;
        own.setattr("_ratings", wrap_pyfunction!(_ratings, module)?)?;
        own.setattr("_rated_counts", wrap_pyfunction!(_rated_counts, module)?)?;
        own.setattr("_answered", wrap_pyfunction!(_answered, module)?)?;
        own.setattr("_word_links", wrap_pyfunction!(_word_links, module)?)
    }
}
