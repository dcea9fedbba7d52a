//! The MCP resources: standings, schedule, matches and rules; a referee's matches; a player's state. Each is the reply to a public
//! query, and is refused where that query is.

use super::call_tool::stopping;
use matchday_core::agent::{Ask, Content};
use matchday_core::game::GAMES;
use matchday_core::protocol::Query;
use matchday_core::protocol::methods::Party;
use matchday_core::protocol::{Body, ErrorCode, Message};
use matchday_runtime::{Intake, NoReply};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::{Value, json};
use std::net::SocketAddr;

pub(super) const STANDINGS: &str = "league://standings";
const SCHEDULE: &str = "league://schedule";
const MATCHES: &str = "league://matches";
const RULES: &str = "league://rules";
const PLAYER: &str = "league://player";

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
/// How many resources are listed at once. A league of 99 players has 4851 matches.
const PAGE_LEN: usize = 100;

pub(super) async fn list(
    intake: &Intake,
    role: Party,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let begin = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ErrorData::invalid_params("cursor: expected the nextCursor of an earlier page", None)
        })?,
    };
    let all = all(intake, role).await;
    let mut page = ListResourcesResult::with_all_items(
        all.iter().skip(begin).take(PAGE_LEN).cloned().collect(),
    );
    let end = begin.saturating_add(PAGE_LEN);
    page.next_cursor = (end < all.len()).then(|| end.to_string());
    Ok(page)
}

async fn all(intake: &Intake, role: Party) -> Vec<Resource> {
    match role {
        Party::Manager => {
            let fixed = [
                resource(
                    STANDINGS,
                    "standings",
                    "Standings",
                    "The current standings. Can be subscribed to.",
                ),
                resource(
                    SCHEDULE,
                    "schedule",
                    "Schedule",
                    "Every round, its matches and their results.",
                ),
            ];
            let schedule = intake
                .look(Ask::Query(Query::Schedule.into()))
                .await
                .ok()
                .and_then(data)
                .unwrap_or_default();
            fixed
                .into_iter()
                .chain(rules())
                .chain(matches_in(&schedule).map(|(_, game)| match_resource(game)))
                .collect()
        }
        Party::Referee => {
            let state = intake
                .look(Ask::Query(Query::MatchState.into()))
                .await
                .ok()
                .and_then(data)
                .unwrap_or_default();
            let playing = state
                .get("matches")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            let about = "The matches being played here, and what is owed in each.";
            let overview = resource(MATCHES, "matches", "Running matches", about);
            [overview]
                .into_iter()
                .chain(playing.map(match_resource))
                .chain(rules())
                .collect()
        }
        Party::Player => {
            let about = "Who this player is, how it has done, and which matches it has open.";
            vec![resource(PLAYER, "player", "State of the player", about)]
        }
    }
}

pub(super) fn templates(role: Party) -> ListResourceTemplatesResult {
    let match_template = |about: &str| {
        ResourceTemplate::new(format!("{MATCHES}/{{match_id}}"), "match")
            .with_title("One match")
            .with_description(about)
            .with_mime_type(JSON)
    };
    let rules_template = ResourceTemplate::new(format!("{RULES}/{{game_type}}"), "rules")
        .with_title("Rules of a game")
        .with_description("How a game is played, asked and judged.")
        .with_mime_type(MARKDOWN);
    ListResourceTemplatesResult::with_all_items(match role {
        Party::Manager => {
            let about =
                "Who plays whom, whether it is decided, and if so how. Ids are such as R1M1.";
            vec![match_template(about), rules_template]
        }
        Party::Referee => {
            let about = "How far a match is and what is owed in it. Ids are such as R1M1.";
            vec![match_template(about), rules_template]
        }
        Party::Player => Vec::new(),
    })
}

pub(super) async fn read(
    intake: &Intake,
    role: Party,
    uri: &str,
    peer: SocketAddr,
) -> Result<ReadResourceResult, ErrorData> {
    let ask = async |method: &str, params: Value| intake.ask_method(method, params, peer).await;
    let found = match (role, uri) {
        (Party::Manager, STANDINGS) => {
            data_or_error(ask("get_standings", json!({"detail": true})).await)?
        }
        (Party::Manager, SCHEDULE) => schedule_or_error(ask("get_schedule", json!({})).await)?,
        (Party::Referee, MATCHES) => data_or_error(ask("get_match_state", json!({})).await)?,
        (Party::Player, PLAYER) => data_or_error(ask("get_player_state", json!({})).await)?,
        (Party::Manager | Party::Referee, _) => match (under(uri, RULES), under(uri, MATCHES)) {
            (Some(game), _) => return read_rules(game, uri),
            (_, Some(id)) if role == Party::Manager => {
                let schedule = schedule_or_error(ask("get_schedule", json!({})).await)?;
                one_match(&schedule, id).ok_or_else(|| unknown(uri))?
            }
            (_, Some(id)) => match ask("get_match_state", json!({"match_id": id})).await {
                Ok(Content::Data(state)) => state,
                Err(NoReply::Gone) => return Err(stopping()),
                _ => return Err(unknown(uri)),
            },
            _ => return Err(unknown(uri)),
        },
        _ => return Err(unknown(uri)),
    };
    let text = serde_json::to_string_pretty(&found).unwrap_or_default();
    Ok(ReadResourceResult::new(vec![
        ResourceContents::text(text, uri).with_mime_type(JSON),
    ]))
}

