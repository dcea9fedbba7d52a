//! Tests that walk the table of settings: the manual, the help, the configuration file and the precedence agree with it. To
//! write docs/settings.md anew: `UPDATE_DOCS=1 cargo test -p matchday --lib settings`

use super::config::{Flags, Origin};
use super::file::ConfigFile;
use super::setting::{DefaultValue, SECTIONS, Use, section};
use super::{ALL, Declared, MESSAGE_BYTES_MAX, PlayerFlags, RefereeFlags};
use crate::cli::network;
use clap::{Args, FromArgMatches};
use matchday_core::entropy::Entropy;
use matchday_core::league::LeagueSettings;
use matchday_core::mailbox::WAITING_MAX;
use matchday_core::protocol::decode::Limits;
use matchday_net::client::HeadLimits;
use matchday_net::egress::{LOOKUP_TIMEOUT, NAMES_MAX};
use matchday_net::server::ServerOptions;
use matchday_runtime::Options;
use matchday_server::connect::{CALLS_BYTES_MAX, CALLS_MAX};
use matchday_server::dashboard::{BEGUN_MAX, QUEUED_MAX};
use matchday_server::mcp::{SESSIONS_MAX, SESSIONS_PER_ADDRESS, UNUSED_MAX};
use matchday_server::relay::{POOL_BYTES, POOL_BYTES_PER_ADDRESS, SHARE_BYTES};
use matchday_store::redact::{MATCH_BYTES_MAX, NOTICE_BYTES_MAX};
use std::path::Path;
use std::{env, fs};

fn sections(used: &Use) -> String {
    used.sections
        .iter()
        .map(|section| SECTIONS[*section])
        .collect::<Vec<_>>()
        .join(", ")
}

fn default(used: &Use) -> String {
    match used.default {
        DefaultValue::Text(text) => format!("`{text}`"),
        DefaultValue::Derived(words) => words.to_owned(),
        DefaultValue::None => "none".to_owned(),
    }
}

fn settings_table() -> String {
    let mut table = "| Key | Environment | Commands | Default | Value | Meaning |\n| --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for setting in ALL {
        let range = setting
            .values
            .range()
            .map(|range| format!(", {range}"))
            .unwrap_or_default();
        let values = format!(
            "`{}`{range}",
            setting.values.placeholder().replace('|', "` or `")
        );
        for used in setting.uses {
            let name = setting.name();
            let variable = setting.variable();
            let commands = sections(used);
            let default = default(used);
            let help = used.help;
            table.push_str(&format!(
                "| `{name}` | `{variable}` | {commands} | {default} | {values} | {help} |\n"
            ));
        }
    }
    table
}

