//! The settings of the commands that keep running: one table for each. The flag, the environment variable, the key in the
//! configuration file, the default and the help all come from here.

use super::competition::{
    FORMAT, GROUPS, MATCHES_PER_PAIRING, QUALIFIERS, REPLAYS, ROUNDS, SEEDING, THIRD_PLACE, TIE_BREAKS,
};
use super::log_file::{LOG_BYTES_MAX, LOG_FILE, LOG_FILES_MAX};
use super::network::{
    ALLOW_ENDPOINTS, BODY_TIMEOUT, CONNECTIONS_MAX, CONNECTIONS_PER_ADDRESS, ENDPOINTS, EXCHANGES_BYTES_MAX,
    HEAD_TIMEOUT, HEADER_BYTES_MAX, HEADERS_MAX, IDLE_TIMEOUT, INBOX_MAX, MESSAGE_BYTES_MAX,
};
use super::observing::{METRICS, OTLP};
use super::tls::{TLS_CA, TLS_CERT, TLS_CLIENT_CA, TLS_CLIENT_CERT, TLS_CLIENT_KEY, TLS_KEY};

#[derive(Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// What stands for the value in the help.
    pub(crate) value: &'static str,
    pub(crate) default: Option<&'static str>,
    pub(crate) about: &'static str,
    /// Whether the value must not be shown.
    pub(crate) secret: bool,
}

impl Setting {
    /// `MATCHDAY_JOIN_TIMEOUT`
    pub(crate) fn variable(&self) -> String {
        format!("MATCHDAY_{}", self.name.replace('-', "_").to_ascii_uppercase())
    }
}

/// The settings of one command.
pub(crate) trait Settings: std::fmt::Debug + Send + Sync + 'static {
    /// Its section in the configuration file.
    const SECTION: &'static str;
    const ALL: &'static [Setting];
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum ForManager {}
#[derive(Debug, Clone, Copy)]
pub(crate) enum ForReferee {}
#[derive(Debug, Clone, Copy)]
pub(crate) enum ForPlayer {}
#[derive(Debug, Clone, Copy)]
pub(crate) enum ForSeat {}

pub(super) const fn setting(
    name: &'static str,
    value: &'static str,
    default: &'static str,
    about: &'static str,
) -> Setting {
    Setting { name, value, default: Some(default), about, secret: false }
}

pub(super) const fn optional(name: &'static str, value: &'static str, about: &'static str) -> Setting {
    Setting { name, value, default: None, about, secret: false }
}

const CONFORMANCE: Setting = setting(
    "conformance",
    "strict|lenient",
    "strict",
    "Read messages to the letter, or let known omissions pass and record them",
);
const JOIN_TIMEOUT: Setting =
    setting("join-timeout", "SECONDS", "5", "How long a player has to accept an invitation");
const CHOICE_TIMEOUT: Setting =
    setting("choice-timeout", "SECONDS", "30", "How long a player has for a choice or a move");
const REPORT_TIMEOUT: Setting =
    setting("report-timeout", "SECONDS", "10", "How long the manager has to confirm the report of a match");
const GAME_OVER_TIMEOUT: Setting = setting(
    "game-over-timeout",
    "SECONDS",
    "5",
    "How long a player has to confirm the end of a match; nobody waits for it",
);
const OTHER_TIMEOUT: Setting =
    setting("other-timeout", "SECONDS", "10", "How long anyone has for an answer of any other kind");
const RETRIES: Setting =
    setting("retries", "N", "3", "How often a player that does not answer is asked again");
const RETRY_DELAY: Setting = optional(
    "retry-delay",
    "SECONDS",
    "The pause before asking again; the first one if exponential [default: 2, or 1 if exponential]",
);
const RETRY: Setting =
    setting("retry", "fixed|exponential", "fixed", "Whether pauses stay the same or double each time");
