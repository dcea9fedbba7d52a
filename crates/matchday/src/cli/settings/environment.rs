//! Environment variables that are probably misspelt settings: each is an error, since one that is silently ignored would
//! leave the default in effect.

use super::super::Usage;
use super::secret_file::SUFFIX;
use super::{ALL, LLM_API_KEY};
use matchday_terminal::suggest::nearest;

const PREFIX: &str = "MATCHDAY_";

/// Variables that are no settings: the key of a model, the port that deploy/healthcheck asks, the service of `matchday league`,
/// and what Kubernetes sets for a service of this name.
const OTHERS: [&str; 6] = [
    LLM_API_KEY,
    "MATCHDAY_LLM_API_KEY_FILE",
    "MATCHDAY_PORT",
    "MATCHDAY_SERVICE",
    "MATCHDAY_SERVICE_HOST",
    "MATCHDAY_SERVICE_PORT",
];

/// Refuses a variable that is not known, but nearly the one of a setting. Any other that begins with our prefix may be
/// somebody else's: an orchestrator sets MATCHDAY_SERVICE_HOST for a service of this name.
pub(crate) fn check_environment(names: impl Iterator<Item = String>) -> Result<(), Usage> {
    let known: Vec<String> = ALL
        .iter()
        .map(|setting| setting.id.to_owned())
        .chain(
            ALL.iter()
                .filter(|setting| setting.secret)
                .map(|setting| format!("{}{SUFFIX}", setting.id)),
        )
        .chain(OTHERS.map(|name| name.replace(PREFIX, "")))
        .collect();
    for name in names {
        let Some(id) = name
            .strip_prefix(PREFIX)
            .filter(|id| !known.iter().any(|known| known == id))
        else {
            continue;
        };
        if let Some(meant) = nearest(id, known.iter().map(String::as_str)) {
            return Err(Usage(format!(
                "{name}: there is no such variable - did you mean {PREFIX}{meant}?"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> Result<(), String> {
        check_environment([name.to_owned()].into_iter()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_misspelt_variable_is_an_error_with_the_nearest_name() {
        for (name, meant) in [
            ("MATCHDAY_JOIN_TIMEUOT", "JOIN_TIMEOUT"),
            ("MATCHDAY_JOIN-TIMEOUT", "JOIN_TIMEOUT"),
            ("MATCHDAY_OPERATOR_TOKN", "OPERATOR_TOKEN"),
            ("MATCHDAY_LAED", "LEAD"),
            ("MATCHDAY_LLM_APIKEY", "LLM_API_KEY"),
        ] {
            let expected =
                format!("{name}: there is no such variable - did you mean MATCHDAY_{meant}?");
            assert_eq!(check(name), Err(expected));
        }
    }

    #[test]
    fn variables_of_other_programs_and_of_our_tests_are_left_alone() {
        for name in [
            "PATH",
            "MATCHDAY_PORT",
            "MATCHDAY_SERVICE_HOST",
            "MATCHDAY_PORT_8000_TCP",
            "MATCHDAY_HOME",
            "MATCHDAY_CRASHES",
            "MATCHDAY_CRASH_SEED",
            "MATCHDAY_STOP_SECONDS",
            "MATCHDAY_NETWORK_SEED",
            "MATCHDAY_NETWORK_SEEDS",
            "MATCHDAY_FUZZ_JOBS",
            "MATCHDAY_TEST_TOOLS",
            "MATCHDAY_CHROMIUM",
            "MATCHDAY_TEST_CHILD_STORE",
            "MATCHDAY_LLM_API_KEY",
        ] {
            assert_eq!(check(name), Ok(()), "{name}");
        }
        for setting in ALL {
            assert_eq!(check(&setting.variable()), Ok(()));
        }
    }
}