fn read_rules(game: &str, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let entry = GAMES
        .iter()
        .find(|entry| entry.name == game)
        .ok_or_else(|| unknown(uri))?;
    let text = ResourceContents::text(entry.rules_with_messages(), uri).with_mime_type(MARKDOWN);
    Ok(ReadResourceResult::new(vec![text]))
}

fn under<'a>(uri: &'a str, folder: &str) -> Option<&'a str> {
    uri.strip_prefix(folder)?
        .strip_prefix('/')
        .filter(|name| !name.is_empty())
}

pub(super) fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource here", Some(json!({"uri": uri})))
}

/// The schedule, which has no rounds before the league starts.
fn schedule_or_error(reply: Result<Content, NoReply>) -> Result<Value, ErrorData> {
    match reply {
        Ok(Content::Message(Message {
            body: Body::LeagueQueryResponse(response),
            ..
        })) if response
            .error
            .as_ref()
            .is_some_and(|error| error.error_code == ErrorCode::InvalidState) =>
        {
            Ok(json!({"rounds": []}))
        }
        reply => data_or_error(reply),
    }
}

/// The data of a reply, or its error.
fn data_or_error(reply: Result<Content, NoReply>) -> Result<Value, ErrorData> {
    match reply {
        Ok(Content::Message(Message {
            body: Body::LeagueError(error),
            ..
        })) => {
            let why = error
                .error_message
                .clone()
                .unwrap_or_default()
                .escaped()
                .to_string();
            Err(ErrorData::invalid_request(
                why,
                serde_json::to_value(&error).ok(),
            ))
        }
        Ok(content) => {
            data(content).ok_or_else(|| ErrorData::internal_error("nothing to show", None))
        }
        Err(NoReply::Unfit(why)) => Err(ErrorData::invalid_params(why, None)),
        Err(NoReply::Gone) => Err(stopping()),
    }
}

/// The data of a reply, without its envelope.
pub(super) fn data(content: Content) -> Option<Value> {
    match content {
        Content::Message(Message {
            body: Body::LeagueQueryResponse(response),
            ..
        }) => response.data.clone().map(Value::Object),
        Content::Message(Message {
            body: Body::LeagueStatus(status),
            ..
        }) => serde_json::to_value(status).ok(),
        Content::Message(_) | Content::Received => None,
        Content::Data(data) => Some(data),
    }
}

fn matches_in(schedule: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let rounds = schedule
        .get("rounds")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    rounds.flat_map(|round| {
        let matches = round
            .get("matches")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        matches.map(|game| (round.get("round_id").unwrap_or(&Value::Null), game))
    })
}

fn one_match(schedule: &Value, id: &str) -> Option<Value> {
    let is_it = |game: &Value| game.get("match_id").and_then(Value::as_str) == Some(id);
    let (round, game) = matches_in(schedule).find(|(_, game)| is_it(game))?;
    let mut found = game.clone();
    found
        .as_object_mut()?
        .insert("round_id".to_owned(), round.clone());
    Some(found)
}

fn match_resource(game: &Value) -> Resource {
    let text = |name: &str| game.get(name).and_then(Value::as_str).unwrap_or_default();
    let id = text("match_id");
    let a = text("player_A_id");
    let b = text("player_B_id");
    let about = match text("state") {
        "" => format!("Match {id}, being played here."),
        state => format!("{a} against {b}: {state}."),
    };
    resource(
        &format!("{MATCHES}/{id}"),
        id,
        &format!("Match {id}"),
        &about,
    )
}

fn rules() -> impl Iterator<Item = Resource> {
    GAMES.iter().map(|game| {
        Resource::new(
            format!("{RULES}/{}", game.name),
            format!("rules of {}", game.name),
        )
        .with_title(format!("Rules of {}", game.name))
        .with_description("How the game is played, asked and judged.")
        .with_mime_type(MARKDOWN)
    })
}

fn resource(uri: &str, name: &str, title: &str, about: &str) -> Resource {
    Resource::new(uri, name)
        .with_title(title)
        .with_description(about)
        .with_mime_type(JSON)
}