/// Limits that are no settings: what is limited, to how much, and what happens to what exceeds it.
fn fixed_limits() -> Vec<(&'static str, String, &'static str)> {
    let lists = format!(
        "{} (manager), {}",
        Limits::MANAGER.array_len_max,
        Limits::AGENT.array_len_max
    );
    let closes_idle =
        "the one that has been idle for the longest time ends; HTTP 503 if none is idle";
    let kept = format!("{MATCH_BYTES_MAX} bytes of a match, {NOTICE_BYTES_MAX} of others");
    let waiting =
        format!("{WAITING_MAX} of the manager and referees beside it, {WAITING_MAX} of others");
    let shares = format!(
        "{SHARE_BYTES} in each mailbox; beyond that {POOL_BYTES} in all, {POOL_BYTES_PER_ADDRESS} in those of one address"
    );
    let at_once = format!("{CALLS_MAX}, of {CALLS_BYTES_MAX} bytes together");
    let seconds = |time: std::time::Duration| format!("{} s", time.as_secs());
    let server = ServerOptions::default();
    let options = Options::new(Entropy::numbered(1));
    let league = LeagueSettings::default();
    let too_long = "HTTP 431; of an answer: the call has failed, and the log says so";
    let too_late = "the connection ends";
    vec![
        (
            "Connections from one address (one /64 of IPv6)",
            "a quarter of `connections-max`".into(),
            "HTTP 503 with `Retry-After`; the connection ends",
        ),
        (
            "Headers of a request, or of an answer to it",
            server.headers_max.to_string(),
            too_long,
        ),
        (
            "Bytes of the head of a request or of an answer",
            server.head_bytes_max.to_string(),
            too_long,
        ),
        (
            "Time for the head of a request, or for agreeing on TLS: from its first byte, or on a new connection from the start",
            seconds(server.head_timeout),
            too_late,
        ),
        (
            "Time for the body of a request",
            seconds(options.body_timeout),
            "HTTP 408; the connection ends",
        ),
        (
            "Time that a connection may be idle between two requests",
            seconds(server.idle_timeout),
            too_late,
        ),
        (
            "Time that a client may read nothing of an answer that waits for it",
            seconds(server.write_timeout),
            too_late,
        ),
        (
            "Requests that wait for their reply at once",
            options.inbox_len.to_string(),
            "HTTP 429 with E014 and `Retry-After`",
        ),
        (
            "Requests a second of one agent at the manager",
            league.requests_per_second.to_string(),
            "HTTP 429 with E014 and `Retry-After`",
        ),
        (
            "Wrong tokens a minute in one agent's name",
            league.token_guesses_max.to_string(),
            "E014 after a pause; the right token is taken all the same",
        ),
        (
            "Referees of a league",
            league.referees_max.to_string(),
            "REJECTED with E008",
        ),
        (
            "Requests at once on a connection",
            "1".into(),
            "is read when the one before it has been answered",
        ),
        ("Entries of a list, requests of a batch", lists, "E002"),
        (
            "Time for an answer to a call",
            "the timeouts of the league".into(),
            "E001, and tried again",
        ),
        (
            "Names of hosts that were called",
            NAMES_MAX.to_string(),
            "is not called; the log says so",
        ),
        (
            "Time to look up a name",
            seconds(LOOKUP_TIMEOUT),
            "E009, and tried again",
        ),
        (
            "Sessions of the Model Context Protocol",
            SESSIONS_MAX.to_string(),
            closes_idle,
        ),
        (
            "Such sessions of one address (one /64 of IPv6)",
            SESSIONS_PER_ADDRESS.to_string(),
            closes_idle,
        ),
        (
            "Time until such a session is first used",
            seconds(UNUSED_MAX),
            "the session ends",
        ),
        (
            "Calls that wait in a mailbox of a relay",
            waiting,
            "the caller's connection is closed",
        ),
        (
            "Bytes of others' calls and the answers to them at a relay",
            shares,
            "the caller's connection is closed; of an answer: HTTP 429",
        ),
        (
            "Calls that `connect` and `--dial` answer at once",
            at_once,
            "is read when another has been answered",
        ),
        (
            "What is kept of one message",
            kept,
            "its beginning is kept, and its length",
        ),
        (
            "What is computed for readers at once, in all leagues of a process: a log replayed, a page, a report",
            "the processors less one, 1 at least".into(),
            "waits for its turn",
        ),
        (
            "Time that a reader waits for that turn",
            seconds(QUEUED_MAX),
            "HTTP 503 with `Retry-After`",
        ),
        (
            "Time that it waits for the result then",
            seconds(BEGUN_MAX),
            "HTTP 503 with `Retry-After`; the result is kept for those who come later",
        ),
    ]
}

fn limits_table() -> String {
    let mut table =
        "| Setting | Default | What is limited | What is beyond it |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for (setting, beyond) in ALL
        .iter()
        .filter_map(|setting| Some((setting, setting.beyond?)))
    {
        let uses = setting.uses.iter();
        let defaults: Vec<_> = match setting.uses {
            [used] => vec![default(used)],
            _ => uses
                .map(|used| format!("{} ({})", default(used), sections(used)))
                .collect(),
        };
        let name = setting.name();
        let default = defaults.join(", ");
        let help = setting.help();
        table.push_str(&format!("| `{name}` | {default} | {help} | {beyond} |\n"));
    }
    for (what, limit, beyond) in fixed_limits() {
        table.push_str(&format!("| fixed | {limit} | {what} | {beyond} |\n"));
    }
    table
}

