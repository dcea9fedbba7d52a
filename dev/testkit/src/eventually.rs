//! Waits until something holds: the one poll of all suites. What never comes to hold fails the test that waits for it, and
//! says what was seen last.

use std::fmt::Debug;
use std::thread;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Far longer than anything takes on a busy machine, and shorter than the gate waits for a test.
const LONGEST: Duration = Duration::from_secs(120);

/// What one look tells: a `bool`, something or nothing, or what was wanted or what was seen instead.
pub trait Look {
    type Found;

    /// What was wanted, or else what was seen.
    fn found(self) -> Result<Self::Found, String>;
}

impl Look for bool {
    type Found = ();

    fn found(self) -> Result<(), String> {
        self.then_some(()).ok_or_else(String::new)
    }
}

impl<T> Look for Option<T> {
    type Found = T;

    fn found(self) -> Result<T, String> {
        self.ok_or_else(String::new)
    }
}

impl<T, E: Debug> Look for Result<T, E> {
    type Found = T;

    fn found(self) -> Result<T, String> {
        self.map_err(|seen| format!("{seen:?}"))
    }
}

/// Looks until `what` holds, and gives what was found.
#[track_caller]
pub fn eventually<L: Look>(what: &str, mut look: impl FnMut() -> L) -> L::Found {
    let began = Instant::now();
    loop {
        match look().found() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < LONGEST, "never: {what}: {seen}"),
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// The same, of what an async function looks at.
#[cfg(feature = "store")]
pub async fn eventually_async<L: Look>(what: &str, mut look: impl AsyncFnMut() -> L) -> L::Found {
    let began = Instant::now();
    loop {
        match look().await.found() {
            Ok(found) => return found,
            Err(seen) => assert!(began.elapsed() < LONGEST, "never: {what}: {seen}"),
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
