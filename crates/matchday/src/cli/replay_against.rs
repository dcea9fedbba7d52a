//! `matchday replay` with `--wait` or `--against URL`: the requests of a match, sent to an agent under development, and what it
//! answers beside what was answered then. Calls the agent, one request after the other.

use super::check::WaitArgs;
use crate::manager_client::manager_url;
use anyhow::{Context, Result, anyhow, bail};
use matchday_audit::request_replay::{self, PlayerRequests, PublishedMessage, RecordedRequest};
use matchday_author::check::own_player::{self, Expected, OwnPlayer};
use matchday_core::league::LeagueSettings;
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::token::Direction;
use matchday_core::protocol::{Attempt, ErrorCode, GameType, LeagueId, MatchId, PlayerId, Token};
use matchday_core::timing::Timing;
use matchday_net::client::{CallError, Client};
use matchday_runtime::entropy_from_system;
use matchday_terminal::{headed, say, table};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const FETCH_MAX: Duration = Duration::from_secs(30);
const PAGE_BYTES_MAX: usize = 16 << 20;
/// How long an agent may take to read the answer to its registration.
const UNREGISTERED_MAX: Duration = Duration::from_secs(3);
const UNREGISTERED_PAUSE: Duration = Duration::from_millis(20);

/// The match that is played again.
#[derive(Debug)]
pub(super) struct Again<'a> {
    pub(super) match_id: &'a MatchId,
    pub(super) part: &'a PlayerRequests,
    /// How long each answer may take; otherwise what the rules allow for it.
    pub(super) timeout: Option<Duration>,
    pub(super) json: bool,
    pub(super) client: &'a Client,
}

