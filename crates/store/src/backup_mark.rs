//! When a store was last copied and the copy checked: the time of a file beside it, which `/metrics` tells of. Reads and writes that
//! file alone.

use crate::path::StorePath;
use crate::store_url::StoreUrl;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

const SUFFIX: &str = ".backed-up";

fn mark(store: &StoreUrl) -> Option<PathBuf> {
    let path = StorePath::resolve(store.file()?).ok()?;
    Some(path.beside(SUFFIX))
}

/// Notes that there is a good copy as of now. Of a database others make the copies.
pub fn note(store: &StoreUrl) -> io::Result<()> {
    mark(store).map_or(Ok(()), |mark| fs::write(mark, []))
}

/// When the last good copy was made, if one was.
pub fn noted_at(store: &StoreUrl) -> Option<SystemTime> {
    fs::metadata(mark(store)?).ok()?.modified().ok()
}