/// The page that lists every setting and every limit.
fn page() -> String {
    format!(
        "# Settings\n\nEvery setting and every limit of the program. This page is generated. How flags, variables and files go together:\n\
         [Configuration](configuration.md).\n\n{}\n\
         <a id=\"limits\"></a>\n## Limits\n\nEverything that others can make grow has a limit. Where a setting stands, it can be changed.\n\n{}",
        settings_table(),
        limits_table()
    )
}

#[test]
fn the_page_of_settings_shows_every_setting_and_every_limit_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, page()).unwrap();
        return;
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        page(),
        "write it anew with UPDATE_DOCS=1"
    );
}

#[test]
fn every_setting_that_is_a_limit_says_what_is_beyond_it() {
    for setting in ALL {
        let name = setting.name();
        let limits =
            name.ends_with("-max") || name.starts_with("max-") || name.ends_with("-per-address");
        assert!(!limits || setting.beyond.is_some(), "{name}");
    }
}

fn used_by(section: usize) -> impl Iterator<Item = (&'static Declared, &'static Use)> {
    ALL.iter()
        .filter_map(move |setting| Some((*setting, setting.used_by(section)?)))
}

/// Walks the settings of one command: help, and flag over environment over file over default.
fn walk<const SECTION: usize>() {
    let command = Flags::<SECTION>::augment_args(clap::Command::new("x")).term_width(0);
    // As `--help-all` has it.
    let help = command
        .clone()
        .mut_args(|arg| arg.hide(false))
        .render_long_help()
        .to_string();
    let keys: String = used_by(SECTION)
        .map(|(setting, _)| format!("{} = \"file\"\n", setting.name()))
        .collect();
    let text = format!("[{}]\n{keys}", SECTIONS[SECTION]);
    let file = ConfigFile::read(Path::new("m.toml"), &text).unwrap();
    let no_file = ConfigFile::default();
    let none = |_: &str| None;
    let some = |name: &str| {
        name.starts_with("MATCHDAY_")
            .then(|| "environment".to_owned())
    };
    for (line, (setting, used)) in (2..).zip(used_by(SECTION)) {
        let name = setting.name();
        let flag = format!("--{}", setting.name());
        assert!(help.contains(&format!("{flag} ")), "{name}");
        assert!(help.contains(&setting.full_help(used)), "{name}");
        let matches = command
            .clone()
            .try_get_matches_from(["x", &flag, "flag"])
            .unwrap();
        let flags = Flags::<SECTION>::from_arg_matches(&matches).unwrap();
        let no_flags = Flags::<SECTION>::default();
        let default = match used.default {
            DefaultValue::Text(text) => Some(text),
            DefaultValue::Derived(_) | DefaultValue::None => None,
        };
        let in_file = Origin::File {
            path: "m.toml".into(),
            line,
        };
        for (config, text, origin) in [
            (flags.resolve_with(&file, some), Some("flag"), Origin::Flag),
            (
                no_flags.resolve_with(&file, some),
                Some("environment"),
                Origin::Environment,
            ),
            (no_flags.resolve_with(&file, none), Some("file"), in_file),
            (
                no_flags.resolve_with(&no_file, none),
                default,
                Origin::Default,
            ),
        ] {
            let value = config.value(setting).unwrap();
            assert_eq!(
                (value.text.as_deref(), &value.origin),
                (text, &origin),
                "{name}"
            );
        }
    }
}

