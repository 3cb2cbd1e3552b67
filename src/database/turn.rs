//! Whose turn it is to write by a handle: one thread's, while the others wait.
//!
//! A callback that writes by the handle that calls it would wait for itself: it is refused.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// What one thread holds at a time.
#[derive(Default)]
pub(crate) struct Turns<T> {
    content: Mutex<T>,
    holder: Mutex<Option<ThreadId>>,
}

impl<T> Turns<T> {
    pub(super) fn new(content: T) -> Self {
        Self { content: Mutex::new(content), holder: Mutex::default() }
    }

    /// Waits for what other threads do; `None` where this one has the turn.
    pub(super) fn take(&self) -> Option<Taken<'_, T>> {
        let own = Some(thread::current().id());
        // Nobody but this thread can make it the holder.
        if *self.holder() == own {
            return None;
        }
        let content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        *self.holder() = own;
        Some(Taken { turns: self, content })
    }

    pub(super) fn into_inner(self) -> T {
        self.content.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn holder(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The turn of this thread, until it is dropped.
pub(crate) struct Taken<'a, T> {
    turns: &'a Turns<T>,
    content: MutexGuard<'a, T>,
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        *self.turns.holder() = None;
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.content
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_the_turn_is_told_and_others_wait() {
        let turns = Turns::new(0);
        let mut held = turns.take().unwrap();
        assert!(turns.take().is_none());
        thread::scope(|scope| {
            let other = scope.spawn(|| *turns.take().unwrap());
            *held = 1;
            drop(held);
            assert_eq!(other.join().unwrap(), 1);
        });
        assert_eq!(*turns.take().unwrap(), 1);
    }

    #[test]
    fn a_turn_ends_with_a_panic() {
        let turns = Turns::new(0);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _held = turns.take().unwrap();
            panic!("of the caller");
        }));
        assert!(panicked.is_err() && turns.take().is_some());
    }
}
