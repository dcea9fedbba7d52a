//! What this process has in hand: resident memory and open files, as the system tells them.

use std::fs;
use std::time::Duration;
use tokio::task::JoinHandle;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    pub(crate) resident_kb: u64,
    pub(crate) files: usize,
}

pub(crate) fn now() -> Figures {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident_kb = resident.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
    let files = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    Figures {
        resident_kb: resident_kb.unwrap_or_default(),
        files,
    }
}

/// Looks every few milliseconds until it is asked for the most that it has seen.
pub(crate) struct Watch(JoinHandle<()>, std::sync::Arc<std::sync::Mutex<Figures>>);

pub(crate) fn watch() -> Watch {
    let most = std::sync::Arc::new(std::sync::Mutex::new(now()));
    let seen = std::sync::Arc::clone(&most);
    let looking = tokio::spawn(async move {
        loop {
            let figures = now();
            {
                let mut most = seen.lock().unwrap();
                most.resident_kb = most.resident_kb.max(figures.resident_kb);
                most.files = most.files.max(figures.files);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    Watch(looking, most)
}

impl Watch {
    pub(crate) fn most(self) -> Figures {
        self.0.abort();
        *self.1.lock().unwrap()
    }
}
