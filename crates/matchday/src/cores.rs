//! On which processor cores the threads of a whole league run. Touches the system's scheduler, on Linux; elsewhere nothing.
//!
//! Threads of a runtime wake each other all the time. The system tends to run who is woken where the other runs, so that
//! two share a core while the next one idles: for a sixth of a league's time, on two cores. So each keeps to its own.

use std::io;
use tokio::runtime::Runtime;

/// A runtime for a process that has the machine to itself, with a thread for each core that stays on it.
pub(crate) fn runtime() -> io::Result<Runtime> {
    #[cfg(target_os = "linux")]
    if let Some(runtime) = bound::runtime() {
        return runtime;
    }
    Runtime::new()
}

/// Starts something that may run on any core: a program takes over where whoever starts it may run.
pub(crate) fn at_large<T>(start: impl FnOnce() -> T) -> T {
    #[cfg(target_os = "linux")]
    let _until_started = bound::Leave::begin();
    start()
}

#[cfg(target_os = "linux")]
mod bound {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    use std::io;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use tokio::runtime::{Builder, Runtime};

    /// Where this process may run, once some of its threads are bound.
    static EVERYWHERE: OnceLock<CpuSet> = OnceLock::new();

    /// If we have all of the cores that we may run on. Where we get only a share of many, others may have chosen the same few.
    pub(super) fn runtime() -> Option<io::Result<Runtime>> {
        let everywhere = sched_getaffinity(None).ok()?;
        let share = std::thread::available_parallelism().ok()?;
        (u32::try_from(share.get()).ok()? == everywhere.count()).then(|| on_each(everywhere))
    }

    pub(super) fn on_each(everywhere: CpuSet) -> io::Result<Runtime> {
        EVERYWHERE.get_or_init(|| everywhere);
        let cores: Vec<CpuSet> =
            (0..CpuSet::MAX_CPU).filter(|core| everywhere.is_set(*core)).map(only).collect();
        let all = cores.len();
        let (number, (tell, started)) = (AtomicUsize::new(0), channel());
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .worker_threads(all)
            .on_thread_start(move || {
                let number = number.fetch_add(1, Ordering::Relaxed);
                // If it is refused, the thread runs where the system likes, which is slower and no worse.
                let _ = sched_setaffinity(None, cores.get(number).unwrap_or(&everywhere));
                let _ = tell.send(());
            })
            .build()?;
        // These are the ones that work. All that come later are for what blocks, and may run anywhere.
        started.iter().take(all).for_each(drop);
        Ok(runtime)
    }

    fn only(core: usize) -> CpuSet {
        let mut cores = CpuSet::new();
        cores.set(core);
        cores
    }

    /// A thread that is bound to a core, and for a moment is not.
    pub(super) struct Leave {
        bound_to: Option<CpuSet>,
    }

    impl Leave {
        pub(super) fn begin() -> Self {
            let bound_to = EVERYWHERE.get().and_then(|everywhere| {
                let bound_to = sched_getaffinity(None).ok()?;
                sched_setaffinity(None, everywhere).ok().map(|()| bound_to)
            });
            Self { bound_to }
        }
    }

    impl Drop for Leave {
        fn drop(&mut self) {
            if let Some(bound_to) = &self.bound_to {
                let _ = sched_setaffinity(None, bound_to);
            }
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use rustix::thread::sched_getaffinity;
    use std::collections::BTreeSet;
    use std::process::Command;
    use std::sync::{Arc, Barrier};

    /// Also where we get only a share of the machine.
    fn bound_runtime() -> Runtime {
        bound::on_each(sched_getaffinity(None).unwrap()).unwrap()
    }

    /// Where this thread may run, in the system's own words.
    fn own_cores() -> String {
        cores_in(&std::fs::read_to_string("/proc/thread-self/status").unwrap())
    }

    fn cores_in(status: &str) -> String {
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap().trim().to_owned()
    }

    fn cores_of_a_program() -> String {
        let said = Command::new("cat").arg("/proc/self/status").output().unwrap().stdout;
        cores_in(&String::from_utf8(said).unwrap())
    }

    #[test]
    fn each_thread_that_works_has_a_core_of_its_own() {
        let runtime = bound_runtime();
        let all = runtime.metrics().num_workers();
        // Each holds its thread until all have one.
        let together = Arc::new(Barrier::new(all));
        let cores: BTreeSet<String> = runtime.block_on(async move {
            let asked: Vec<_> = (0..all)
                .map(|_| {
                    let together = Arc::clone(&together);
                    tokio::spawn(async move {
                        together.wait();
                        own_cores()
                    })
                })
                .collect();
            let mut cores = BTreeSet::new();
            for core in asked {
                cores.insert(core.await.unwrap());
            }
            cores
        });
        assert_eq!(cores.len(), all, "{cores:?}");
        assert!(cores.iter().all(|core| core.parse::<usize>().is_ok()), "{cores:?}");
    }

    #[test]
    fn what_blocks_may_run_on_any_core() {
        let everywhere = own_cores();
        let runtime = bound_runtime();
        let blocking = async { tokio::task::spawn_blocking(own_cores).await.unwrap() };
        assert_eq!(runtime.block_on(async { tokio::spawn(blocking).await.unwrap() }), everywhere);
    }

    #[test]
    fn a_program_may_run_on_any_core_and_whoever_starts_it_stays_on_its_own() {
        let everywhere = own_cores();
        let runtime = bound_runtime();
        let start = async { (own_cores(), at_large(cores_of_a_program), own_cores()) };
        let (before, program, after) = runtime.block_on(async { tokio::spawn(start).await.unwrap() });
        assert_eq!((program, &after), (everywhere, &before));
    }
}
