//! Tools of the machine that some tests need. In the gate (`./test` sets `MATCHDAY_TEST_GATE`, most runners set `CI`) a
//! missing one is a failure; elsewhere the test is skipped, and standard error says so.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether `tool` can be started. A test whose tool is missing returns.
#[must_use]
pub fn require(tool: &str) -> bool {
    let mut command = Command::new(tool);
    command
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    require_that(
        command.status().is_ok_and(|status| status.success()),
        &format!("{tool} is not installed"),
    )
}

/// What an install script of the tree has put into `target/test-tools/NAME`, where it leaves a file `installed`. A machine
/// that cannot have it says so to the gate by `MATCHDAY_TEST_WITHOUT=NAME`.
#[must_use]
pub fn require_installed(name: &str, script: &str) -> Option<PathBuf> {
    let folder = folder().join(name);
    require_unless_given_up(
        name,
        folder.join("installed").exists(),
        &format!("{script} has not been run"),
    )
    .then(|| folder.canonicalize().unwrap())
}

/// The right to mount a file system, which `mounted` has just tried. A runner without it says so to the gate by
/// `MATCHDAY_TEST_WITHOUT=mount`.
#[must_use]
pub fn require_mount(mounted: bool) -> bool {
    let missing = "a file system cannot be mounted here (it needs root)";
    require_unless_given_up("mount", mounted, missing)
}

fn require_unless_given_up(name: &str, holds: bool, missing: &str) -> bool {
    let given_up = env::var("MATCHDAY_TEST_WITHOUT")
        .is_ok_and(|names| names.split(' ').any(|without| without == name));
    if !holds && given_up {
        eprintln!("skipped: {missing}");
        return false;
    }
    require_that(holds, missing)
}

/// Any other condition, and what is missing where it does not hold.
#[must_use]
pub fn require_that(holds: bool, missing: &str) -> bool {
    if !holds {
        assert!(
            !in_gate(),
            "the gate cannot do without: {missing}; ./test installs what it can"
        );
        eprintln!("skipped: {missing}");
    }
    holds
}

/// Where the install scripts put what they fetch.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools")
}

fn in_gate() -> bool {
    ["CI", "MATCHDAY_TEST_GATE"]
        .iter()
        .any(|name| env::var_os(name).is_some_and(|value| !value.is_empty()))
}
