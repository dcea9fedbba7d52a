//! What the stores have recorded, read on a thread that may wait: the messages, and the story of a match.

use super::annals::Snapshot;
use super::exchanges::{Showing, Shown, code};
use super::page::Versioned;
use super::page::one_match::Told;
use super::query::Query;
use super::together::{Cursor, Together};
use super::viewer::Sees;
use crate::store::chronicle::Chronicle;
use crate::store::messages::{Agent, Call, Page, Wanted};
use crate::store::{Exchange, Store, StoreError};
use matchday_core::league::League;
use matchday_core::protocol::{ErrorCode, MatchId, MessageType, PlayerId, RefereeId};
use serde::Serialize;
use std::path::PathBuf;

const MESSAGES_MAX: u64 = 500;
/// With their words, which may be long.
const WHOLE_MESSAGES_MAX: u64 = 100;
const MESSAGES_USUAL: u64 = 100;

/// A page of the message inspector.
#[derive(Debug, Serialize)]
pub(super) struct Messages {
    messages: Vec<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<Cursor>,
    types: Vec<&'static str>,
    agents: Vec<String>,
    codes: Vec<&'static str>,
}

/// Which messages somebody asks for.
#[derive(Debug)]
pub(super) struct Filter {
    wanted: Wanted,
    agent: Option<String>,
    code: Option<String>,
    before: Option<Cursor>,
    limit: usize,
    bodies: bool,
}

impl Filter {
    pub(super) fn read(query: &Query) -> Result<Self, String> {
        let bodies = query.text("bodies").is_some_and(|bodies| bodies != "0");
        let most = if bodies { WHOLE_MESSAGES_MAX } else { MESSAGES_MAX };
        let limit = query.number("limit")?.unwrap_or(MESSAGES_USUAL).clamp(1, most);
        let before = query.text("before").map(|text| Cursor::read(&text)).transpose()?;
        Ok(Self {
            wanted: Wanted {
                conversation_id: query.text("conversation_id"),
                message_type: query.text("type"),
                match_id: query.text("match_id").map(|id| id.to_ascii_uppercase()),
                agent: None,
                before: None,
            },
            agent: query.text("agent").map(|agent| match agent.to_ascii_lowercase().as_str() {
                known @ ("manager" | "launcher") => known.to_owned(),
                id => id.to_ascii_uppercase(),
            }),
            code: query.text("code").map(|code| code.to_ascii_uppercase()),
            before,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            bodies,
        })
    }
}

/// Blocks.
pub(super) fn messages(
    stores: &[PathBuf],
    snapshot: &Snapshot,
    filter: &Filter,
    sees: Sees,
) -> Result<Versioned<Messages>, StoreError> {
    let league = &snapshot.annals.league;
    let showing = Showing::new(league, sees);
    let known = filter.agent.as_deref().and_then(|agent| known(league, agent));
    let is_wanted = |exchange: &Exchange| {
        showing.is_open(exchange)
            && filter.agent.as_ref().is_none_or(|agent| showing.concerns(exchange, agent))
            && filter.code.as_ref().is_none_or(|wanted| code(exchange).as_ref() == Some(wanted))
    };
    let mut pages = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        let before = filter.before.as_ref().and_then(|cursor| cursor.of(number));
        let wanted = Wanted { agent: known.clone(), before, ..filter.wanted.clone() };
        let page =
            Store::open_read_only(store).and_then(|reader| reader.messages(&wanted, filter.limit, is_wanted));
        pages.push(match page {
            // The page of a match says what is wrong with the stores of others.
            Err(_) if number > 0 => Page::default(),
            page => page?,
        });
    }
    let Together { messages, next_before } = Together::of(pages, filter.limit);
    let players = league.players.keys().map(ToString::to_string);
    let referees = league.referees.keys().map(ToString::to_string);
    let page = Messages {
        messages: messages
            .iter()
            .map(|(id, exchange, heard)| showing.show(*id, exchange, heard.as_ref(), filter.bodies))
            .collect(),
        next_before,
        types: MessageType::ALL.iter().map(|kind| kind.name()).collect(),
        agents: std::iter::once("manager".to_owned()).chain(referees).chain(players).collect(),
        codes: ErrorCode::ALL.iter().map(ErrorCode::code).collect(),
    };
    Ok(Versioned { version: snapshot.version(), page })
}

/// How a member is known in a store.
fn known(league: &League, agent: &str) -> Option<Agent> {
    let id = agent.to_ascii_uppercase();
    let player = league.players.get(&PlayerId::new(id.as_str())).map(|player| &player.meta.contact_endpoint);
    let referee =
        league.referees.get(&RefereeId::new(id.as_str())).map(|referee| &referee.meta.contact_endpoint);
    let endpoint = player.or(referee)?.raw().to_owned();
    Some(Agent { id, endpoint })
}

/// The calls that were made to a player in its decided matches. Blocks.
pub(super) fn calls_to(
    stores: &[PathBuf],
    snapshot: &Snapshot,
    id: &PlayerId,
) -> Result<Vec<Call>, StoreError> {
    let league = &snapshot.annals.league;
    let Some(player) = league.players.get(id) else { return Ok(Vec::new()) };
    let decided = league.matches.iter().filter(|(_, game)| game.has(id) && game.decision.is_some());
    let decided: Vec<&MatchId> = decided.map(|(id, _)| id).collect();
    let mut calls = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        let reader = match Store::open_read_only(store) {
            // The page of a match says what is wrong with the stores of others.
            Err(_) if number > 0 => continue,
            reader => reader?,
        };
        for id in &decided {
            calls.extend(reader.calls_in(id, player.meta.contact_endpoint.raw())?);
        }
    }
    Ok(calls)
}

/// Blocks.
pub(super) fn of_match(stores: &[PathBuf], snapshot: &Snapshot, id: &MatchId) -> Result<Told, StoreError> {
    let (chronicle, trouble) = Chronicle::about(stores, &snapshot.annals.league, id)?;
    let exchanges = chronicle.exchanges_of(id)?;
    let trouble = trouble.iter().map(|error| format!("A store could not be read: {error}.")).collect();
    Ok(Told { chronicle, exchanges, trouble })
}