// A referee plays by its manager's timeouts: its own are bounds, and what it plays by where the manager hands none over.
const JOIN_TIMEOUT_MAX: Setting = optional(
    "join-timeout",
    "SECONDS",
    "The longest that a player has to accept an invitation [default: what the manager says, or 5]",
);
const CHOICE_TIMEOUT_MAX: Setting = optional(
    "choice-timeout",
    "SECONDS",
    "The longest that a player has for a choice or a move [default: what the manager says, or 30]",
);
const RETRIES_MAX: Setting = optional(
    "retries",
    "N",
    "How often at most a player that does not answer is asked again [default: what the manager says, or 3]",
);
const RETRY_DELAY_MAX: Setting = optional(
    "retry-delay",
    "SECONDS",
    "The longest pause before asking again; the first one if exponential [default: what the manager says, or 2]",
);
const RETRY_UNASSIGNED: Setting = setting(
    "retry",
    "fixed|exponential",
    "fixed",
    "Whether pauses stay the same or double each time, if the manager does not say",
);
const LOG: Setting = setting("log", "people|json", "people", "How each event is written, one line an event");
const EXCHANGES: Setting =
    setting("exchanges", "on|off", "on", "Whether messages and answers are kept, without tokens, for replay");
const MANAGER: Setting =
    setting("manager", "URL", "http://localhost:8000/mcp", "Where the league manager listens");
const ADVERTISE: Setting = optional(
    "advertise",
    "URL",
    "Where others reach this agent, if not at its listening address [default: http://HOST:PORT/mcp]",
);

const GAME_COMMAND: Setting = optional(
    "game-command",
    "PROGRAM",
    "A program of yours that knows the rules of the game, as docs/adding-a-game.md describes it",
);
const GAME_TIME: Setting = setting("game-time", "SECONDS", "2", "How long that program has for an answer");
const GAME_MEMORY: Setting =
    setting("game-memory", "MEGABYTES", "512", "How much memory that program may use");
const ADDRESS_RATE: Setting = optional(
    "address-rate",
    "N",
    "How many requests a second are taken from one address; 0 for any number [default: 5000, and any from this machine]",
);
const AUTH_TOKEN: Setting = Setting {
    secret: true,
    ..optional(
        "auth-token",
        "TOKEN",
        "A token that the operator gave out for it, if not the one of its store",
    )
};

const CODE: Setting =
    Setting { secret: true, ..optional("code", "CODE", "The join code that the operator gave out for it") };

const MAX_SEATS: Setting = setting("max-seats", "N", "16", "How many seats there may be");
const SEATS_PER_ADDRESS: Setting = optional(
    "seats-per-address",
    "N",
    "How many of them may be opened from one address [default: a quarter of them; from this machine itself, all]",
);
const SEAT_FALLBACK: &str =
    "The built-in strategy that chooses when whoever holds a seat does not; none forfeits";
const ALLOWED_HOSTS: Setting = optional(
    "allowed-hosts",
    "HOSTS",
    "Further names it may be called by, with commas; * for any [default: those of its address]",
);
const ALLOWED_ORIGINS: Setting = optional(
    "allowed-origins",
    "ORIGINS",
    "Web pages that may call it, as in https://example.org, with commas; * for any [default: its own]",
);

