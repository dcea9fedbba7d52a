//! Every setting, declared once: its flag, environment variable, key in the configuration file, values, range, default, help
//! and its row in docs/settings.md all come from the table below.
//!
//! To add a setting, add it to the table, read it with [`Config::get`] where it is needed, and bring the manual up to date
//! with `UPDATE_DOCS=1 cargo test -p matchday --lib settings`.

pub(crate) mod config;
mod environment;
mod file;
mod groups;
pub(crate) mod secret_file;
mod setting;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use config::{
    Config, LeagueFlags, ManagerFlags, PlayerFlags, RefereeFlags, RunFlags, SeatFlags, ServeFlags,
};
pub(crate) use environment::check_environment;
pub(crate) use file::ConfigFile;
pub(crate) use setting::{Declared, Setting};

use matchday_core::game::observation::ObservationForm;
use matchday_core::game::{self, GameEntry};
use matchday_core::league::format::{Format, Seeding};
use matchday_core::league::{EndpointCheck, ProofRule, Registration, Score, TieBreak, TokenRule};
use matchday_core::protocol::decode::Conformance;
use matchday_core::protocol::{DisplayName, Endpoint, GameType, LeagueId, Token};
use matchday_core::retry::{Backoff, RetryPolicy};
use matchday_net::egress::{AllowRule, Scopes};
use matchday_net::ip_network::IpNetwork;
use matchday_net::origin_check::{HostRule, OriginRule};
use matchday_runtime::deciders::llm::Api;
use matchday_runtime::deciders::llm_budget::{TokenPrices, UsageLimits};
use matchday_runtime::log;
use matchday_server::league::StartCounts;
use matchday_store::StoreUrl;
use section::{LEAGUE as L, MANAGER as M, PLAYER as P, REFEREE as R, RUN, SEAT as S, SERVE as V};
use setting::{
    Use, derived, on_off, one_of, optional, parsed, seconds, seconds_above_zero, section, text,
    whole, whole_or_auto, with_default,
};
use std::time::Duration;
use tracing::Level;
use values::{
    built_in_referees, each, endpoint, expected_tie_breaks, expected_token, games, manager,
    start_counts, tie_breaks, token, url, variable,
};

/// The key of a model's server. It is no setting: it must stand neither in arguments, which everyone on the machine can
/// read, nor in a file that is shared.
pub(crate) const LLM_API_KEY: &str = "MATCHDAY_LLM_API_KEY";

const AGENTS: &[usize] = &[M, R, P, S, V];
const ALL_COMMANDS: &[usize] = &[M, R, P, S, RUN, V];
const NO_LIMIT: u64 = u64::MAX;

macro_rules! settings {
    ($($id:ident: $type:ty = $setting:expr, [$($used:expr),+ $(,)?];)*) => {
        $(pub(crate) static $id: Setting<$type> = {
            const USES: &[Use] = &[$($used),+];
            $setting.declare(stringify!($id), USES)
        };)*
        /// In the order of the help.
        pub(crate) static ALL: &[&Declared] = &[$(&$id.declared),*];

        /// Refuses the first value that its setting cannot have.
        pub(crate) fn check_values(config: &Config) -> anyhow::Result<()> {
            $(if config.values().any(|value| std::ptr::eq(value.setting, &$id.declared)) {
                config.get(&$id)?;
            })*
            Ok(())
        }
    };
}

