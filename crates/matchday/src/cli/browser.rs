//! Opens a page in a browser of this machine.

use super::notice;
use std::process::{Command, Stdio};
use std::thread;

/// What the desktop opens pages with.
const OPENER: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    // The empty argument is the title of the window, which `start` takes first.
    &["cmd", "/C", "start", ""]
} else {
    &["xdg-open"]
};

/// Without such a program, or if it fails, only the address is printed.
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
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return notice(&format!(
                "{program} cannot be started ({error}): open {page} yourself"
            ));
        }
    };
    // Some end at once, others with the browser.
    let page = page.to_owned();
    thread::spawn(move || match child.wait() {
        Ok(status) if !status.success() => notice(&format!(
            "{program} could not open the page ({status}): open {page} yourself"
        )),
        _ => {}
    });
}
