//! Answering a query: planned, evaluated, selected.
//!
//! `plan` narrows where answers can lie, by keys and by the index. `evaluate` asks the whole
//! expression of every annotation set there. `select` orders what holds (`ranked`), and gives
//! answers one by one; `scan` has all threads look at all of them, `parts` those of a caller.
//! `counting` reads no set where it need not; `shown` says what stands above and below an answer's
//! sentence; `sample` takes some of all. `facts` keeps what is looked up for them; a [`Catalog`]
//! has the names behind the numbers.

mod answer;
mod catalog;
mod count;
mod counting;
mod distinct;
mod editions;
mod evaluate;
#[cfg(feature = "neural")]
mod evidence;
mod facts;
mod followed;
mod foreign;
mod links;
mod listed;
mod lookup;
mod matched;
mod memo;
mod parts;
mod plan;
mod ranked;
mod recipes;
mod record;
mod relatives;
mod sample;
mod scan;
mod select;
mod shown;
mod value;

#[doc(hidden)]
pub use crate::query::Value;
pub(crate) use answer::elements;
pub use answer::{Answer, ElementLabel};
#[doc(hidden)]
pub use catalog::Catalog;
pub use count::ValueCount;
pub(crate) use distinct::{Distinct, new_in_each};
pub(crate) use foreign::ForeignContent;
#[doc(hidden)]
pub use listed::UnknownListed;
#[doc(hidden)]
pub use matched::Match;
#[doc(hidden)]
pub use parts::Part;
#[doc(hidden)]
pub use plan::{Access, Explanation, TermReport};
#[doc(hidden)]
pub use recipes::StoredRecipe;
pub use record::AnswerRecord;
#[doc(hidden)]
pub use record::{
    CarriedRecord, CarryingRecord, ElementRecord, GenerationRecord, VerificationRecord,
};
pub use sample::{Sample, Sampling};
pub use select::Answers;
#[doc(hidden)]
pub use select::Matches;
