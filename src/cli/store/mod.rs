//! Commands that change the store, or keep it whole.
//!
//! | file | what |
//! | --- | --- |
//! | [`import`] | a release, an export, or span-labelled data into the store |
//! | [`edit`] | a script of edits, all of them or none |
//! | [`delete`] | generated sets that match, with what grew from them |
//! | [`merge`] | shards of an expansion into the store, and how far they are |
//! | [`judge`] | judgements of sets, and of rewritings |
//! | [`proposals`] | proposed LUs and decisions on them |
//! | [`links`] | links to other lexicons, and decisions on them |
//! | [`review`] | the page and the terminal on which people decide |
//! | [`edition`] | named selections of sets, frozen |
//! | [`check`] | whether the store is whole, and its repair |
//! | [`reindex`] | the index built anew |
//! | [`backup`] | a copy of the store with hashes |
//! | [`restore`] | a backup in the place of the store |
//! | [`undo`] | commits taken back |

mod backup;
mod check;
mod delete;
mod edit;
mod edition;
mod import;
mod judge;
mod links;
mod merge;
mod proposals;
mod reindex;
mod restore;
mod review;
mod undo;

commands! {
    Import in import,
    Edit in edit,
    Undo in undo,
    Delete in delete,
    Merge in merge,
    Judge in judge,
    Proposals in proposals,
    Links in links,
    Review in review,
    Edition in edition,
    Check in check,
    Reindex in reindex,
    Backup in backup,
    Restore in restore,
}
