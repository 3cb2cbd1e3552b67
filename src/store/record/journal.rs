//! The record of how far the chain of a seed's target has come.

use super::super::JournalEntry;

fields! {
    JournalEntry { round, end, chain }
}