#[test]
fn every_setting_has_a_flag_a_variable_a_key_and_a_default_in_that_order() {
    walk::<{ section::MANAGER }>();
    walk::<{ section::REFEREE }>();
    walk::<{ section::PLAYER }>();
    walk::<{ section::SEAT }>();
    walk::<{ section::RUN }>();
    walk::<{ section::SERVE }>();
    walk::<{ section::LEAGUE }>();
}

#[test]
fn no_command_has_two_defaults_for_one_setting() {
    for setting in ALL {
        for (section, name) in SECTIONS.iter().enumerate() {
            let uses = setting
                .uses
                .iter()
                .filter(|used| used.sections.contains(&section))
                .count();
            assert!(uses <= 1, "{name} {}", setting.name());
        }
    }
}

#[test]
fn the_defaults_shown_are_those_of_an_agent_that_nothing_is_said_about() {
    let config = RefereeFlags::with_variables(&[]);
    let usual = Options::new(Entropy::numbered(1));
    let mut options = Options::new(Entropy::numbered(1));
    network::limit(&config, &mut options).unwrap();
    let shown = |terms: &ServerOptions| format!("{terms:?}");
    assert_eq!(shown(&options.server), shown(&ServerOptions::default()));
    let heads = HeadLimits::default();
    assert_eq!(
        (heads.headers_max, heads.bytes_max),
        (options.server.headers_max, options.server.head_bytes_max)
    );
    let of = |options: &Options| {
        (
            options.body_timeout,
            options.inbox_len,
            options.exchanges_bytes_max,
        )
    };
    assert_eq!(of(&options), of(&usual));
    assert_eq!(
        config.get(&MESSAGE_BYTES_MAX).unwrap(),
        Some(Limits::AGENT.message_bytes_max)
    );
}

#[test]
fn a_limit_that_cannot_be_is_refused_with_what_can() {
    for (variable, text, expected) in [
        (
            "MATCHDAY_CONNECTIONS_MAX",
            "many",
            "a whole number from 1 to",
        ),
        (
            "MATCHDAY_EXCHANGES_BYTES_MAX",
            "1 GB",
            "a whole number from 0",
        ),
    ] {
        let config = PlayerFlags::with_variables(&[(variable, text)]);
        let error = network::limit(&config, &mut Options::new(Entropy::numbered(1)))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with(&format!("{variable}: expected {expected}")),
            "{error}"
        );
        assert!(error.ends_with(&format!("got {text:?}")), "{error}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_where_it_was_given() {
    use super::{LEAD, ManagerFlags, OPERATOR_TOKEN};
    let expected = "expected seconds, such as 2 or 0.5, got";
    let config = ManagerFlags::with_variables(&[("MATCHDAY_LEAD", "soon")]);
    assert_eq!(
        config.get(&LEAD).unwrap_err().to_string(),
        format!("MATCHDAY_LEAD: {expected} \"soon\"")
    );
    let file = ConfigFile::read(Path::new("m.toml"), "[manager]\n\nlead = -1").unwrap();
    let config = ManagerFlags::default().resolve_with(&file, |_| None);
    let error = config.get(&LEAD).unwrap_err().to_string();
    assert_eq!(
        error,
        format!("m.toml: line 3: manager.lead: {expected} \"-1\"")
    );
    for bad in ["-1", "NaN", "inf", "1e300", " "] {
        let config = ManagerFlags::with_variables(&[("MATCHDAY_LEAD", bad)]);
        assert!(config.get(&LEAD).is_err(), "{bad}");
    }
    let config = ManagerFlags::with_variables(&[("MATCHDAY_OPERATOR_TOKEN", "hush")]);
    let error = config.get(&OPERATOR_TOKEN).unwrap_err().to_string();
    assert!(
        error.starts_with("MATCHDAY_OPERATOR_TOKEN: expected at least 16 characters"),
        "{error}"
    );
    assert!(!error.contains("hush"), "{error}");
    assert!(
        config
            .values()
            .all(|value| !value.to_string().contains("hush"))
    );
}
