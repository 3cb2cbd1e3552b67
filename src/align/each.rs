//! Alignment of many requests of which some may be refused: each has its own answer.

use std::collections::BTreeMap;

use super::aligner::{AlignRequest, Aligner, Ranking, WordRanking, WordRequest};
use super::error::AlignError;

/// What is found for a request, or why it is refused.
type Answer<R> = Result<Option<R>, AlignError>;

impl Aligner {
    /// As [`rank`](Self::rank), and a request that is refused costs no other its answer.
    ///
    /// # Errors
    /// When the network fails.
    pub fn rank_each(
        &self,
        requests: &[AlignRequest<'_>],
        runners_up: usize,
    ) -> Result<Vec<Answer<Ranking>>, AlignError> {
        each(requests, |requests| self.rank(requests, runners_up))
    }

    /// As [`rank_words`](Self::rank_words), and a request that is refused costs no other its
    /// answer.
    ///
    /// # Errors
    /// When the network fails.
    pub fn rank_words_each(
        &self,
        requests: &[WordRequest<'_>],
        runners_up: usize,
    ) -> Result<Vec<Answer<WordRanking>>, AlignError> {
        each(requests, |requests| self.rank_words(requests, runners_up))
    }
}

/// What is found for each request. A refused one takes its batch with it, so it is set aside and
/// the rest are tried again.
fn each<Q: Copy, R>(
    requests: &[Q],
    mut rank: impl FnMut(&[Q]) -> Result<Vec<Option<R>>, AlignError>,
) -> Result<Vec<Answer<R>>, AlignError> {
    let mut refused: BTreeMap<usize, AlignError> = BTreeMap::new();
    let rankings = loop {
        let good: Vec<usize> = (0..requests.len()).filter(|at| !refused.contains_key(at)).collect();
        let asked: Vec<Q> = good.iter().map(|&at| requests[at]).collect();
        match rank(&asked) {
            Ok(rankings) => break rankings,
            Err(error) => match error.request() {
                Some(request) => refused.insert(good[request], error),
                None => return Err(error),
            },
        };
    };
    let mut rankings = rankings.into_iter();
    let outcome = |at| match refused.remove(&at) {
        Some(error) => Err(error),
        None => Ok(rankings.next().expect("every good request has been answered")),
    };
    Ok((0..requests.len()).map(outcome).collect())
}