impl Settings for ForManager {
    const SECTION: &'static str = "manager";
    const ALL: &'static [Setting] = &[
        setting("listen", "HOST:PORT", "127.0.0.1:8000", "Where to listen; port 0 takes a free one"),
        setting("store", "FILE", "matchday.db", "Where the league is kept; made if it does not exist"),
        setting("league-id", "ID", "league_2025_even_odd", "What the league is called"),
        setting("game", "NAME", "even_odd", "What is played"),
        GAME_COMMAND,
        GAME_TIME,
        GAME_MEMORY,
        FORMAT,
        ROUNDS,
        MATCHES_PER_PAIRING,
        GROUPS,
        QUALIFIERS,
        REPLAYS,
        THIRD_PLACE,
        SEEDING,
        CONFORMANCE,
        setting("lead", "SECONDS", "60", "How long before its first match a round is announced"),
        optional("start-when", "COUNTS", "Start once so many have registered, as in players=4,referees=2"),
        Setting {
            secret: true,
            ..optional(
                "operator-token",
                "TOKEN",
                "What `admin` must show [default: one is made, and shown once]",
            )
        },
        setting("players-max", "N", "99", "How many players may register"),
        setting("referees-max", "N", "99", "How many referees may register"),
        setting(
            "registrations-per-address",
            "N",
            "16",
            "How many agents may register from one address, this machine's not counted; 0 for any number",
        ),
        optional(
            "roster",
            "FILE",
            "Who may register, as CSV with name, role, mail: a join code for each is written beside it, to NAME.codes.csv",
        ),
        Setting {
            secret: true,
            ..optional(
                "referee-code",
                "CODE|off",
                "What referees must show to register [default: one is made and shown once, if others can reach the manager]",
            )
        },
        setting("public-reads", "on|off", "on", "Whether anyone may read standings, schedule and results"),
        setting("suspend-after", "N", "3", "How many technical losses in a row suspend a player"),
        setting(
            "endpoint-check",
            "off|at_start|at_registration",
            "at_start",
            "When to make sure that someone answers where an agent says it listens",
        ),
        setting("probe-timeout", "SECONDS", "2", "How long an agent has to show that it is there"),
        setting("probe-every", "SECONDS", "5", "How often a suspended agent is looked after"),
        TIE_BREAKS,
        setting(
            "standings-pause",
            "SECONDS",
            "0.05",
            "How long results are gathered before the table is sent out",
        ),
        setting("message-bytes-max", "BYTES", "10240", "The longest request that is read"),
        setting(
            "token-guesses-max",
            "N",
            "10",
            "How many wrong tokens a minute in one agent's name are answered at once; 0 for any number",
        ),
        setting(
            "agent-rate",
            "N",
            "20000",
            "How many requests a second are taken from one agent; 0 for any number",
        ),
        ADDRESS_RATE,
        JOIN_TIMEOUT,
        CHOICE_TIMEOUT,
        REPORT_TIMEOUT,
        GAME_OVER_TIMEOUT,
        OTHER_TIMEOUT,
        RETRIES,
        RETRY_DELAY,
        RETRY,
        optional(
            "dashboard",
            "on|off",
            "Whether the league can be seen here in a browser [default: on, if only this machine can reach it]",
        ),
        optional(
            "dashboard-stores",
            "FILES",
            "Stores of referees and players, with commas: matches are then shown with what their agents recorded",
        ),
        setting(
            "seats",
            "on|off",
            "off",
            "Whether clients of the Model Context Protocol can take a seat here",
        ),
        MAX_SEATS,
        SEATS_PER_ADDRESS,
        setting("seat-fallback", "NAME|none", "random", SEAT_FALLBACK),
        ADVERTISE,
        ALLOWED_HOSTS,
        ALLOWED_ORIGINS,
        ENDPOINTS,
        ALLOW_ENDPOINTS,
        TLS_CERT,
        TLS_KEY,
        TLS_CLIENT_CA,
        TLS_CA,
        TLS_CLIENT_CERT,
        TLS_CLIENT_KEY,
        CONNECTIONS_MAX,
        CONNECTIONS_PER_ADDRESS,
        HEADERS_MAX,
        HEADER_BYTES_MAX,
        HEAD_TIMEOUT,
        IDLE_TIMEOUT,
        BODY_TIMEOUT,
        INBOX_MAX,
        METRICS,
        OTLP,
        LOG,
        LOG_FILE,
        LOG_BYTES_MAX,
        LOG_FILES_MAX,
        EXCHANGES,
        EXCHANGES_BYTES_MAX,
    ];
}

impl Settings for ForSeat {
    const SECTION: &'static str = "seat";
    const ALL: &'static [Setting] = &[
        setting("listen", "HOST:PORT", "127.0.0.1:8201", "Where to listen; port 0 takes a free one"),
        MANAGER,
        MAX_SEATS,
        SEATS_PER_ADDRESS,
        setting("fallback", "NAME|none", "random", SEAT_FALLBACK),
        optional("store", "FILE", "Where it keeps what it must not forget [default: seat-PORT.db]"),
        ADDRESS_RATE,
        ADVERTISE,
        ALLOWED_HOSTS,
        ALLOWED_ORIGINS,
        TLS_CERT,
        TLS_KEY,
        TLS_CLIENT_CA,
        TLS_CA,
        TLS_CLIENT_CERT,
        TLS_CLIENT_KEY,
        CONNECTIONS_MAX,
        CONNECTIONS_PER_ADDRESS,
        HEADERS_MAX,
        HEADER_BYTES_MAX,
        HEAD_TIMEOUT,
        IDLE_TIMEOUT,
        BODY_TIMEOUT,
        INBOX_MAX,
        MESSAGE_BYTES_MAX,
        METRICS,
        OTLP,
        LOG,
        LOG_FILE,
        LOG_BYTES_MAX,
        LOG_FILES_MAX,
        EXCHANGES,
        EXCHANGES_BYTES_MAX,
    ];
}

