//! Every limit in one table, for the manual. The tests hold the page against the settings and the constants in force, so
//! that it cannot go stale. To write it anew after a change: `UPDATE_DOCS=1 cargo test -p matchday limits`

use super::config::{Config, Flags};
use super::config_file::ConfigFile;
use super::network;
use super::settings::{ForManager, ForPlayer, ForReferee, ForSeat, Settings};
use crate::mcp::{SESSIONS_MAX, SESSIONS_PER_ADDRESS, UNUSED_MAX};
use crate::net::client::Heads;
use crate::net::names::{LOOKUP_MAX, NAMES_MAX};
use crate::net::server::Terms;
use crate::shell::{MATCH_BYTES_MAX, NOTICE_BYTES_MAX, Options};
use matchday_core::entropy::Entropy;
use matchday_core::protocol::decode::Limits;
use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

enum By {
    Setting(&'static str),
    Fixed(String),
}

fn fixed(text: impl ToString) -> By {
    By::Fixed(text.to_string())
}

/// What is limited, by what, and what becomes of what is beyond it.
fn limits() -> Vec<(&'static str, By, &'static str)> {
    use By::Setting;
    let lists = format!("{} (manager), {}", Limits::MANAGER.array_len_max, Limits::AGENT.array_len_max);
    let closes_idle = "the one that has been idle for the longest time ends; HTTP 503 if none is idle";
    let kept = format!("{MATCH_BYTES_MAX} bytes of a match, {NOTICE_BYTES_MAX} of others");
    vec![
        ("Connections at once", Setting("connections-max"), "waits until another ends"),
        (
            "Connections from one address (one /64 of IPv6)",
            Setting("connections-per-address"),
            "HTTP 503 with `Retry-After`; the connection ends",
        ),
        ("Requests at once on a connection", fixed(1), "is read when the one before it has been answered"),
        (
            "Time for the head of a request, or for agreeing on TLS",
            Setting("head-timeout"),
            "the connection ends",
        ),
        ("Time between two requests on a connection", Setting("idle-timeout"), "the connection ends"),
        (
            "Headers",
            Setting("headers-max"),
            "HTTP 431; of an answer: the call has failed, and the log says so",
        ),
        ("Bytes of a head", Setting("header-bytes-max"), "the same"),
        ("Time for the body of a request", Setting("body-timeout"), "HTTP 408; the connection ends"),
        (
            "Bytes of a message",
            Setting("message-bytes-max"),
            "HTTP 413 with E002; of an answer: it counts as unreadable",
        ),
        ("Entries of a list, requests of a batch", fixed(lists), "E002"),
        ("Requests a second of one agent", Setting("agent-rate"), "HTTP 429 with E014 and `Retry-After`"),
        (
            "Wrong tokens a minute in one agent's name",
            Setting("token-guesses-max"),
            "E014 after a pause; the right token is taken all the same",
        ),
        ("Requests that wait for their reply", Setting("inbox-max"), "HTTP 429 with E014 and `Retry-After`"),
        ("Time for an answer to a call", fixed("the timeouts of the league"), "E001, and tried again"),
        ("Names of hosts that were called", fixed(NAMES_MAX), "is not called; the log says so"),
        ("Time to look up a name", fixed(format!("{} s", LOOKUP_MAX.as_secs())), "E009, and tried again"),
        ("Players", Setting("players-max"), "REJECTED with E008"),
        ("Referees", Setting("referees-max"), "REJECTED with E008"),
        (
            "Registrations from one address (one /64 of IPv6)",
            Setting("registrations-per-address"),
            "REJECTED with E008",
        ),
        ("Seats", Setting("max-seats"), "E014"),
        ("Seats opened from one address", Setting("seats-per-address"), "E014"),
        ("Matches at once of a referee", Setting("max-matches"), "waits until another match is over"),
        ("Sessions of the Model Context Protocol", fixed(SESSIONS_MAX), closes_idle),
        ("Such sessions of one address (one /64 of IPv6)", fixed(SESSIONS_PER_ADDRESS), closes_idle),
        (
            "Time until such a session is first used",
            fixed(format!("{} s", UNUSED_MAX.as_secs())),
            "the session ends",
        ),
        ("What is kept of one message", fixed(kept), "its beginning is kept, and its length"),
        (
            "Size of a store in which messages are kept",
            Setting("exchanges-bytes-max"),
            "is not kept, as the log says once; events always are",
        ),
        (
            "Size of a log file, if there is one",
            Setting("log-bytes-max"),
            "goes into a new one, and the old one is put aside",
        ),
        ("Log files that were put aside", Setting("log-files-max"), "the oldest is removed"),
    ]
}

fn defaults() -> BTreeMap<&'static str, Vec<(&'static str, String)>> {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    let commands = [
        (ForManager::SECTION, ForManager::ALL),
        (ForReferee::SECTION, ForReferee::ALL),
        (ForPlayer::SECTION, ForPlayer::ALL),
        (ForSeat::SECTION, ForSeat::ALL),
    ];
    for (command, settings) in commands {
        for setting in settings {
            let default = setting.default.map_or_else(|| derived(setting.name), str::to_owned);
            all.entry(setting.name).or_default().push((command, default));
        }
    }
    all
}