/// Who is asked.
#[derive(Debug)]
pub(super) enum Whom<'a> {
    /// An agent that runs; the tokens that it is shown are made up.
    Running(&'a str),
    /// One that registers here first, and so knows the tokens.
    Waited(&'a WaitArgs),
}

/// An agent, and what it can check of who asks.
struct Agent {
    url: String,
    /// It registered here: its token, and the league of the requests.
    own: Option<(OwnPlayer, LeagueId)>,
    made_up: Token,
}

/// One request: what was answered then, and what is answered now.
#[derive(Debug, Serialize)]
struct Row {
    request: String,
    then: String,
    then_ms: Option<f64>,
    now: String,
    now_ms: Option<f64>,
    same: bool,
    #[serde(skip)]
    answered: bool,
}

/// The requests of a match, from the page of its league.
pub(super) async fn fetch(
    client: &Client,
    page: &str,
    match_id: &MatchId,
    player: Option<&str>,
) -> Result<PlayerRequests> {
    #[derive(Deserialize)]
    struct Page {
        #[serde(default)]
        messages: Vec<PublishedMessage>,
        withheld: Option<String>,
    }
    let manager = manager_url(page);
    let base = manager.strip_suffix("/mcp").unwrap_or(&manager);
    let url = format!("{base}/api/matches/{match_id}");
    let deadline = Instant::now() + FETCH_MAX;
    let received = client
        .get_with(&url, Vec::new(), deadline, PAGE_BYTES_MAX)
        .await;
    let received = received.map_err(|error| anyhow!("{url} cannot be read: {error}"))?;
    let page: Page = serde_json::from_slice(&received.body).map_err(|_| {
        let status = received.status;
        anyhow!("{url} tells no match (HTTP {status}): check the address of the league and --match")
    })?;
    if let Some(why) = page.withheld {
        bail!("{url}: {why}");
    }
    Ok(request_replay::published_requests(
        page.messages,
        match_id,
        player,
    )?)
}

pub(super) async fn execute(again: &Again<'_>, whom: Whom<'_>) -> Result<ExitCode> {
    let agent = Agent::of(again, whom).await?;
    let mut rows = Vec::new();
    for asked in &again.part.asked {
        let row = agent.ask(again, asked).await;
        rows.push(match row {
            // No connection at the first request is an error of the command, a later one a result.
            Err(error) if rows.is_empty() => return Err(unreachable(&agent.url, &error)),
            Err(error) => Row::unanswered(asked, error.to_string()),
            Ok(row) => row,
        });
    }
    if again.json {
        say(serde_json::to_string_pretty(&rows)?);
    } else {
        say(for_people(again, &agent, &rows));
    }
    Ok(if rows.iter().all(|row| row.answered) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Agent {
    async fn of(again: &Again<'_>, whom: Whom<'_>) -> Result<Self> {
        let mut entropy = entropy_from_system()?;
        let made_up = Token::issue("replay", &mut entropy);
        let waiting = match whom {
            Whom::Running(url) => {
                return Ok(Self {
                    url: url.to_owned(),
                    own: None,
                    made_up,
                });
            }
            Whom::Waited(waiting) => waiting.open().await?.context("--wait is given")?,
        };
        let named = |name| again.part.asked.iter().find_map(|asked| asked.field(name));
        let default = LeagueSettings::default();
        let league = named("league_id").map_or(default.league_id, LeagueId::new);
        let expected = Expected {
            player: &PlayerId::new(&again.part.player),
            league: league.clone(),
            game: named("game_type").map_or(default.game_type, GameType::new),
        };
        let own = own_player::wait(expected, waiting, &mut entropy).await?;
        Ok(Self {
            url: own.endpoint.raw().to_owned(),
            own: Some((own, league)),
            made_up,
        })
    }

    /// The token that this request must show.
    fn token(&self, match_id: &MatchId, asked: &RecordedRequest) -> Token {
        let Some((own, league)) = &self.own else {
            return self.made_up.clone();
        };
        let attempt = asked.conversation_id.attempt_of(match_id);
        own.token.hash().match_token(
            league,
            match_id,
            attempt.unwrap_or(Attempt::FIRST),
            Direction::RefereeToPlayer,
        )
    }

    /// Asks again while the answer to its registration is still on its way to it.
    async fn ask(&self, again: &Again<'_>, asked: &RecordedRequest) -> Result<Row, CallError> {
        let until = Instant::now() + UNREGISTERED_MAX;
        loop {
            let row = ask(&self.url, again, asked, &self.token(again.match_id, asked)).await?;
            let is_early = self.own.is_some() && row.now.contains(ErrorCode::InvalidState.code());
            if !is_early || Instant::now() > until {
                return Ok(row);
            }
            sleep(UNREGISTERED_PAUSE).await;
        }
    }
}

fn unreachable(url: &str, error: &CallError) -> anyhow::Error {
    match error {
        CallError::Unusable(why) => {
            anyhow::anyhow!("{url} cannot be asked: {why} - check --against")
        }
        _ => anyhow::anyhow!("no agent answers at {url} ({error}) - start it, or check --against"),
    }
}

/// Sends one request. An error only if it could not be delivered.
async fn ask(
    url: &str,
    again: &Again<'_>,
    asked: &RecordedRequest,
    token: &Token,
) -> Result<Row, CallError> {
    let Some(request) = asked.with_token(token) else {
        return Ok(Row::unanswered(
            asked,
            "not sent: it was too long to be kept whole".into(),
        ));
    };
    let began = Instant::now();
    let deadline = began
        + again
            .timeout
            .unwrap_or_else(|| allowed(&asked.message_type));
    let body = request.into_bytes().into();
    let received = match again
        .client
        .post(url, body, deadline, Limits::AGENT.message_bytes_max)
        .await
    {
        Ok(received) => received,
        Err(error @ (CallError::TimedOut | CallError::TooLarge(_))) => {
            return Ok(Row::unanswered(asked, error.to_string()));
        }
        Err(error) => return Err(error),
    };
    let took = began.elapsed();
    let now = match read_answer(received.status, &received.body, &Limits::AGENT) {
        WireAnswer::Message(message) | WireAnswer::Refused(message) => {
            request_replay::summarize_answer_body(&message.to_string())
        }
        WireAnswer::Received => {
            request_replay::summarize_answer_body(&String::from_utf8_lossy(&received.body))
        }
        WireAnswer::MethodNotFound => "it does not know this method".to_owned(),
        WireAnswer::Error { code, message } => format!("JSON-RPC error {code}: {message}"),
        WireAnswer::Failed(what) | WireAnswer::Garbled(what) => what,
    };
    Ok(Row {
        request: asked.message_type.clone(),
        then: asked.answer.clone(),
        then_ms: asked.took_ms,
        same: now == asked.answer && is_same(asked.answer_body.as_deref(), &received.body),
        now,
        now_ms: Some((took.as_secs_f64() * 10_000.0).round() / 10.0),
        answered: true,
    })
}

impl Row {
    fn unanswered(asked: &RecordedRequest, now: String) -> Self {
        let request = asked.message_type.clone();
        let then = asked.answer.clone();
        Self {
            request,
            then,
            then_ms: asked.took_ms,
            now,
            now_ms: None,
            same: false,
            answered: false,
        }
    }
}

/// What is another in each match, or not kept.
const VOLATILE: &[&str] = &[
    "timestamp",
    "arrival_timestamp",
    "auth_token",
    "nonce",
    "nonce_commitment",
    "signature",
];

/// Whether two answers say the same in every field that could be the same. Without two messages their summaries decide.
fn is_same(then: Option<&str>, now: &[u8]) -> bool {
    let message = |body: &[u8]| match read_answer(200, body, &Limits::AGENT) {
        WireAnswer::Message(message) => Some(comparable(message.into())),
        _ => None,
    };
    match (then.and_then(|then| message(then.as_bytes())), message(now)) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    }
}

/// A message without what is volatile, and with its aliases under one name.
fn comparable(mut message: Value) -> Value {
    if let Some(fields) = message.as_object_mut() {
        VOLATILE.iter().for_each(|key| {
            fields.remove(*key);
        });
        if let Some(choice) = fields.remove("choice") {
            fields.entry("parity_choice").or_insert(choice);
        }
    }
    message
}

/// What the rules allow for an answer.
fn allowed(message_type: &str) -> Duration {
    let timing = Timing::default();
    match message_type {
        "GAME_INVITATION" => timing.join,
        "CHOOSE_PARITY_CALL" | "GAME_MOVE_CALL" => timing.choice,
        "GAME_OVER" => timing.game_over,
        _ => timing.other,
    }
}

const TOKENS: &str = "A store keeps no tokens, so a made-up one was sent, and the times in the requests are those of \
                      the match: an agent that checks either may refuse.";

/// What an agent says that goes by the tokens.
const REFUSALS: &[&str] = &["E005", "E008", "E011", "E012"];

const OWN_TOKENS: &str = "The agent registered here, so that the requests carry tokens that it knows; their times are those of the \
                          match. It knows of no earlier match, and chance may choose otherwise.";

fn for_people(again: &Again<'_>, agent: &Agent, rows: &[Row]) -> String {
    let PlayerRequests { player, others, .. } = again.part;
    let (match_id, url) = (again.match_id, &agent.url);
    let tokens = match &agent.own {
        Some(_) => OWN_TOKENS,
        None => TOKENS,
    };
    let other = others
        .first()
        .map_or_else(String::new, |other| format!(" (the other: --as {other})"));
    let took = |ms: Option<f64>| ms.map_or_else(String::new, |ms| format!("{ms:.1}"));
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let mark = if row.same { "same" } else { "differs" };
            let then = took(row.then_ms);
            let now = took(row.now_ms);
            vec![
                row.request.clone(),
                row.then.clone(),
                then,
                row.now.clone(),
                now,
                mark.to_owned(),
            ]
        })
        .collect();
    let table = table(&["REQUEST", "THEN", "MS", "NOW", "MS", ""], &cells);
    let mut text = format!(
        "{match_id} as {player}{other}, against {url}\n\n{}\n\n{tokens}",
        headed(&table)
    );
    if agent.own.is_none()
        && rows
            .iter()
            .any(|row| REFUSALS.iter().any(|code| row.now.contains(code)))
    {
        text.push_str(
            "\nIt refused a token. Matchday's agents accept requests only from their own league: use --wait instead of --against, then start the agent.",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_equal_only_if_every_field_that_could_be_is() {
        let then = r#"{"result": {"message_type": "CHOOSE_PARITY_RESPONSE", "match_id": "R1M1", "player_id": "P01",
            "parity_choice": "odd", "timestamp": "2026-03-02T09:00:00Z", "auth_token": "tok_p01..."}}"#;
        let with = |old: &str, new: &str| is_same(Some(then), then.replace(old, new).as_bytes());
        assert!(
            with("2026-03-02", "2026-03-09")
                && with("tok_p01...", "tok_new")
                && with("parity_choice", "choice")
        );
        assert!(!with("\"P01\"", "\"P02\"") && !with("R1M1", "R2M1") && !with("odd", "even"));
    }
}
