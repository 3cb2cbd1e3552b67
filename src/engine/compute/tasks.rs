//! The processor's threads, and who takes the next task.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` for every task number below `tasks`, on up to `threads` threads.
pub(super) fn for_each_task(threads: usize, tasks: usize, work: impl Fn(usize) + Sync) {
    let workers = threads.min(tasks);
    if workers <= 1 {
        (0..tasks).for_each(work);
        return;
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                break;
            }
            work(task);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| worker());
        }
        worker();
    });
}

/// Runs `work` over pieces of `data` of `piece` elements each (the last may be shorter), on up to
/// `threads` threads. `work` gets the piece's number and the piece.
pub(super) fn for_each_piece(
    threads: usize,
    data: &mut [f32],
    piece: usize,
    work: impl Fn(usize, &mut [f32]) + Sync,
) {
    let piece = piece.max(1);
    let workers = threads.min(data.len().div_ceil(piece));
    if workers <= 1 {
        data.chunks_mut(piece).enumerate().for_each(|(number, chunk)| work(number, chunk));
        return;
    }
    let pieces = std::sync::Mutex::new(data.chunks_mut(piece).enumerate());
    let take = || pieces.lock().expect("no task panics while it takes a piece").next();
    let worker = || {
        while let Some((number, chunk)) = take() {
            work(number, chunk);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| worker());
        }
        worker();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_runs_exactly_once() {
        for threads in [1, 2, 5] {
            let counts: Vec<AtomicUsize> = (0..37).map(|_| AtomicUsize::new(0)).collect();
            for_each_task(threads, counts.len(), |task| {
                counts[task].fetch_add(1, Ordering::Relaxed);
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
        for_each_task(2, 0, |_| panic!("there is no task"));
    }

    #[test]
    fn pieces_are_numbered_and_cover_the_data() {
        for threads in [1, 3] {
            let mut data = vec![0.0; 10];
            for_each_piece(threads, &mut data, 4, |number, piece| piece.fill(number as f32));
            assert_eq!(data, [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
        }
    }
}
