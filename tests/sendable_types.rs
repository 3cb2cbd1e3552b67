//! What a program hands to another thread: checked by the compiler. `Loader` and `Predictions` hold
//! the writer's turn, and stay on the thread that began them.

use fnstore::database::{Database, DatabaseError, EditError, LookupError};
use fnstore::edit::{Script, Transaction};
use fnstore::lexicon::Lexicon;
use fnstore::model::{AnnotationSet, Frame, LexUnit, Release, Sentence};
use fnstore::query::{Cursor, Expression, QueryError, Selection, SortKey, Term, Value};
use fnstore::search::{Answer, Answers, Catalog, Match, Matches};
use fnstore::store::{Change, Identity, StoreError};
use fnstore::transfer::{ImportOptions, ImportProgress, ImportReport};
use fnstore::upkeep::{CheckReport, ReindexReport};

fn shared<T: Send + Sync>() {}

fn sent<T: Send>() {}

fn owned<T: Send + 'static>() {}

#[test]
fn the_databases_types_go_to_other_threads() {
    shared::<Database>();
    shared::<Lexicon<'_>>();
    shared::<Catalog<'_>>();
    shared::<(Expression, Term, Selection, SortKey, Cursor, Value)>();
    shared::<(Answer, AnnotationSet, Sentence, Frame, LexUnit, Release)>();
    shared::<(Change, Identity)>();
    shared::<(ImportOptions, ImportProgress, ImportReport, CheckReport, ReindexReport)>();
    shared::<(DatabaseError, EditError, LookupError, StoreError, QueryError)>();
    sent::<(Answers<'_>, Matches<'_>, Match<'_>)>();
    sent::<(Transaction<'_>, Script<'_, '_>)>();
    owned::<(Answers<'static>, Matches<'static>, Match<'static>)>();
}

#[cfg(feature = "neural")]
#[test]
fn the_types_of_models_go_to_other_threads() {
    use fnstore::expand::{
        BlindTo, ExpandError, ExpansionProgress, FromSisters, Models, Recipe, Report, RunOptions,
    };
    use fnstore::generate::{GenerationProgress, GenerationRecipe, GenerationReport, Generator};
    use fnstore::proposals::{ProposalError, Proposals};
    use fnstore::{align, filter, identify, label, paraphrase, review, tag, vectors};

    shared::<(Recipe, Models, RunOptions, FromSisters, BlindTo)>();
    shared::<(ExpansionProgress, Report, ExpandError)>();
    sent::<fnstore::expand::Expander>();
    shared::<(GenerationProgress, GenerationRecipe, GenerationReport)>();
    shared::<(Proposals<'_>, ProposalError, review::Session)>();
    sent::<Generator>();
    sent::<(align::Aligner, filter::Filter, tag::Tagger, vectors::WordVectors)>();
    sent::<(identify::FrameIdentifier, label::Labeller)>();
    sent::<(paraphrase::Paraphraser, paraphrase::Rewriter)>();
}
