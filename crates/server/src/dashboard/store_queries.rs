//! Queries to the stores: messages, calls to a player, the records of a match. All of them block.

use super::access::Access;
use super::exchanges::{MessageRenderer, MessageView, code};
use super::merge::{Cursor, MergedPage};
use super::page::Versioned;
use super::page::one_match::MatchRecords;
use super::projection::Snapshot;
use super::query::Query;
use matchday_audit::fallbacks;
use matchday_audit::log_set::LogSet;
use matchday_core::league::League;
use matchday_core::protocol::{ErrorCode, MatchId, MessageType, PlayerId, RefereeId};
use matchday_store::messages::{Agent, Call, MessageFilter, Page};
use matchday_store::{Exchange, Location, StoreError};
use serde::Serialize;
use std::collections::BTreeMap;

const MESSAGES_MAX: u64 = 500;
/// With their bodies, which may be long.
const MESSAGES_WITH_BODIES_MAX: u64 = 100;
const MESSAGES_DEFAULT: u64 = 100;

/// A page of the message inspector.
#[derive(Debug, Serialize)]
pub(super) struct Messages {
    messages: Vec<MessageView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before: Option<Cursor>,
    types: Vec<&'static str>,
    agents: Vec<String>,
    codes: Vec<&'static str>,
}

/// The filter of the message inspector.
#[derive(Debug)]
pub(super) struct Filter {
    stored: MessageFilter,
    agent: Option<String>,
    code: Option<String>,
    before: Option<Cursor>,
    limit: usize,
    bodies: bool,
}

