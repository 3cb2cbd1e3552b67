//! Groups of arguments that commands share, and what they resolve to.
//!
//! | file | what |
//! | --- | --- |
//! | [`locate`] | where the store and models lie |
//! | [`threads`] | `--threads` |
//! | [`author`] | who commits |
//! | [`device`] | `--device` |
//! | [`language`] | `--language`, and models' languages |
//! | [`named`] | names of the cases of an enum |
//! | [`number`] | numbers with bounds |
//! | [`endpoint`] | `--endpoint`: a server that writes |
//! | [`rewriter`] | which rewriter rewrites |
//! | [`generator`] | what writes, ranks and filters |
//! | [`identifier`] | which frame model identifies frames |
//! | [`labeller`] | which labeller finds FEs |
//! | [`tagger`] | which tagger tags |
//! | [`verifier`] | which verifier is asked, and which rewriter backwards |
//! | [`searcher`] | which models look for new LUs |
//! | [`splits`] | `--split-list`: which part of the data something belongs to |
//! | [`query`] | expressions and lists of fields |
//! | [`sample`] | `--sample`: some of what a query finds |
//! | [`release`] | which release a command is about |
//! | [`chosen_lus`] | which LUs a command is about |
//! | [`listing`] | which names, of which release, how many rows |
//! | [`confirm`] | questions before what cannot be taken back |

pub(crate) mod author;
pub(crate) mod chosen_lus;
pub(crate) mod confirm;
pub(crate) mod device;
pub(crate) mod endpoint;
pub(crate) mod generator;
pub(crate) mod identifier;
pub(crate) mod labeller;
pub(crate) mod language;
pub(crate) mod listing;
pub(crate) mod locate;
pub(crate) mod named;
pub(crate) mod number;
pub(crate) mod query;
pub(crate) mod release;
pub(crate) mod rewriter;
pub(crate) mod sample;
pub(crate) mod searcher;
pub(crate) mod splits;
pub(crate) mod tagger;
pub(crate) mod threads;
pub(crate) mod verifier;