impl Settings for ForReferee {
    const SECTION: &'static str = "referee";
    const ALL: &'static [Setting] = &[
        setting("listen", "HOST:PORT", "127.0.0.1:8001", "Where to listen; port 0 takes a free one"),
        MANAGER,
        optional("name", "NAME", "What the referee is called [default: Referee PORT]"),
        setting("max-matches", "N", "5", "How many matches it runs at once"),
        GAME_COMMAND,
        GAME_TIME,
        GAME_MEMORY,
        JOIN_TIMEOUT_MAX,
        CHOICE_TIMEOUT_MAX,
        REPORT_TIMEOUT,
        GAME_OVER_TIMEOUT,
        OTHER_TIMEOUT,
        RETRIES_MAX,
        RETRY_DELAY_MAX,
        RETRY_UNASSIGNED,
        CONFORMANCE,
        optional("store", "FILE", "Where it keeps what it must not forget [default: referee-PORT.db]"),
        AUTH_TOKEN,
        CODE,
        ADDRESS_RATE,
        ADVERTISE,
        ALLOWED_HOSTS,
        ALLOWED_ORIGINS,
        ENDPOINTS,
        ALLOW_ENDPOINTS,
        TLS_CERT,
        TLS_KEY,
        TLS_CLIENT_CA,
        TLS_CA,
        TLS_CLIENT_CERT,
        TLS_CLIENT_KEY,
        CONNECTIONS_MAX,
        CONNECTIONS_PER_ADDRESS,
        HEADERS_MAX,
        HEADER_BYTES_MAX,
        HEAD_TIMEOUT,
        IDLE_TIMEOUT,
        BODY_TIMEOUT,
        INBOX_MAX,
        MESSAGE_BYTES_MAX,
        METRICS,
        OTLP,
        LOG,
        LOG_FILE,
        LOG_BYTES_MAX,
        LOG_FILES_MAX,
        EXCHANGES,
        EXCHANGES_BYTES_MAX,
    ];
}

impl Settings for ForPlayer {
    const SECTION: &'static str = "player";
    const ALL: &'static [Setting] = &[
        setting("listen", "HOST:PORT", "127.0.0.1:8101", "Where to listen; port 0 takes a free one"),
        MANAGER,
        optional("name", "NAME", "What the player is called [default: Player PORT]"),
        setting(
            "strategy",
            "NAME",
            "random",
            "How it chooses: a built-in strategy, command:PROGRAM, or llm for a language model",
        ),
        setting(
            "fallback",
            "NAME",
            "random",
            "The built-in strategy that chooses when a program or a model does not",
        ),
        optional("games", "NAMES", "Games that it plays beyond those of `matchday games`, with commas"),
        setting(
            "think-time",
            "SECONDS",
            "25",
            "How long a program or a model may think about a move, if the referee does not want it sooner",
        ),
        optional(
            "llm-url",
            "URL",
            "The server of the model, for the strategy llm; its key comes from MATCHDAY_LLM_API_KEY",
        ),
        optional("llm-model", "NAME", "The model, as its server calls it"),
        setting(
            "llm-api",
            "openai|anthropic",
            "openai",
            "What the server speaks: /v1/chat/completions or /v1/messages",
        ),
        optional("store", "FILE", "Where it keeps what it must not forget [default: player-PORT.db]"),
        AUTH_TOKEN,
        CODE,
        ADDRESS_RATE,
        ADVERTISE,
        ALLOWED_HOSTS,
        ALLOWED_ORIGINS,
        TLS_CERT,
        TLS_KEY,
        TLS_CLIENT_CA,
        TLS_CA,
        TLS_CLIENT_CERT,
        TLS_CLIENT_KEY,
        CONNECTIONS_MAX,
        CONNECTIONS_PER_ADDRESS,
        HEADERS_MAX,
        HEADER_BYTES_MAX,
        HEAD_TIMEOUT,
        IDLE_TIMEOUT,
        BODY_TIMEOUT,
        INBOX_MAX,
        MESSAGE_BYTES_MAX,
        METRICS,
        OTLP,
        LOG,
        LOG_FILE,
        LOG_BYTES_MAX,
        LOG_FILES_MAX,
        EXCHANGES,
        EXCHANGES_BYTES_MAX,
    ];
}
