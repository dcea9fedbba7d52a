//! How the help groups the settings: those of every day first, the others under headings with `--help-all`.

use super::{ALL, Declared};

/// The first setting of each group, in the order of the table.
const GROUPS: [(&str, &str); 11] = [
    ("PLAYERS", "The league of this run"),
    ("LISTEN", "Name and store"),
    ("LEAGUE_ID", "Game and format"),
    ("OPERATOR_TOKEN", "Registration"),
    ("MAX_MATCHES", "Matches and timeouts"),
    ("STRATEGY", "How a player chooses"),
    ("SERVICE_TOKEN", "The service"),
    ("SEATS", "Seats and dashboard"),
    ("ADVERTISE", "Network"),
    ("CONNECTIONS_MAX", "Limits"),
    ("METRICS", "Logs and metrics"),
];

/// What `--help` shows.
const EVERYDAY: [&str; 26] = [
    "PLAYERS",
    "REFEREES",
    "STRATEGIES",
    "PLAN",
    "PORT_BASE",
    "STAY",
    "OPEN",
    "PACE",
    "LISTEN",
    "MANAGER",
    "NAME",
    "STORE",
    "CODE",
    "LEAGUE_ID",
    "GAME",
    "FORMAT",
    "ROUNDS",
    "PLAY_OFF",
    "LEAD",
    "START_WHEN",
    "STRATEGY",
    "ROSTER",
    "SEATS",
    "PLAY",
    "AGAINST",
    "DASHBOARD",
];

/// The heading under which a setting stands; `None` for those of every day.
pub(super) fn heading(setting: &Declared) -> Option<&'static str> {
    if EVERYDAY.contains(&setting.id) {
        return None;
    }
    let mut heading = "Options";
    for known in ALL {
        heading = GROUPS
            .iter()
            .find(|(first, _)| *first == known.id)
            .map_or(heading, |(_, name)| *name);
        if std::ptr::eq(*known, setting) {
            return Some(heading);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_and_everyday_setting_exists() {
        let named = GROUPS.iter().map(|(first, _)| *first).chain(EVERYDAY);
        for id in named {
            assert!(ALL.iter().any(|setting| setting.id == id), "{id}");
        }
    }
}
