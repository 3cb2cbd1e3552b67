//! Work on all threads whose results come in order.
//!
//! Some pieces of work are under way at a time, twice as many as there are threads, and no piece
//! begins before there is room. So memory is that of some results, however many there are.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How long a thread of the pool waits for a result before it looks for other work again.
const PAUSE: Duration = Duration::from_millis(1);

/// Does each piece of work on some thread of rayon's pool, and hands the results to `take` on this
/// one, in the order of the work: the same calls whatever the number of threads.
///
/// An error of `take` ends it: what has not begun by then is not done. A panic of `map` passes on
/// when its result is due.
///
/// # Errors
/// What `take` fails with.
pub(crate) fn in_order<T: Send, R: Send, E>(
    mut work: impl Iterator<Item = T>,
    map: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = rayon::current_num_threads();
    if threads == 1 {
        return work.try_for_each(|piece| take(map(piece)));
    }
    let (map, is_over) = (&map, &AtomicBool::new(false));
    let (sender, receiver) = channel();
    rayon::in_place_scope(|scope| {
        let mut begun = 0_u64;
        let mut begin_next = || {
            let Some(piece) = work.next() else { return false };
            let (number, sender) = (begun, sender.clone());
            begun += 1;
            scope.spawn(move |_| {
                if !is_over.load(Ordering::Relaxed) {
                    let result = catch_unwind(AssertUnwindSafe(|| map(piece)));
                    // Nobody waits for it any more where the receiver is gone.
                    let _ = sender.send((number, result));
                }
            });
            true
        };
        let mut left = (0..2 * threads).take_while(|_| begin_next()).count();
        let (mut early, mut due) = (BTreeMap::new(), 0);
        while left > 0 {
            let result = match early.remove(&due) {
                Some(result) => result,
                None => {
                    let (number, result) = received(&receiver);
                    early.insert(number, result);
                    continue;
                }
            };
            (left, due) = (left - 1, due + 1);
            let outcome = match result {
                Ok(result) => take(result),
                Err(panic) => {
                    is_over.store(true, Ordering::Relaxed);
                    resume_unwind(panic)
                }
            };
            if outcome.is_err() {
                is_over.store(true, Ordering::Relaxed);
                return outcome;
            }
            left += usize::from(begin_next());
        }
        Ok(())
    })
}

/// The next result. A thread of the pool does other work of the pool meanwhile: it may be the one
/// that the result waits for.
fn received<T>(receiver: &Receiver<T>) -> T {
    const ALIVE: &str = "the sender lives as long as the scope";
    if rayon::current_thread_index().is_none() {
        return receiver.recv().expect(ALIVE);
    }
    loop {
        if let Ok(result) = receiver.try_recv() {
            return result;
        }
        if rayon::yield_now() == Some(rayon::Yield::Executed) {
            continue;
        }
        match receiver.recv_timeout(PAUSE) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => panic!("{ALIVE}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::AtomicUsize;

    use proptest::prelude::*;

    use super::*;

    /// Runs something with so many threads: by one of them, or by one that waits for them.
    fn with_threads<R: Send>(threads: usize, run: impl FnOnce() -> R + Send) -> R {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(run)
    }

    /// Takes a while that differs from piece to piece.
    fn dally(piece: usize) {
        std::thread::sleep(Duration::from_micros((piece as u64 * 7919) % 300));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20) })]

        #[test]
        fn results_come_in_the_order_of_the_work(
            pieces in 0..60_usize, threads in prop::sample::select(vec![1, 2, 3, 7]), end: prop::sample::Index,
        ) {
            let end = end.index(pieces + 1);
            let mapped = AtomicUsize::new(0);
            let (taken, outcome) = with_threads(threads, || {
                let mut taken = Vec::new();
                let map = |piece| {
                    mapped.fetch_add(1, Ordering::Relaxed);
                    dally(piece);
                    piece
                };
                let outcome = in_order(0..pieces, map, |piece| {
                    taken.push(piece);
                    if piece == end { Err(piece) } else { Ok(()) }
                });
                (taken, outcome)
            });
            prop_assert_eq!(taken, (0..pieces.min(end + 1)).collect::<Vec<_>>());
            prop_assert_eq!(outcome, if end < pieces { Err(end) } else { Ok(()) });
            prop_assert!(mapped.into_inner() <= pieces.min(end + 1 + 2 * threads));
        }
    }

    #[test]
    fn work_within_work_ends_with_fewer_threads_than_there_are_levels() {
        for threads in [1, 2] {
            let sums = with_threads(threads, || {
                let mut sums = Vec::new();
                let inner = |piece: usize| {
                    let mut sum = 0;
                    let add = |of| {
                        sum += of;
                        Ok::<_, Infallible>(())
                    };
                    in_order(0..piece, |of| of, add).unwrap();
                    sum
                };
                in_order(0..20, inner, |sum| {
                    sums.push(sum);
                    Ok::<_, Infallible>(())
                })
                .unwrap();
                sums
            });
            assert_eq!(
                sums,
                (0..20).map(|n: usize| n * n.saturating_sub(1) / 2).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_panic_passes_on_behind_the_results_before_it() {
        for threads in [1, 3] {
            let mut taken = Vec::new();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                with_threads(threads, || {
                    let map = |piece| if piece == 5 { panic!("the fifth") } else { piece };
                    let _ = in_order(0..20, map, |piece| {
                        taken.push(piece);
                        Ok::<_, Infallible>(())
                    });
                })
            }));
            assert_eq!(*outcome.unwrap_err().downcast::<&str>().unwrap(), "the fifth");
            assert_eq!(taken, [0, 1, 2, 3, 4]);
        }
    }
}
