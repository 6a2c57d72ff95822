//! What nobody uses at the moment.
//!
//! It lies on stacks, one for each thread, so that a thread uses next what it used last and what is still in the caches of its core.
//! Those at the bottom get old and go.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

/// Stacks for each core. There are more threads than those that answer requests, and two on one stack get into each other's way.
const STACKS: usize = 4;

/// Threads that have asked so far.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of this thread.
    static THREAD: usize = THREADS.fetch_add(1, Relaxed);
}

/// Things of one kind.
pub(crate) struct Idle<T>(Box<[Mutex<Vec<T>>]>);

impl<T> Default for Idle<T> {
    fn default() -> Self {
        let stacks = STACKS * available_parallelism().map_or(1, NonZero::get);
        Self((0..stacks).map(|_| Mutex::default()).collect())
    }
}

impl<T> Idle<T> {
    /// What this thread put here last, or else what another one did.
    pub(crate) fn pop(&self) -> Option<T> {
        self.own_first().find_map(|stack| lock(stack).pop())
    }

    pub(crate) fn push(&self, thing: T) {
        if let Some(own) = self.own_first().next() {
            lock(own).push(thing);
        }
    }

    /// Takes out, from the bottom of each stack, those that are old; whether there are others. What lies higher is never older.
    pub(crate) fn take_while(&self, old: impl Fn(&T) -> bool) -> (Vec<T>, bool) {
        let (mut taken, mut left) = (Vec::new(), false);
        for mut stack in self.0.iter().map(lock) {
            let end = stack.partition_point(&old);
            taken.extend(stack.drain(..end));
            left |= !stack.is_empty();
        }
        (taken, left)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|stack| lock(stack).is_empty())
    }

    /// The stack of this thread, then the others.
    fn own_first(&self) -> impl Iterator<Item = &Mutex<Vec<T>>> {
        let (before, from) = self.0.split_at(THREAD.with(|thread| thread % self.0.len().max(1)));
        from.iter().chain(before)
    }
}

fn lock<T>(stack: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    stack.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_thread_gets_its_own_back_first_and_then_whatever_there_is() {
        let idle = Idle::default();
        idle.push(1);
        idle.push(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                idle.push(3);
                assert_eq!(idle.pop(), Some(3));
                assert_eq!(idle.pop(), Some(2));
            });
        });
        assert_eq!((idle.pop(), idle.pop()), (Some(1), None));
    }

    #[test]
    fn the_old_go_whoever_put_them_there() {
        let idle = Idle::default();
        idle.push(1);
        idle.push(3);
        thread::scope(|scope| {
            scope.spawn(|| idle.push(2));
        });
        let (mut old, left) = idle.take_while(|since| *since < 3);
        old.sort_unstable();
        assert_eq!((old, left), (vec![1, 2], true));
        assert_eq!(idle.take_while(|_| true), (vec![3], false));
        assert!(idle.is_empty());
    }
}