settings! {
    // The league of `matchday run`.
    PLAYERS: u16 = whole("N", 2, 99), [with_default(&[RUN], "4", "How many players take part")];
    REFEREES: u16 = whole("N", 1, 99), [with_default(&[RUN], "2", "How many referees there are")];
    STRATEGIES: String = text("A,B"), [derived(&[RUN], "every built-in one of the game",
        "Strategies, given to the players in turn; command:PROGRAM is a program of your own")];
    PLAN: String = text("FILE"), [
        optional(&[RUN], "Who plays: every [[player]] and every strategy of a plan, as `matchday experiment` reads it"),
        optional(&[P], "A plan, as `matchday experiment` reads it: the player is its [[player]] called --name")];
    PORT_BASE: u16 = whole("PORT", 0, 65535), [with_default(&[RUN], "8000",
        "The manager's port; referees follow from 1 above it and players from 101; 0 picks free ports for all")];
    STAY: bool = on_off(), [derived(&[RUN], "on, on a terminal", "Keep the page open after the league, until Ctrl-C; --no-stay ends at once")];
    OPEN: bool = on_off(), [with_default(&[RUN], "off", "Open the page in a browser of this machine")];
    PACE: Duration = seconds(), [derived(&[RUN], "on a terminal so that a league lasts half a minute, a board game a minute; elsewhere 0",
        "How long a player waits before each move, and the league before each round, so that people can follow; at most 10")];
    SEED: u64 = whole("N", 0, NO_LIMIT), [optional(&[RUN],
        "A seed for all random numbers, instead of the system's; tokens can then be guessed. The numbers drawn are the same again if \
         no referee has more than one match at a time, as with 4 players and 2 referees")];

    // Who an agent is, and what it keeps.
    LISTEN: String = text("HOST:PORT"), [
        with_default(&[M, V], "127.0.0.1:8000", "Where to listen; port 0 takes a free one"),
        with_default(&[R], "127.0.0.1:8001", "Where to listen; port 0 takes a free one"),
        with_default(&[P], "127.0.0.1:8101", "Where to listen; port 0 takes a free one"),
        with_default(&[S], "127.0.0.1:8201", "Where to listen; port 0 takes a free one")];
    MANAGER: Endpoint = parsed("URL", || "host:port or a URL, such as localhost:8000 or http://localhost:8000/mcp".into(), manager),
        [with_default(&[R, P, S], "http://localhost:8000/mcp",
        "Where the league manager listens: host:port, the URL of its page, or that of its /mcp")];
    NAME: DisplayName = parsed("NAME", || "a name of 1 to 50 characters, none of them a control or invisible".into(),
        |text| DisplayName::parse(text).ok()), [
        derived(&[R], "Referee PORT", "The referee's name"),
        derived(&[P], "Player PORT", "The player's name")];
    STORE: StoreUrl = parsed("FILE|URL", || "a file or the URL of a database".into(), |text| Some(text.into())), [
        with_default(&[M], "matchday.db", "Where the league is kept; made if it does not exist"),
        with_default(&[V], "service.db", "Where all leagues are kept; made if it does not exist"),
        derived(&[R], "referee-PORT.db", "Where the agent keeps its state"),
        derived(&[P], "player-PORT.db", "Where the agent keeps its state"),
        derived(&[S], "seat-PORT.db", "Where the agent keeps its state"),
        derived(&[RUN], "matchday-run-TIME.db here", "The file of the league: a new one, or that of a stopped league, which then continues")];
    AUTH_TOKEN: String = text("TOKEN").secret(), [optional(&[R, P],
        "A token from the operator, instead of the one in the store")];
    CODE: Token = parsed("CODE",
        || "what the operator gave out, tok_join_ and letters and digits (it is not shown here)".into(),
        |text| Some(Token::new(text)).filter(Token::is_join_code)).secret(),
        [optional(&[R, P, S], "The join code from the operator")];

    // What is played, and how the league goes.
    LEAGUE_ID: LeagueId = parsed("ID", || "a name of 1 to 64 characters".into(),
        |text| (1..=64).contains(&text.chars().count()).then(|| LeagueId::new(text))),
        [derived(&[M], "league_2025_even_odd, and league_GAME for other games", "The id of the league")];
    GAME: &'static GameEntry = parsed("NAME", games, |text| game::find(&GameType::new(text))),
        [with_default(&[M, L, RUN], "even_odd", "The game; `matchday games` lists all games")];
    GAME_COMMAND: String = text("PROGRAM"), [optional(&[M, L, R, RUN],
        "A program of your own with the rules of the game: docs/adding-a-game.md")];
    GAME_TIME: Duration = seconds_above_zero(), [with_default(&[M, L, R, RUN], "2", "How long that program has for an answer")];
    GAME_MEMORY: u64 = whole("MEGABYTES", 0, u32::MAX as u64),
        [with_default(&[M, L, R, RUN], "512", "How much resident memory that program may use")];
    PROGRAM_ENV: Vec<String> = parsed("NAMES",
        || "names of environment variables such as OPENAI_API_KEY, with commas between them".into(),
        |text| each(text, variable)), [optional(&[M, R, P, RUN, V],
        "Environment variables for your own programs (command:PROGRAM, --game-command) beyond PATH, HOME, LANG and the like, with commas")];
    FORMAT: Format = parsed("NAME", || Format::ALL.map(Format::name).join(" or "),
        |text| Format::find(&text.replace('-', "_"))), [
        with_default(&[M, L], "round_robin",
        "Who meets whom: round_robin, double_round_robin, swiss, knockout or groups_knockout; or ladder, which has no end"),
        with_default(&[RUN], "round_robin",
        "Who meets whom: round_robin, double_round_robin, swiss, knockout or groups_knockout")];
    ROUNDS: Option<u32> = whole_or_auto(), [with_default(&[M, L, RUN], "auto",
        "How many rounds a swiss league has; auto follows from the number of players")];
    MATCHES_PER_PAIRING: u32 = whole("N", 0, NO_LIMIT), [with_default(&[M, L, RUN], "1",
        "How many matches each pairing has, with alternating sides; in a knockout, best of that many")];
    MATCHES_PER_HOUR: u32 = whole("N", 1, 9_999), [
        derived(&[M, L], "60 in a ladder", "How many matches a player of a ladder has in any hour, at most"),
        optional(&[P], "How many matches of a ladder the player wants in any hour, at most")];
    GROUPS: Option<u32> = whole_or_auto(), [with_default(&[M, L, RUN], "auto",
        "How many groups groups_knockout has; auto for the power of two that puts four to seven players into each")];
    QUALIFIERS: Option<u32> = whole_or_auto(), [with_default(&[M, L, RUN], "auto",
        "How many of each group reach the knockout; auto for two")];
    REPLAYS: u32 = whole("N", 0, NO_LIMIT), [with_default(&[M, L, RUN], "3",
        "How often a level tie of a knockout is played again before the lot decides, and a level play-off before the title is shared")];
    THIRD_PLACE: bool = on_off(), [with_default(&[M, L, RUN], "off",
        "Whether the beaten semifinalists play for the third place")];
    PLAY_OFF: bool = on_off(), [with_default(&[M, L, RUN], "off",
        "Whether players who are level for the first place play it out after the last round; otherwise they share the title")];
    SEEDING: Seeding = one_of(&["registration", "lots"], &[Seeding::Registration, Seeding::Lots]), [with_default(&[M, L, RUN],
        "registration",
        "The seeding before the first match: by the order of registration, or by lot")];
    SCORE: Option<Score> = one_of(&["auto", "match", "payoff"], &[None, Some(Score::Match), Some(Score::Payoff)]),
        [with_default(&[M, L, RUN], "auto",
        "What ranks players: points for won matches, or the total payoff of a repeated game; auto follows from the game")];
    TIE_BREAKS: Vec<TieBreak> = parsed("RULES", expected_tie_breaks, tie_breaks),
        [with_default(&[M, L, RUN], "head_to_head,win_percentage,wins,fewer_draws",
        "The tie-breaks for players with equal points, the first one first; also sonneborn_berger, buchholz, lots")];
    PROOF: ProofRule = one_of(&["required", "optional"], &[ProofRule::Required, ProofRule::Optional]),
        [with_default(&[M, L, RUN], "required",
        "Whether matches of players with keys need a referee that proves its results; optional for referees that students write")];
    TOKENS: TokenRule = one_of(&["required", "optional"], &[TokenRule::Required, TokenRule::Optional]),
        [with_default(&[M, RUN], "required",
        "Whether agents must show their tokens in reports and queries; optional for practice on this machine alone: results are then unproven")];
    LEAD: Duration = seconds(), [
        with_default(&[M, L], "60", "How long before its first match a round is announced"),
        with_default(&[RUN], "0", "How long before its first match a round is announced")];
    START_WHEN: StartCounts = parsed("COUNTS",
        || "players=N,referees=N with at least 2 players and 1 referee".into(), start_counts),
        [optional(&[M, L], "Start as soon as this many have registered, as in players=4,referees=2")];
    CONFORMANCE: Conformance = one_of(&["strict", "lenient"], &[Conformance::Strict, Conformance::Lenient]),
        [with_default(&[M, L], "lenient", "lenient accepts known deviations and records them; strict refuses them"),
        with_default(&[R], "lenient", "The same, under a third-party manager that does not say which one its league is")];

    // Who may register, and what happens to those who do not answer.
    OPERATOR_TOKEN: Token = parsed("TOKEN", expected_token, token).secret(), [derived(&[M, L], "one is made, and shown once",
        "The operator's token, for `admin`")];
    ROSTER: String = text("FILE"), [optional(&[M, L],
        "Who may register, as CSV with name, role, mail: a join code for each is written beside it, to NAME.codes.csv")];
    REFEREE_CODE: String = text("CODE|off").secret(), [derived(&[M, L],
        "one is made and shown once, if others can reach the manager", "The join code for referees")];
    PLAYERS_MAX: u32 = whole("N", 0, NO_LIMIT).beyond("REJECTED with E008"),
        [with_default(&[M, L], "99", "How many players may register")];
    AGENTS_PER_ADDRESS: u32 = whole("N", 0, NO_LIMIT).beyond("REJECTED with E008; E014 for a seat; HTTP 429 for one that dials out"),
        [derived(&[M, L, V, S], "16 that register, 64 that dial out, a quarter of the seats",
        "How many agents may register, dial out or take a seat from one address (one /64 of IPv6), this machine's not counted; 0 for no limit, as for a class behind one router")];
    REGISTRATION: Registration = one_of(&["open", "closed"], &[Registration::Open, Registration::Closed]), [with_default(&[M, L],
        "open", "Whether players may register, until the start or to the end of a ladder; closed keeps those who have. It can be \
        changed at any time, by a new start or `league configure`")];
    PUBLIC_READS: bool = on_off(), [with_default(&[M, L], "on",
        "Whether anyone may read standings, schedule and results")];
    SUSPEND_AFTER: u32 = whole("N", 0, NO_LIMIT), [with_default(&[M, L], "3",
        "How many technical losses in a row suspend a player")];
    ENDPOINT_CHECK: EndpointCheck = one_of(&["off", "at_start", "at_registration"],
        &[EndpointCheck::Off, EndpointCheck::AtStart, EndpointCheck::AtRegistration]), [with_default(&[M, L], "at_start",
        "When to check that an agent answers at its endpoint")];

    // Matches. A referee takes its manager's timeouts: its own bound them, and hold where the manager hands none over.
    MAX_MATCHES: u32 = whole("N", 1, NO_LIMIT).beyond("waits until another match is over"), [
        with_default(&[R], "5", "How many matches the referee runs at once"),
        with_default(&[V], "10", "How many matches each referee of the service runs at once")];
    JOIN_TIMEOUT: Duration = seconds_above_zero(), [
        with_default(&[M, L], "5", "How long a player has to accept an invitation"),
        derived(&[R], "what the manager says, or 5", "The longest time that a player has to accept an invitation")];
    CHOICE_TIMEOUT: Duration = seconds_above_zero(), [
        with_default(&[M, L], "30", "How long a player has for a move"),
        derived(&[R], "what the manager says, or 30", "The longest time that a player has for a move")];
    OTHER_TIMEOUT: Duration = seconds_above_zero(), [with_default(&[M, L, R], "10",
        "How long an agent has for any other answer, such as the confirmation of a report")];
    RETRIES: u32 = whole("N", 0, NO_LIMIT), [
        with_default(&[M, L], "3", "How often a player that does not answer is asked again"),
        derived(&[R], "what the manager says, or 3",
            "How often at most a player that does not answer is asked again")];
    RETRY_DELAY: Duration = seconds(), [
        derived(&[M, L], "2, or 1 if exponential", "The pause before asking again; the first one if exponential"),
        derived(&[R], "what the manager says, or 2",
            "The longest pause before asking again; the first one if exponential")];
    RETRY: Backoff = one_of(&["fixed", "exponential"], &[RetryPolicy::FIXED.backoff, RetryPolicy::EXPONENTIAL.backoff]), [
        with_default(&[M, L], "fixed", "Whether pauses stay the same or double each time"),
        with_default(&[R], "fixed", "Whether pauses stay the same or double each time, if the manager does not say")];

    // How a player chooses.
    STRATEGY: String = text("NAME"), [with_default(&[P], "random",
        "How the player chooses: a built-in strategy, command:PROGRAM, or llm for a language model")];
    FALLBACK: String = text("NAME"), [
        with_default(&[P], "random", "The built-in strategy that chooses when a program or a model does not; with none the player forfeits"),
        with_default(&[S, M, L], "random", "The built-in strategy that chooses when the holder of a seat does not; with none the player forfeits")];
    OBSERVATION: ObservationForm = one_of(&ObservationForm::NAMES, &ObservationForm::ALL), [
        with_default(&[P], "text", "How a model is shown a turn: as a text with the board drawn, as JSON, or both"),
        with_default(&[S, M, L], "both", "How the holder of a seat is shown a turn: as a text with the board drawn, as JSON, or both")];
    GAMES: String = text("NAMES"), [optional(&[P],
        "Games of the player beyond those of `matchday games`, with commas")];
    THINK_TIME: Duration = seconds_above_zero(), [with_default(&[P], "25",
        "How long a program or a model may think about a move, unless the referee's deadline is earlier")];
    LLM_URL: String = parsed("URL", || "a URL, such as http://localhost:11434".into(), url), [optional(&[P],
        "The server of the model, for the strategy llm; its key comes from MATCHDAY_LLM_API_KEY")];
    LLM_MODEL: String = text("NAME"), [optional(&[P], "The model, as its server calls it")];
    LLM_API: Api = one_of(&Api::NAMES, &[Api::OpenAi, Api::Anthropic, Api::Ollama]), [with_default(&[P], "openai",
        "The API of the server: /v1/chat/completions, /v1/messages or /api/chat")];
    LLM_RETRIES: u32 = whole("N", 0, 100), [with_default(&[P], "2",
        "How often the model is asked again, and told what was wrong, after an answer that is no move")];
    LLM_BUDGET: UsageLimits = parsed("LIMITS", || "calls=N, tokens=N or money=N, with commas between them".into(), UsageLimits::parse), [optional(&[P],
        "What the model may use in a league, as in calls=500,tokens=1000000,money=5; after that the fallback chooses")];
    LLM_PRICES: TokenPrices = parsed("IN,OUT",
        || "two prices, of a million tokens of the prompt and of the answer, as in 3,15".into(), TokenPrices::parse),
        [optional(&[P], "What a million tokens cost, of the prompt and of the answer: without it no money is counted")];

    // A service of many leagues, and what one of them may use.
    LEAGUE_REFEREES: u16 = parsed("built-in|none|N", || "built-in, none, or how many of its own the service runs for it, up to 9".into(), built_in_referees)
        .named("REFEREES"), [with_default(&[L], "built-in",
        "The referees: built-in for one of the service, a number for several, none for third-party referees alone")];
    SERVICE_TOKEN: Token = parsed("TOKEN", expected_token, token).secret(), [derived(&[V], "one is made, and shown once",
        "The token for creating, changing and removing leagues")];
    SLEEP_AFTER: Duration = seconds_above_zero(), [with_default(&[V], "60",
        "How long a league must have nothing to do before it is unloaded; it is loaded again when it has, or by a request")];
    QUOTA_LEAGUES: u32 = whole("N", 1, 1_000_000).beyond("HTTP 409; nothing is created"),
        [with_default(&[V], "10000", "How many leagues there may be")];
    QUOTA_PLAYERS: u32 = whole("N", 2, NO_LIMIT).beyond("HTTP 409; nothing is created"),
        [with_default(&[V], "1000", "The most players that a league may allow")];
    QUOTA_REQUESTS: u32 = whole("N", 0, NO_LIMIT).beyond("HTTP 429 with `Retry-After`"),
        [with_default(&[V], "1000", "How many requests a second a league takes from all clients together; 0 for no limit")];
    QUOTA_PROGRAMS: u32 = whole("N", 0, 1000).beyond("HTTP 409; nothing is created"), [with_default(&[V], "0",
        "How many leagues may have a game program, which runs on this machine")];

    // Agents that dial out.
    RELAY: bool = on_off(), [
        with_default(&[M], "off", "Whether agents that cannot be called can dial out to it: `matchday connect`"),
        with_default(&[V], "on", "Whether agents that cannot be called can dial out to it: `matchday connect`")];
    RELAY_MAILBOXES: usize = whole("N", 1, 1_000_000).beyond("HTTP 429; one that was abandoned for an hour is removed instead"),
        [with_default(&[M, V], "1024", "How many agents of a league may dial out")];

    DIAL: bool = on_off(), [
        with_default(&[R, P], "off", "Dial out to the relay of the league instead of listening: for agents behind NAT or a firewall"),
        with_default(&[S], "off", "Have the seats dial out to the relay of the league; only their clients come to --listen, \
         and with --stdio it has no socket at all"),
        with_default(&[RUN], "off", "Have the players dial out to the relay of the manager instead of listening")];

    // Seats, and the dashboard.
    SEATS: bool = on_off(), [with_default(&[M, L], "off",
        "Whether clients of the Model Context Protocol can take a seat here")];
    PLAY: &'static GameEntry = parsed("GAME", games, |text| game::find(&GameType::new(text))), [optional(&[S],
        "Play this game against built-in players, in a league of this process: no manager, no referee")];
    AGAINST: String = text("NAMES"), [with_default(&[S], "random", "The strategies of the built-in players, with commas; with --play")];
    MAX_SEATS: usize = whole("N", 1, 10_000).beyond("E014"),
        [with_default(&[M, L, S], "16", "How many seats there may be")];
    SEAT_CODE: String = text("CODE|off").secret(), [derived(&[M, L, S],
        "none on this machine alone; elsewhere the join codes of the roster, or one that is made and shown",
        "The bearer token for clients of seats: tok_join_ and 16 letters and digits or more")];
    STDIO: bool = on_off(), [with_default(&[S], "off",
        "Speak the Model Context Protocol over standard input and output, for hosts that start servers by command; \
         without --listen on any free port, without --store in memory")];
    DASHBOARD: bool = on_off(), [
        derived(&[M], "on, if only this machine can reach it", "Whether the league can be seen here in a browser"),
        with_default(&[L], "on", "Whether the league can be seen in a browser, at /leagues/ID/"),
        with_default(&[RUN], "on", "Whether the league can be seen in a browser while it is played")];
    DASHBOARD_STORES: Vec<StoreUrl> = parsed("FILES", || "files with commas between them".into(), |text| {
        let named = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        Some(named.map(StoreUrl::from).collect())
    }), [optional(&[M],
        "Stores of referees and players, with commas: matches are then shown with what their agents recorded")];

    // The network: who may call, and who may be called.
    ADVERTISE: Endpoint = parsed("URL", || "a URL, such as http://localhost:8000/mcp".into(), endpoint),
        [derived(&[M, R, P, S], "http://HOST:PORT/mcp", "Where others reach this agent, if not at its listening address"),
        derived(&[V], "the address of --peer-listen",
        "Where other services that share its database reach this one, as in https://10.0.0.7:8443; with a file as its store, the \
         same as --public-url")];
    PUBLIC_URL: Endpoint = parsed("URL", || "a URL, such as https://leagues.example".into(), endpoint),
        [derived(&[V], "http://HOST:PORT", "The public address of the leagues, the same for all services of a store")];
    PEER_LISTEN: String = text("HOST:PORT"), [derived(&[V], "the host of --listen, and the port of --advertise or any",
        "Where to listen for other services that share its database, with TLS")];
    ALLOWED_HOSTS: Vec<HostRule> = parsed("HOSTS",
        || "names such as example.org or example.org:8000, with commas between them".into(),
        |text| each(text, HostRule::parse)), [derived(AGENTS, "those of its address",
        "Further host names that requests may use, with commas; * for any")];
    ALLOWED_ORIGINS: Vec<OriginRule> = parsed("ORIGINS",
        || "origins such as https://example.org or http://localhost:*, with commas between them".into(),
        |text| each(text, OriginRule::parse)), [derived(AGENTS, "its own",
        "Origins of web pages that may call it, as in https://example.org, with commas; * for any")];
    ENDPOINTS: Scopes = parsed("KINDS",
        || "loopback, private, public, several of them with commas, any, or listed".into(), Scopes::parse),
        [derived(&[M, R, V], "those of the network it listens on",
        "Which endpoints of agents may be called: loopback, private, public, several with commas, any, or listed for those \
         of --allow-endpoints alone")];
    ALLOW_ENDPOINTS: Vec<AllowRule> = parsed("HOSTS",
        || "hosts such as agent.example:8101, 10.0.0.7 or 10.0.0.0/8, with commas between them".into(),
        |text| each(text, AllowRule::parse)), [optional(&[M, R, V],
        "Further hosts, addresses and networks whose endpoints may be called, as in agent.example:8101,10.0.0.0/8")];
    TRUSTED_PROXIES: Vec<IpNetwork> = parsed("ADDRESSES",
        || "addresses and networks such as 127.0.0.1 or 10.0.0.0/8, with commas between them".into(),
        |text| each(text, IpNetwork::parse)), [optional(AGENTS,
        "Reverse proxies in front of it, as in 127.0.0.1: their X-Forwarded-For or PROXY protocol gives the client's address, and no call from there counts as local")];
    TLS_CERT: String = text("FILE"), [optional(AGENTS,
        "Serve over TLS: the certificate with its chain (PEM)")];
    TLS_KEY: String = text("FILE"), [optional(AGENTS, "The key of --tls-cert (PEM)")];
    TLS_CLIENT_CA: String = text("FILE"), [optional(AGENTS,
        "Accept only clients with a certificate that one of these authorities has signed (PEM)")];
    TLS_CA: String = text("FILE"), [optional(AGENTS,
        "Extra CA certificates to trust when calling over https (PEM)")];
    TLS_CLIENT_CERT: String = text("FILE"), [optional(AGENTS,
        "The certificate to show when calling over https (PEM)")];
    TLS_CLIENT_KEY: String = text("FILE"), [optional(AGENTS, "The key of --tls-client-cert (PEM)")];

    // Limits on what callers can ask for.
    CONNECTIONS_MAX: usize = whole("N", 1, 1 << 20).beyond("waits until another ends"),
        [with_default(AGENTS, "4096", "How many connections it takes at once")];
    VIEWERS_MAX: usize = whole("N", 1, 1 << 20).beyond("HTTP 503; the page can still be reloaded"), [with_default(&[M, V], "500",
        "How many open pages of a league are kept up to date at once; a quarter of them from one address")];
    // No registration fits into less than the least; the most keeps one request from taking the memory of many.
    MESSAGE_BYTES_MAX: usize = whole("BYTES", 1024, 16 << 20)
        .beyond("HTTP 413 with E002; of an answer: it counts as unreadable"), [
        with_default(&[M, L], "10240", "The longest request or answer that is read"),
        with_default(&[R, P, S], "1048576", "The longest request or answer that is read")];
    ADDRESS_RATE: u32 = whole("N", 0, NO_LIMIT).beyond("HTTP 429 with E014 and `Retry-After`"), [derived(AGENTS,
        "5000, and any from this machine", "How many requests a second are taken from one address; 0 for no limit")];

    // What an operator sees.
    METRICS: bool = on_off(), [
        derived(AGENTS, "on, if only this machine can reach it", "Whether /metrics shows figures for Prometheus"),
        with_default(&[RUN], "on", "Whether /metrics of every agent shows figures of all of them, for Prometheus")];
    OTLP: String = parsed("URL", || "a URL, such as http://127.0.0.1:4318".into(), url), [optional(ALL_COMMANDS,
        "A collector of OpenTelemetry that traces are sent to, such as http://127.0.0.1:4318")];
    LOG: log::Format = one_of(&["people", "json"], &[log::Format::People, log::Format::Json]),
        [with_default(AGENTS, "people", "The format of the log, one line for each event")];
    LOG_LEVEL: Level = one_of(&["error", "warning", "info", "debug"], &[Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG]), [
        with_default(&[M, R, P, S], "debug", "The log level: info leaves out messages that went well, some kilobytes a match"),
        with_default(&[V], "info", "The log level: debug adds every message, some kilobytes a match")];
    EXCHANGES: bool = on_off(), [with_default(&[M, R, P, S, RUN, V, L], "on",
        "Whether messages and answers are kept, without tokens, for replay")];
    EXCHANGES_BYTES_MAX: u64 = whole("BYTES", 0, NO_LIMIT)
        .beyond("is not kept, as the log says once; events always are"), [with_default(&[M, R, P, S, V, L], "1073741824",
        "How many bytes of messages and answers are kept of a league; events always are")];
}
