//! The part of the environment that a program of others is given. What is not listed may be a secret: a database's password,
//! the key of a cloud or of a model, our own tokens.

use std::ffi::{OsStr, OsString};

/// Where programs and files are found, who runs them, and in which language and time zone they speak.
const LISTED: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LC_*",
];

/// What a program on Windows does not start without.
const LISTED_ON_WINDOWS: [&str; 22] = [
    "SystemRoot",
    "SystemDrive",
    "windir",
    "TEMP",
    "TMP",
    "PATHEXT",
    "COMSPEC",
    "USERNAME",
    "USERDOMAIN",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ALLUSERSPROFILE",
    "ProgramFiles",
    "ProgramFiles(x86)",
    "ProgramW6432",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
    "OS",
];

/// The variables of this process that are listed here or in `further`.
pub fn for_programs(further: &[String]) -> Vec<(OsString, OsString)> {
    std::env::vars_os()
        .filter(|(name, _)| is_handed_on(name, further, cfg!(windows)))
        .collect()
}

/// On Windows, the case of a name makes no difference.
fn is_handed_on(name: &OsStr, further: &[String], on_windows: bool) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let is = |listed: &str| match (listed.strip_suffix('*'), on_windows) {
        (Some(beginning), false) => name.starts_with(beginning),
        (Some(beginning), true) => name
            .get(..beginning.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(beginning)),
        (None, false) => name == listed,
        (None, true) => name.eq_ignore_ascii_case(listed),
    };
    LISTED.into_iter().any(is)
        || on_windows && LISTED_ON_WINDOWS.into_iter().any(is)
        || further.iter().any(|listed| is(listed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handed_on(name: &str, on_windows: bool) -> bool {
        is_handed_on(OsStr::new(name), &["OPENAI_API_KEY".to_owned()], on_windows)
    }

    #[test]
    fn a_program_finds_its_files_and_speaks_the_language_of_its_user() {
        for name in [
            "PATH",
            "HOME",
            "LANG",
            "LC_ALL",
            "LC_MESSAGES",
            "TZ",
            "TMPDIR",
            "USER",
        ] {
            assert!(handed_on(name, false) && handed_on(name, true), "{name}");
        }
        for name in ["SystemRoot", "Path", "comspec", "lc_all", "LOCALAPPDATA"] {
            assert!(handed_on(name, true) && !handed_on(name, false), "{name}");
        }
    }

    #[test]
    fn what_is_not_listed_may_be_a_secret_in_any_case() {
        for name in [
            "PGPASSWORD",
            "AWS_SECRET_ACCESS_KEY",
            "ANTHROPIC_API_KEY",
            "MATCHDAY_SERVICE_TOKEN",
            "matchday_service_token",
            "PATH_OF_KEYS",
            "LC",
            "",
        ] {
            assert!(!handed_on(name, false) && !handed_on(name, true), "{name}");
        }
    }

    #[test]
    fn what_the_operator_names_is_handed_on() {
        assert!(handed_on("OPENAI_API_KEY", false) && handed_on("OPENAI_API_KEY", true));
        assert!(!handed_on("openai_api_key", false) && handed_on("openai_api_key", true));
    }
}
