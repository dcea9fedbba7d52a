//! Opens a page in a browser of this machine.

use super::notice;
use std::process::{Command, Stdio};

/// What the desktop opens pages with.
const OPENER: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    // The empty argument is the title of the window, which `start` takes first.
    &["cmd", "/C", "start", ""]
} else {
    &["xdg-open"]
};

/// Without such a program only the address is printed.
pub(super) fn open(page: &str) {
    let [program, arguments @ ..] = OPENER else {
        return;
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(page);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        notice(&format!(
            "{program} cannot be started ({error}): open {page} yourself"
        ));
    }
}
