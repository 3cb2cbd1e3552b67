//! The searches that wait for their turn, and which of them is next.
//!
//! They lie in the order in which they came, also after some of them began and had to wait again.
//! Jobs of one source begin in that order; among sources the longest goes first, until one was
//! overtaken too often.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::constraint::Constraint;
use super::job::{JobId, SourceId};
use super::settings::SearchSettings;

/// Jobs that may begin before one that came earlier; then it is its turn as soon as its source is
/// free, whatever its length. As many as the largest batches hold a few times over, so that length
/// decides among them.
pub(super) const MOST_OVERTAKEN: usize = 1024;

/// A search that waits, or what is left of it to begin anew.
#[derive(Debug, Clone)]
pub(super) struct Waiting {
    pub(super) job: JobId,
    pub(super) source: SourceId,
    /// Tokens of the source.
    pub(super) length: usize,
    pub(super) constraint: Constraint,
    pub(super) settings: SearchSettings,
    /// It bans all that the job before it banned, and requires the same.
    pub(super) goes_on: bool,
    /// Jobs that came later and began before it.
    pub(super) overtaken: usize,
}

/// All of them, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Queue {
    jobs: VecDeque<Waiting>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Puts a job where it came: at the end, unless it waited before.
    pub(super) fn put(&mut self, waiting: Waiting) {
        let at = self.jobs.partition_point(|earlier| earlier.job < waiting.job);
        self.jobs.insert(at, waiting);
    }

    /// Takes the job that begins next if it has at most `most_rows` rows. Of those whose source is
    /// free it is the first that was overtaken often enough, else the first with the longest
    /// source.
    pub(super) fn take(
        &mut self,
        most_rows: usize,
        is_free: impl Fn(SourceId) -> bool,
    ) -> Option<Waiting> {
        let at = self.next(is_free)?;
        (self.jobs[at].settings.rows() <= most_rows).then(|| self.jobs.remove(at)).flatten()
    }

    fn next(&self, is_free: impl Fn(SourceId) -> bool) -> Option<usize> {
        let free = || self.jobs.iter().enumerate().filter(|(_, job)| is_free(job.source));
        let longest = || free().min_by_key(|(_, job)| Reverse(job.length));
        let (at, job) = free().find(|(_, job)| job.overtaken >= MOST_OVERTAKEN).or_else(longest)?;
        // One that had to wait again was not overtaken while it ran, but those behind it were.
        self.jobs.range(..at).position(|earlier| earlier.source == job.source).or(Some(at))
    }

    /// Counts that a job began before all that came earlier.
    pub(super) fn count_begun(&mut self, begun: JobId) {
        let earlier = self.jobs.iter_mut().take_while(|earlier| earlier.job < begun);
        earlier.for_each(|earlier| earlier.overtaken += 1);
    }

    /// Drops the jobs of a source.
    pub(super) fn drop_source(&mut self, source: SourceId) {
        self.jobs.retain(|waiting| waiting.source != source);
    }

    pub(super) fn clear(&mut self) {
        self.jobs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::BeamSettings;
    use super::*;

    fn job(job: u64, source: u64, length: usize) -> Waiting {
        Waiting {
            job: JobId(job),
            source: SourceId(source),
            length,
            constraint: Constraint::default(),
            settings: BeamSettings::default().into(),
            goes_on: false,
            overtaken: 0,
        }
    }

    #[test]
    fn jobs_of_a_source_stay_in_order_when_the_first_waits_again() {
        let mut queue = Queue::default();
        for waiting in [job(1, 0, 2), job(2, 0, 2), job(3, 1, 9)] {
            queue.put(waiting);
        }
        let longest = queue.take(usize::MAX, |_| true).unwrap();
        assert_eq!(longest.job, JobId(3));
        let first = queue.take(usize::MAX, |_| true).unwrap();
        assert_eq!(first.job, JobId(1));
        // While it runs, others pass the second one.
        (0..MOST_OVERTAKEN).for_each(|_| queue.count_begun(JobId(4)));
        queue.put(first);
        queue.put(longest);
        let order: Vec<JobId> =
            std::iter::from_fn(|| queue.take(usize::MAX, |_| true)).map(|job| job.job).collect();
        assert_eq!(order, [1, 2, 3].map(JobId));
    }

    #[test]
    fn only_jobs_that_fit_are_taken_and_only_earlier_ones_are_overtaken() {
        let mut queue = Queue::default();
        [job(1, 0, 2), job(2, 1, 9), job(3, 2, 5)].into_iter().for_each(|job| queue.put(job));
        let rows = BeamSettings::default().beam_size;
        assert!(queue.take(rows - 1, |_| true).is_none());
        assert!(queue.take(rows, |_| false).is_none());
        let begun = queue.take(rows, |_| true).unwrap();
        queue.count_begun(begun.job);
        let overtaken: Vec<usize> = queue.jobs.iter().map(|job| job.overtaken).collect();
        assert_eq!((begun.job, overtaken), (JobId(2), vec![1, 0]));
    }
}
