//! Passwords of databases in arguments, which any user of the machine can read in the list of processes. The program is begun
//! anew without them: the password goes into the environment, which only its owner can read. Replaces the process.

use super::notice;
use matchday_store::open::without_password;
use std::env;
use std::process::{Command, ExitCode};

/// Does not return if an argument held a password and the process could be begun anew; the code to end with if it could not.
pub(super) fn hide() -> Option<ExitCode> {
    let given: Vec<_> = env::args_os().skip(1).collect();
    let hidden: Vec<_> = given
        .iter()
        .map(|argument| match argument.to_str() {
            Some(text) => match text.split_once("=postgres") {
                // --store=postgres://...
                Some((flag, rest)) if flag.starts_with("--") => {
                    format!("{flag}={}", without_password(&format!("postgres{rest}"))).into()
                }
                _ => without_password(text).into(),
            },
            None => argument.clone(),
        })
        .collect();
    if given == hidden {
        return None;
    }
    let mut passwords = matchday_store::open::passwords();
    passwords.dedup();
    let [password] = passwords.as_slice() else {
        notice("several databases with different passwords are named: put the passwords into a service file");
        return Some(ExitCode::from(2));
    };
    let mut command = Command::new(env::current_exe().ok()?);
    command.args(hidden).env("PGPASSWORD", password);
    Some(begin_anew(command))
}

#[cfg(unix)]
fn begin_anew(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    notice(&format!("the program could not be begun anew without the password in its arguments: {error}"));
    ExitCode::FAILURE
}

/// Without a way to replace the process, it waits for the one that it begins.
#[cfg(not(unix))]
fn begin_anew(mut command: Command) -> ExitCode {
    match command.status() {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            notice(&format!(
                "the program could not be begun anew without the password in its arguments: {error}"
            ));
            ExitCode::FAILURE
        }
    }
}
