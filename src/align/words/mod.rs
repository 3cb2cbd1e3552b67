//! Word alignment without a network: which words of a paraphrase answer to which of its sentence.
//!
//! A tool in its own right, and the baseline that span alignment is measured against (Culkin et al.
//! 2021, section 4.2). Two models read the same pairs in opposite directions, each explaining every
//! word of one side by a word of the other or by none (*null*). Their answers are combined.
//!
//! ```text
//! pairs           bitext.rs       sentence pairs, gold links, and words as numbers
//! t(f | e)        table.rs        which words translate which; EM's counts
//! a(i | j, m, n)  positions.rs    where the word stands: anywhere, near the diagonal, near the last one
//! one direction   directed.rs     expectation maximisation, posteriors
//! both            aligner.rs      two directions, combined as symmetry.rs says
//! links           links.rs        their text form (Pharaoh), and the span that they cover
//! how good        error_rate.rs   alignment error rate against sure and possible links
//! gold            annotators.rs   sure and possible links from those of two people
//! ```
//!
//! Both sides are one language here, which the general models do not know. Of their own accord they
//! have to learn for each word that it translates itself, and cannot for a rare one;
//! [`Settings::identity`] tells them.
//!
//! Bibliography: Brown, Della Pietra, Della Pietra and Mercer 1993, The Mathematics of Statistical
//! Machine Translation (Model 1); Vogel, Ney and Tillmann 1996, HMM-Based Word Alignment; Och and
//! Ney 2003, A Systematic Comparison of Various Statistical Alignment Models; Liang, Taskar and
//! Klein 2006, Alignment by Agreement; Dyer, Chahuneau and Smith 2013, A Simple, Fast, and
//! Effective Reparameterization of IBM Model 2; Dolan, Quirk and Brockett 2004, Unsupervised
//! Construction of Large Paraphrase Corpora.

mod aligner;
mod annotators;
mod bitext;
mod directed;
mod error_rate;
mod links;
mod positions;
mod symmetry;
mod table;

pub use aligner::{Settings, WordAligner, WordProgress};
pub use annotators::{between, combined};
pub(super) use bitext::likeness;
pub use bitext::{BadPair, NoPair, SentencePair, read_pairs};
pub use directed::{MAX_LENGTH, Model, ModelName};
pub use error_rate::{ErrorRate, LinkCounts};
pub use links::{Link, Links};
pub use symmetry::{Symmetrization, symmetrize};
