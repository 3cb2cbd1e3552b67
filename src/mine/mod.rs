//! Paraphrases in clusters of news articles about one event.
//!
//! There are two ways (Dolan, Quirk and Brockett 2004, section 2). [`Method::L12`] takes sentences
//! that few edits of words part, [`Method::F2`] the first sentences of articles that share words.
//! [`mine`] finds the pairs of one cluster; it knows no file and no other cluster. [`Grouping`]
//! makes clusters of articles that come without.

mod cluster;
mod distance;
mod estimate;
mod judged;
mod likeness;
mod pairs;
mod sentences;

pub use cluster::{Grouping, day_of};
pub use distance::{EditCost, word_distance};
pub use estimate::{Estimate, estimate};
pub use judged::{
    COUNTS, LABELS, RatedPair, RaterAgreement, RatingRow, draw, rater_agreement, ratings,
};
pub use likeness::likenesses;
pub use pairs::{Article, Method, MineOptions, Mined, Pair, SentencePlace, Unseen, mine};
pub use sentences::{replace_numbers_and_days, sentences};
