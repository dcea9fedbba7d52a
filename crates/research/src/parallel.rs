//! Runs numbered blocks of work on several threads, and folds the results in the order of their numbers. So the
//! result does not depend on the number of threads, early termination included.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// How many blocks are played at once where a program is asked many turns in one message.
const AT_ONCE: usize = 256;

#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    pub threads: NonZeroUsize,
    /// Once set, no block is started and running ones end early; finished matches count.
    pub stop: &'a AtomicBool,
}

impl Run<'_> {
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs all blocks, or those until `fold` breaks. Once `wide` says so, [`AT_ONCE`] blocks are played at once, whose threads
    /// mostly wait for a program.
    pub fn in_order<R: Send>(
        &self,
        blocks: u64,
        wide: impl Fn() -> bool + Sync,
        work: impl Fn(u64) -> R + Sync,
        mut fold: impl FnMut(R) -> ControlFlow<()>,
    ) {
        let next = AtomicU64::new(0);
        let enough = AtomicBool::new(false);
        let widened = AtomicBool::new(false);
        let (next, enough, widened) = (&next, &enough, &widened);
        let (work, wide) = (&work, &wide);
        let ended = move || self.is_stopped() || enough.load(Ordering::Relaxed);
        let one = move |give: &SyncSender<(u64, R)>| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            number < blocks && give.send((number, work(number))).is_ok()
        };
        thread::scope(|scope| {
            let (give, take) = sync_channel(2 * self.threads.get());
            for _ in 0..self.threads.get() {
                let give = give.clone();
                scope.spawn(move || {
                    while !ended() && one(&give) {
                        if wide() && !widened.swap(true, Ordering::Relaxed) {
                            for _ in self.threads.get()..AT_ONCE {
                                let give = give.clone();
                                scope.spawn(move || while !ended() && one(&give) {});
                            }
                        }
                    }
                });
            }
            drop(give);
            let mut early = BTreeMap::new();
            let mut due = 0;
            for (number, result) in take {
                early.insert(number, result);
                while let Some(result) = early.remove(&due) {
                    due += 1;
                    if fold(result).is_break() {
                        enough.store(true, Ordering::Relaxed);
                        return;
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(threads: usize, blocks: u64, enough: u64, stop: &AtomicBool) -> Vec<u64> {
        let wide = threads == 2;
        let mut seen = Vec::new();
        let run = Run {
            threads: NonZeroUsize::new(threads).unwrap(),
            stop,
        };
        run.in_order(
            blocks,
            || wide,
            |number| number * number,
            |square| {
                seen.push(square);
                if seen.len() as u64 == enough {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            },
        );
        seen
    }

    #[test]
    fn blocks_are_folded_in_order_on_any_number_of_threads() {
        let squares: Vec<u64> = (0..500).map(|number| number * number).collect();
        for threads in [1, 2, 3, 8] {
            assert_eq!(
                folded(threads, 500, u64::MAX, &AtomicBool::new(false)),
                squares,
                "{threads}"
            );
        }
    }

    #[test]
    fn an_early_end_gives_the_same_on_any_number_of_threads() {
        for threads in [1, 2, 3, 8] {
            let seen = folded(threads, 10_000, 37, &AtomicBool::new(false));
            assert_eq!(
                (seen.len(), seen.last()),
                (37, Some(&(36 * 36))),
                "{threads}"
            );
        }
    }

    #[test]
    fn nothing_is_begun_once_it_is_stopped() {
        assert_eq!(
            folded(2, 100, u64::MAX, &AtomicBool::new(true)),
            Vec::<u64>::new()
        );
        assert_eq!(
            folded(2, 0, u64::MAX, &AtomicBool::new(false)),
            Vec::<u64>::new()
        );
    }
}
