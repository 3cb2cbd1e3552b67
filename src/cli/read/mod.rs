//! Commands that show what the store holds.
//!
//! | file | what |
//! | --- | --- |
//! | [`query`] | annotation sets that an expression asks for; its hits, columns, counts and plan |
//! | [`show`] | one thing of the lexicon with all that belongs to it: frame, LU, sentence, document |
//! | [`frames`] | frames, one a row |
//! | [`lus`] | LUs, one a row |
//! | [`fes`] | frame elements, one a row |
//! | [`foreign`] | what files of releases hold beside FrameNet |
//! | [`relations`] | relations between frames, as rows and as trees |
//! | [`sentences`] | sentences, one a row |
//! | [`semtypes`] | semantic types, their tree, what follows from them |
//! | [`synsets`] | what WordNets say of a word |
//! | [`predicates`] | what VerbNet and PropBank say of a word |
//! | [`valence`] | how LUs realise their frame elements |
//! | [`stats`] | coverage, growth, diversity, agreement |
//! | [`releases`] | releases of the store, their differences, the removal of one |
//! | [`recipes`] | recipes of generated sets, and those that have a name |
//! | [`changes`] | what was committed, for followers |
//! | [`history`] | who committed, when and why, and how long that can be taken back |
//! | [`export`] | annotation sets or a release in another format |

mod changes;
mod export;
mod fes;
mod foreign;
mod frames;
mod history;
mod lus;
mod predicates;
mod query;
mod recipes;
mod relations;
mod releases;
mod semtypes;
mod sentences;
mod show;
mod stats;
mod synsets;
mod valence;

commands! {
    Query in query,
    Show in show,
    Frames in frames,
    Lus in lus,
    Fes in fes,
    Foreign in foreign,
    Relations in relations,
    Semtypes in semtypes,
    Sentences in sentences,
    Synsets in synsets,
    Predicates in predicates,
    Valence in valence,
    Stats in stats,
    Releases in releases,
    Recipes in recipes,
    Changes in changes,
    History in history,
    Export in export,
}
