//! Under a manager that announces rounds to players alone: the referee finds its matches in the schedule.

use super::assignment::{OfferedMatch, OfferedPlayer};
use super::{AssignedMatch, Ctx, Purpose, Referee};
use crate::agent::Answer;
use crate::protocol::envelope::id_fits;
use crate::protocol::messages::{PLAYER_A_ENDPOINT, PLAYER_A_ID, PLAYER_B_ENDPOINT, PLAYER_B_ID};
use crate::protocol::{
    Body, Endpoint, GameType, LeagueId, MatchId, PlayerId, Query, RoundId, Timestamp,
};
use crate::registration::RegistrationState;
use serde_json::{Map, Value};
use std::time::Duration;

/// How often the schedule is asked for.
const POLL_EVERY: Duration = Duration::from_secs(10);
/// How deep a schedule is searched for matches.
const DEPTH_MAX: u32 = 6;

/// When the schedule is asked for next, unless the manager tells the referee of its matches.
#[derive(Debug, Default)]
pub(super) struct SchedulePoll {
    /// Whether the manager has told it of a round or of a match.
    is_told: bool,
    next: Option<Timestamp>,
}

impl SchedulePoll {
    /// The manager tells the referee by itself.
    pub(super) fn stop(&mut self) {
        self.is_told = true;
        self.next = None;
    }

    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.next
    }
}

impl Referee {
    /// Asks for the schedule, if the manager is of another make and tells nothing by itself.
    pub(super) fn poll_schedule(&mut self, ctx: &mut Ctx<'_>) {
        let is_foreign = self
            .durable
            .identity()
            .is_some_and(|identity| !identity.match_tokens);
        let is_registered = *self.registration.state() == RegistrationState::Done;
        let is_over = self.durable.is_closed(RoundId(u32::MAX));
        if !is_foreign || !is_registered || is_over || self.poll.is_told {
            self.poll.next = None;
            return;
        }
        match self.poll.next {
            Some(next) if next > ctx.now => {}
            None => self.poll.next = Some(ctx.now + POLL_EVERY),
            Some(_) => {
                self.poll.next = Some(ctx.now + POLL_EVERY);
                let league_id = self
                    .durable
                    .identity()
                    .and_then(|identity| identity.league_id.clone());
                if let Some(league_id) = league_id {
                    self.ask_for_schedule(ctx, league_id);
                }
            }
        }
    }

    /// Takes the matches of its own from the first round that has any to be played.
    pub(super) fn on_schedule(&mut self, ctx: &mut Ctx<'_>, answer: Answer) {
        let Answer::Message(Ok(incoming)) = answer else {
            return;
        };
        let Ok(Body::LeagueQueryResponse(response)) = incoming.body else {
            return;
        };
        let Some(data) = response.data.as_ref().filter(|_| !self.poll.is_told) else {
            return;
        };
        let Some(league_id) = self
            .durable
            .identity()
            .and_then(|identity| identity.league_id.clone())
        else {
            return;
        };
        let mut scheduled = Vec::new();
        search(data, None, 0, &mut scheduled);
        let us = self.name();
        let own_endpoint = self.settings.contact_endpoint.clone();
        scheduled.retain(|found| {
            found.referee.as_deref() == Some(us.as_str())
                || found.referee_endpoint.as_ref() == Some(&own_endpoint)
        });
        scheduled.retain(|found| {
            !matches!(
                self.durable.matches().get(&found.match_id),
                Some(AssignedMatch::Closed { .. } | AssignedMatch::Decided { .. })
            ) && !self.durable.finished().contains_key(&found.match_id)
        });
        let first = scheduled.iter().map(|found| found.round_id).min();
        let game_type = self.settings.game_types.first().cloned();
        for found in scheduled {
            if Some(found.round_id) != first {
                continue;
            }
            let Some(game_type) = found.game_type.or_else(|| game_type.clone()) else {
                continue;
            };
            let offer = OfferedMatch {
                league_id: league_id.clone(),
                round_id: found.round_id,
                match_id: found.match_id,
                game_type,
                conversation_id: None,
                starts_at: ctx.now,
                replay: false,
                players: found
                    .players
                    .map(|(player, endpoint)| OfferedPlayer::named(player, endpoint)),
                timeouts: None,
                forfeits: Vec::new(),
                conformance: None,
            };
            // One that cannot be played is nobody's to be told of.
            self.accept_offer(ctx, offer).ok();
        }
    }

    fn ask_for_schedule(&mut self, ctx: &mut Ctx<'_>, league_id: LeagueId) {
        self.query_once(ctx, league_id, Query::Schedule, Purpose::Schedule);
    }
}

/// A match of a schedule that has no result yet.
struct Scheduled {
    round_id: RoundId,
    match_id: MatchId,
    game_type: Option<GameType>,
    referee: Option<String>,
    referee_endpoint: Option<Endpoint>,
    players: [(PlayerId, Option<Endpoint>); 2],
}

/// Finds the matches without a result, wherever they stand.
fn search(fields: &Map<String, Value>, round: Option<u32>, depth: u32, found: &mut Vec<Scheduled>) {
    let number = fields.get("round_id").or_else(|| fields.get("round"));
    let own = number
        .and_then(Value::as_u64)
        .and_then(|number| u32::try_from(number).ok());
    let round = own.or(round);
    found.extend(scheduled(fields, round));
    if depth == DEPTH_MAX {
        return;
    }
    for value in fields.values() {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let objects = items.iter().chain([value]).filter_map(Value::as_object);
        objects.for_each(|fields| search(fields, round, depth + 1, found));
    }
}

fn scheduled(fields: &Map<String, Value>, round: Option<u32>) -> Option<Scheduled> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str());
    let id = |keys: &[&str]| text(keys).filter(|id| id_fits(id));
    let endpoint = |keys: &[&str]| text(keys).and_then(|at| Endpoint::parse(at).ok());
    let is_set = |key: &str| fields.get(key).is_some_and(|value| !value.is_null());
    let state = text(&["state", "status"]).unwrap_or_default();
    let is_over = ["decided", "completed", "finished", "done"]
        .iter()
        .any(|word| state.eq_ignore_ascii_case(word));
    if is_over || is_set("result") || is_set("winner") {
        return None;
    }
    let match_id = MatchId::new(id(&["match_id"])?);
    let by_name = || {
        let (round, _) = match_id.as_str().strip_prefix('R')?.split_once('M')?;
        round.parse().ok()
    };
    Some(Scheduled {
        round_id: RoundId(
            round
                .or_else(by_name)
                .filter(|round| *round > 0)
                .unwrap_or(1),
        ),
        game_type: id(&["game_type"]).map(GameType::new),
        referee: id(&["referee_id"]).map(str::to_owned),
        referee_endpoint: endpoint(&["referee_endpoint"]),
        players: [
            (
                PlayerId::new(id(&PLAYER_A_ID)?),
                endpoint(&PLAYER_A_ENDPOINT),
            ),
            (
                PlayerId::new(id(&PLAYER_B_ID)?),
                endpoint(&PLAYER_B_ENDPOINT),
            ),
        ],
        match_id,
    })
}
