//! Passwords of databases in arguments, which any user of the machine can read in the list of processes. The program is begun
//! anew without them: the password goes into the environment, which only its owner can read. Replaces the process.

use super::notice;
use matchday_store::split_passwords;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// Does not return if an argument held a password and the process could be begun anew; the code to end with if it could not.
pub(super) fn hide() -> Option<ExitCode> {
    let mut passwords = BTreeSet::new();
    let shown: Vec<OsString> = env::args_os()
        .skip(1)
        .map(|argument| without_password(argument, &mut passwords))
        .collect();
    let password = passwords.pop_first()?;
    if !passwords.is_empty() {
        notice(
            "several databases with different passwords are named: put the passwords into a service file",
        );
        return Some(ExitCode::from(2));
    }
    let mut command = Command::new(env::current_exe().ok()?);
    command.args(shown).env("PGPASSWORD", password);
    Some(begin_anew(command))
}

/// Also of `--store=postgres://...`, and of several stores with commas between them.
fn without_password(argument: OsString, passwords: &mut BTreeSet<String>) -> OsString {
    let Some(text) = argument.to_str() else {
        return argument;
    };
    let value = text
        .find('=')
        .filter(|_| text.starts_with("--"))
        .map_or(0, |end| end + 1);
    let (flag, value) = text.split_at(value);
    let (shown, found) = split_passwords(value);
    if found.is_empty() {
        return argument;
    }
    passwords.extend(found);
    format!("{flag}{shown}").into()
}

#[cfg(unix)]
fn begin_anew(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    notice(&format!(
        "the program could not be restarted without the password in its arguments: {error}"
    ));
    ExitCode::FAILURE
}

/// Without a way to replace the process, the password would stay in the arguments of this one.
#[cfg(not(unix))]
fn begin_anew(_: Command) -> ExitCode {
    notice(
        "on this system a password in an argument can be read for as long as the program runs: set PGPASSWORD, or use a service file",
    );
    ExitCode::from(2)
}
