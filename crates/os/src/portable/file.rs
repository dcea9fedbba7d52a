//! Files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Windows' locks are mandatory: SQLite could not write to a file that we hold.
pub const CAN_LOCK_DATABASE: bool = false;

/// Creates a file with the permissions that its directory gives it. Fails if it exists.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().create_new(true).write(true).open(path)
}

/// Not known.
pub fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Not known: a second name of a store is not found.
pub fn hard_links(_: &Metadata) -> u64 {
    1
}

/// Not known.
pub fn is_readable_by_all(_: &Path) -> bool {
    false
}

/// The endings that Windows starts a program by; further ones in PATHEXT belong to interpreters.
const PROGRAM_ENDINGS: [&str; 4] = ["exe", "com", "bat", "cmd"];

/// The program of this name: on Windows, its ending may be left out.
pub fn program(path: &Path) -> Option<PathBuf> {
    program_among(path, cfg!(windows), Path::is_file)
}

fn program_among(path: &Path, on_windows: bool, exists: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let with_ending = |ending: &&str| {
        let mut name = path.as_os_str().to_owned();
        name.push(".");
        name.push(ending);
        PathBuf::from(name)
    };
    let is_complete = |ending: &&str| {
        path.extension()
            .is_some_and(|own| own.eq_ignore_ascii_case(ending))
    };
    if !on_windows || PROGRAM_ENDINGS.iter().any(is_complete) {
        return Some(path.to_owned()).filter(|path| exists(path));
    }
    PROGRAM_ENDINGS
        .iter()
        .map(with_ending)
        .find(|path| exists(path))
}

/// Does nothing: Windows opens no directory, and journals its names.
pub fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, there: &str, on_windows: bool) -> Option<PathBuf> {
        program_among(Path::new(name), on_windows, |path| path == Path::new(there))
    }

    #[test]
    fn on_windows_a_program_is_found_without_its_ending() {
        for (name, there) in [
            ("./dec", "./dec.exe"),
            ("./dec.EXE", "./dec.EXE"),
            ("C:\\tools\\dec", "C:\\tools\\dec.cmd"),
            ("dec.v2", "dec.v2.exe"),
        ] {
            assert_eq!(found(name, there, true), Some(there.into()));
        }
        assert_eq!(found("dec", "dec", true), None, "Windows does not start it");
        assert_eq!(
            found("dec.py", "dec.py", true),
            None,
            "its interpreter is to be named"
        );
        assert_eq!(found("dec", "dec.exe", false), None);
    }
}