/// What holds where a limit follows from another one.
fn derived(name: &str) -> String {
    match name {
        "connections-per-address" => "connections-max / 4".to_owned(),
        "seats-per-address" => "max-seats / 4, for this machine itself max-seats".to_owned(),
        _ => String::new(),
    }
}

fn table() -> String {
    let defaults = defaults();
    let mut table =
        "| What | Setting | Default | What is beyond it |\n| --- | --- | --- | --- |\n".to_owned();
    for (what, by, beyond) in limits() {
        let (setting, default) = match by {
            By::Fixed(text) => ("fixed".to_owned(), text),
            By::Setting(name) => {
                let of_commands = &defaults[name];
                let first = &of_commands[0];
                let other = of_commands.iter().find(|(_, default)| *default != first.1);
                let default = match other {
                    None => format!("`{}`", first.1),
                    Some((_, other)) => format!("`{}` ({}), `{other}`", first.1, first.0),
                };
                (format!("`{name}`"), default)
            }
        };
        table.push_str(&format!("| {what} | {setting} | {default} | {beyond} |\n"));
    }
    table
}

#[test]
fn the_manual_shows_every_limit_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operating.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- limits -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- end of limits -->").unwrap();
    if env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{before}<!-- limits -->\n{}<!-- end of limits -->{after}", table());
        return fs::write(&path, page).unwrap();
    }
    assert_eq!(shown, table(), "write it anew with UPDATE_DOCS=1");
}

#[test]
fn every_setting_that_is_a_limit_stands_in_the_table() {
    let shown: Vec<_> = limits()
        .into_iter()
        .filter_map(|(_, by, _)| if let By::Setting(name) = by { Some(name) } else { None })
        .collect();
    for name in defaults().keys() {
        let limits = name.ends_with("-max") || name.starts_with("max-") || name.ends_with("-per-address");
        assert!(!limits || shown.contains(name), "{name} is a limit, and not in the table");
    }
}

fn defaults_of<S: Settings>() -> Config {
    Flags::<S>::default().resolve_with(&ConfigFile::default(), |_| None).unwrap()
}

#[test]
fn the_defaults_shown_are_those_of_an_agent_that_nothing_is_said_about() {
    let config = defaults_of::<ForReferee>();
    let usual = Options::new(Entropy::numbered(1));
    let mut options = Options::new(Entropy::numbered(1));
    network::limit(&config, &mut options).unwrap();
    let shown = |terms: &Terms| format!("{terms:?}");
    assert_eq!(shown(&options.terms), shown(&Terms::default()));
    let heads = Heads::default();
    assert_eq!(
        (heads.headers_max, heads.bytes_max),
        (options.terms.headers_max, options.terms.head_bytes_max)
    );
    let of = |options: &Options| (options.body_timeout, options.inbox_len, options.exchanges_bytes_max);
    assert_eq!(of(&options), of(&usual));
    assert_eq!(network::message_bytes_max(&config).unwrap(), Some(Limits::AGENT.message_bytes_max));
}

#[test]
fn a_limit_that_cannot_be_is_refused_with_what_can() {
    for (variable, text, expected) in [
        ("MATCHDAY_CONNECTIONS_MAX", "0", "a whole number from 1 to"),
        ("MATCHDAY_HEADER_BYTES_MAX", "100", "a whole number from 8192 to 1048576"),
        ("MATCHDAY_HEADERS_MAX", "many", "a whole number from 8 to 1024"),
        ("MATCHDAY_INBOX_MAX", "-1", "a whole number from 1 to"),
        ("MATCHDAY_BODY_TIMEOUT", "0", "seconds above 0"),
        ("MATCHDAY_EXCHANGES_BYTES_MAX", "1 GB", "a whole number from 0"),
    ] {
        let find = |name: &str| (name == variable).then(|| text.to_owned());
        let config = Flags::<ForPlayer>::default().resolve_with(&ConfigFile::default(), find).unwrap();
        let error = network::limit(&config, &mut Options::new(Entropy::numbered(1))).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{variable}: expected {expected}")), "{error}");
    }
}
