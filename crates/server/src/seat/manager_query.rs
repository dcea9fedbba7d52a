//! Asks the manager: for the standings, with the token of the seat's player, and for what the league is.

use super::brief::Brief;
use super::types::GameRules;
use crate::connect::NO_SOCKET;
use matchday_core::agent::{Ask, Content};
use matchday_core::game::{self, GameEntry};
use matchday_core::protocol::decode::Limits;
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::dialect::answer::{WireAnswer, read_answer};
use matchday_core::protocol::dialect::call::write_call;
use matchday_core::protocol::messages::query_data::{GameListing, GamesData};
use matchday_core::protocol::messages::{LeagueQuery, StandingRow};
use matchday_core::protocol::{
    ConversationId, Endpoint, Envelope, LeagueId, Message, PlayerId, Sender,
};
use matchday_core::protocol::{Query, QueryParams};
use matchday_core::registration::Identity;
use matchday_runtime::{Intake, NoReply, Options};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
const ANSWER_BYTES_MAX: usize = 4 << 20;

/// The table, or why there is none.
pub(super) async fn standings(
    options: &Options,
    manager: &Endpoint,
    own: &Identity<PlayerId>,
) -> Result<Vec<StandingRow>, String> {
    let now = options.clock.now();
    let conversation = ConversationId::new(format!("conv-seat-{}-{}", own.id, now.as_micros()));
    let query = LeagueQuery {
        league_id: own
            .league_id
            .clone()
            .unwrap_or_else(|| LeagueId::new("unknown")),
        query_type: Query::Standings,
        query_params: QueryParams::default(),
    };
    let envelope = Envelope::new(Sender::Player(own.id.clone()), now, conversation)
        .with_token(own.auth_token.clone());
    let query = Message::new(envelope, query);
    let answer = match local_manager(options, manager).await? {
        Some(intake) => value_of(intake.send(query, NO_SOCKET).await)?,
        None => {
            ask(
                options,
                manager,
                write_call(Dialect::Standard, 1, &query).into(),
            )
            .await?
        }
    };
    read(answer)
}

/// The league and the games that it plays, as far as it is open to readers. The rules of our own games name no messages.
pub(super) async fn brief(options: &Options, manager: &Endpoint) -> Result<Brief, String> {
    let local = local_manager(options, manager).await?;
    let look = async |query: Query| match &local {
        Some(intake) => value_of(intake.look(Ask::Query(query.into())).await),
        None => {
            let method = query.spec().method.unwrap_or_default();
            let request =
                json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}).to_string();
            ask(options, manager, request.into()).await
        }
    };
    let league_id = look(Query::Status)
        .await?
        .get("league_id")
        .and_then(Value::as_str)
        .map(LeagueId::new);
    let mut answer = look(Query::Games).await?;
    let Some(data) = answer.get_mut("data").filter(|data| data.is_object()) else {
        return Ok(Brief {
            league_id,
            games: Vec::new(),
        });
    };
    let known: GamesData =
        serde_json::from_value(data.take()).map_err(|error| error.to_string())?;
    let rules = |listed: GameListing| GameRules {
        rules: game::find(&listed.game_type)
            .map_or(listed.rules, |GameEntry { rules, .. }| (*rules).to_owned()),
        game_type: listed.game_type,
        about: listed.about,
    };
    let games = known
        .games
        .into_iter()
        .filter(|listed| listed.played_here)
        .map(rules)
        .collect();
    Ok(Brief { league_id, games })
}

/// The manager, if it runs in this process.
async fn local_manager(
    options: &Options,
    manager: &Endpoint,
) -> Result<Option<Arc<Intake>>, String> {
    let found = timeout(ANSWER_TIMEOUT, options.routes.agent(manager.raw())).await;
    found.map_err(|_| "the manager does not run yet".to_owned())
}

fn value_of(reply: Result<Content, NoReply>) -> Result<Value, String> {
    match reply {
        Ok(Content::Message(message)) => {
            serde_json::to_value(message).map_err(|error| error.to_string())
        }
        _ => Err("the manager does not answer with a message".to_owned()),
    }
}

async fn ask(
    options: &Options,
    manager: &Endpoint,
    request: bytes::Bytes,
) -> Result<Value, String> {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    let received = options
        .client
        .post(manager.raw(), request, deadline, ANSWER_BYTES_MAX)
        .await;
    let received = received.map_err(|error| format!("the manager cannot be asked: {error}"))?;
    let limits = Limits {
        message_bytes_max: ANSWER_BYTES_MAX,
        ..Limits::AGENT
    };
    match read_answer(received.status, &received.body, &limits) {
        WireAnswer::Message(answer) => Ok(answer.into()),
        _ => Err(format!(
            "the manager does not answer with a message (HTTP {})",
            received.status
        )),
    }
}

fn read(mut answer: Value) -> Result<Vec<StandingRow>, String> {
    let table = ["/standings", "/data/standings"].iter().find_map(|place| {
        answer
            .pointer_mut(place)
            .filter(|table| table.is_array())
            .map(Value::take)
    });
    if let Some(table) = table {
        return serde_json::from_value(table)
            .map_err(|error| format!("the manager's table is odd: {error}"));
    }
    let said = [
        "/error_message",
        "/error/error_description",
        "/error_description",
    ];
    let said = said
        .iter()
        .find_map(|place| answer.pointer(place)?.as_str());
    Err(format!(
        "the manager refuses: {}",
        said.unwrap_or("it does not say why")
    ))
}