impl Filter {
    pub(super) fn read(query: &Query) -> Result<Self, String> {
        let bodies = query.text("bodies").is_some_and(|bodies| bodies != "0");
        let most = if bodies {
            MESSAGES_WITH_BODIES_MAX
        } else {
            MESSAGES_MAX
        };
        let limit = query
            .number("limit")?
            .unwrap_or(MESSAGES_DEFAULT)
            .clamp(1, most);
        let before = query
            .text("before")
            .map(|text| Cursor::read(&text))
            .transpose()?;
        Ok(Self {
            stored: MessageFilter {
                conversation_id: query.text("conversation_id"),
                message_type: query.text("type"),
                match_id: query.text("match_id").map(|id| id.to_ascii_uppercase()),
                agent: None,
                before: None,
            },
            agent: query
                .text("agent")
                .map(|agent| match agent.to_ascii_lowercase().as_str() {
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
    stores: &[Location],
    snapshot: &Snapshot,
    filter: &Filter,
    access: Access,
) -> Result<Versioned<Messages>, StoreError> {
    let league = &snapshot.projection.league;
    let renderer = MessageRenderer::new(league, access);
    let known = filter
        .agent
        .as_deref()
        .and_then(|agent| member(league, agent));
    let is_wanted = |exchange: &Exchange| {
        renderer.is_open(exchange)
            && filter
                .agent
                .as_ref()
                .is_none_or(|agent| renderer.concerns(exchange, agent))
            && filter
                .code
                .as_ref()
                .is_none_or(|wanted| code(exchange).as_ref() == Some(wanted))
    };
    let mut pages = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        let before = filter.before.as_ref().and_then(|cursor| cursor.of(number));
        let wanted = MessageFilter {
            agent: known.clone(),
            before,
            ..filter.stored.clone()
        };
        let page = store
            .open()
            .and_then(|reader| reader.messages(&wanted, filter.limit, is_wanted));
        pages.push(match page {
            // The page of a match reports errors of other agents' stores.
            Err(_) if number > 0 => Page::default(),
            page => page?,
        });
    }
    let MergedPage {
        messages,
        next_before,
    } = MergedPage::of(pages, filter.limit);
    let players = league.players.keys().map(ToString::to_string);
    let referees = league.referees.keys().map(ToString::to_string);
    let page = Messages {
        messages: messages
            .iter()
            .map(|(id, exchange, received)| {
                renderer.show(*id, exchange, received.as_ref(), filter.bodies)
            })
            .collect(),
        next_before,
        types: MessageType::ALL.iter().map(|kind| kind.name()).collect(),
        agents: std::iter::once("manager".to_owned())
            .chain(referees)
            .chain(players)
            .collect(),
        codes: ErrorCode::ALL.iter().map(ErrorCode::code).collect(),
    };
    Ok(Versioned {
        version: snapshot.version(),
        page,
    })
}

/// The id and endpoint of a member, by which a store knows it.
fn member(league: &League, agent: &str) -> Option<Agent> {
    let id = agent.to_ascii_uppercase();
    let player = league
        .players
        .get(&PlayerId::new(id.as_str()))
        .map(|player| &player.meta.contact_endpoint);
    let referee = league
        .referees
        .get(&RefereeId::new(id.as_str()))
        .map(|referee| &referee.meta.contact_endpoint);
    let endpoint = player.or(referee)?.raw().to_owned();
    Some(Agent { id, endpoint })
}

/// The calls that were made to a player in its decided matches. Blocks.
pub(super) fn calls_to(
    stores: &[Location],
    snapshot: &Snapshot,
    id: &PlayerId,
) -> Result<Vec<Call>, StoreError> {
    let league = &snapshot.projection.league;
    let Some(player) = league.players.get(id) else {
        return Ok(Vec::new());
    };
    let decided = league
        .matches
        .iter()
        .filter(|(_, game)| game.has(id) && game.decision.is_some());
    let decided: Vec<&MatchId> = decided.map(|(id, _)| id).collect();
    let mut calls = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        let reader = match store.open() {
            // The page of a match reports errors of other agents' stores.
            Err(_) if number > 0 => continue,
            reader => reader?,
        };
        for id in &decided {
            calls.extend(reader.calls_in(id, player.meta.contact_endpoint.raw())?);
        }
    }
    Ok(calls)
}

/// The most calls that the latency of the league is computed from, the newest.
const CALLS_MAX: usize = 200_000;

/// The calls for moves, with their match and the endpoint that was called. Blocks.
pub(super) fn move_calls(stores: &[Location]) -> Result<Vec<(MatchId, String, Call)>, StoreError> {
    let mut calls = Vec::new();
    for (number, store) in stores.iter().enumerate() {
        match store.open().and_then(|reader| reader.move_calls(CALLS_MAX)) {
            // The page of a match reports errors of other agents' stores.
            Err(_) if number > 0 => {}
            more => calls.extend(more?),
        }
    }
    Ok(calls)
}

/// Of these matches, the exchanges of those that are being played. Blocks.
pub(super) fn exchanges_in_play(
    stores: &[Location],
    snapshot: &Snapshot,
    chosen: &[MatchId],
) -> Result<BTreeMap<MatchId, Vec<Exchange>>, StoreError> {
    let league = &snapshot.projection.league;
    let in_play = |id: &&MatchId| league.matches.get(*id).is_some_and(|game| game.in_play);
    let playing: Vec<&MatchId> = chosen.iter().filter(in_play).collect();
    let mut all: BTreeMap<MatchId, Vec<Exchange>> = BTreeMap::new();
    for (number, store) in stores.iter().enumerate().filter(|_| !playing.is_empty()) {
        let reader = match store.open() {
            Err(_) if number > 0 => continue,
            reader => reader?,
        };
        for id in &playing {
            all.entry((*id).clone())
                .or_default()
                .extend(reader.exchanges_of(id)?);
        }
    }
    all.values_mut()
        .for_each(|exchanges| exchanges.sort_by_key(|exchange| exchange.at));
    Ok(all)
}

/// Why the fallback of a player chose, by match; nothing if the player's own log is in none of the stores. Blocks.
pub(super) fn fallbacks_of(
    stores: &[Location],
    snapshot: &Snapshot,
    id: &PlayerId,
) -> Result<BTreeMap<MatchId, Vec<String>>, StoreError> {
    let logs = LogSet::open_fallbacks(stores, &snapshot.projection.league)?;
    Ok(fallbacks::in_matches(&logs.players, id.as_str()))
}

/// `describe`: what is said of a store that cannot be read. Blocks.
pub(super) fn of_match(
    stores: &[Location],
    snapshot: &Snapshot,
    id: &MatchId,
    describe: impl Fn(&StoreError) -> String,
) -> Result<MatchRecords, StoreError> {
    let (logs, errors) = LogSet::open_match(stores, &snapshot.projection.league, id)?;
    let exchanges = logs.exchanges_of(id)?;
    let errors = errors.iter().map(describe).collect();
    Ok(MatchRecords {
        logs,
        exchanges,
        errors,
    })
}
