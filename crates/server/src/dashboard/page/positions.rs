//! The positions of a match, and its moves with the time that each took. Pure.

use crate::dashboard::access::Access;
use matchday_audit::describe::league_message;
use matchday_audit::timeline::paired;
use matchday_core::game::analysis::{Outlook, outlook};
use matchday_core::game::replay::views;
use matchday_core::game::view::View;
use matchday_core::game::words::move_in_words;
use matchday_core::game::{self, MoveMessage, Seat, Turn};
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::protocol::messages::{ByPlayer, GameDetails, Parity};
use matchday_core::protocol::{GameType, MessageType, PlayerId};
use matchday_store::Exchange;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Whether the positions of a match may be shown while it is played: a view has nothing that one player may not see of the
/// other's move, in games by command neither, and what chance draws in even/odd is told with the result alone.
pub(crate) fn is_open_information(game_type: &GameType) -> bool {
    game::find(game_type).is_none_or(|entry| (entry.new)().move_message() == MoveMessage::GameMove)
}

/// What is known of a match that is being played.
#[derive(Debug, Default)]
pub(super) struct LivePosition {
    /// The first position and the one after each turn.
    pub(super) views: Vec<View>,
    pub(super) to_move: Vec<Seat>,
    /// The newest move that everyone may see.
    pub(super) last: Option<LastMove>,
    /// Who would win from the newest position, if a solver may say so.
    pub(super) outlook: Option<Outlook>,
}

/// A move as people say it.
#[derive(Debug, Serialize)]
pub(super) struct LastMove {
    player: PlayerId,
    /// "plays column 3".
    words: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    think_ms: Option<f64>,
}

/// Of an undecided match, from the recorded answers; nothing of a game whose positions are not open.
pub(super) fn live(
    game_type: &GameType,
    game: &Match,
    exchanges: &[Exchange],
    access: Access,
) -> LivePosition {
    let players = [&game.a, &game.b];
    match game::find(game_type) {
        Some(entry) if is_open_information(game_type) => {
            let mut game = (entry.new)();
            let position = played_so_far(game_type, &mut *game, players, exchanges);
            LivePosition {
                outlook: access.solver.then(|| outlook(&*game)).flatten(),
                ..position
            }
        }
        Some(entry) => LivePosition {
            views: (entry.new)().view().into_iter().collect(),
            to_move: Seat::BOTH.to_vec(),
            ..LivePosition::default()
        },
        None => LivePosition {
            views: external(exchanges),
            ..LivePosition::default()
        },
    }
}

/// The first position and the one after each turn. Those of a match that is not decided come from the recorded answers.
pub(super) fn positions(game_type: &GameType, game: &Match, exchanges: &[Exchange]) -> Vec<View> {
    let players = [&game.a, &game.b];
    let decided = game
        .decision
        .as_ref()
        .map(|decision| views(game_type, players, &decision.result.details));
    match (decided, game::find(game_type)) {
        (Some(views), Some(_)) => views,
        (None, Some(entry)) => {
            played_so_far(game_type, &mut *(entry.new)(), players, exchanges).views
        }
        (last, None) => external(exchanges)
            .into_iter()
            .chain(last.into_iter().flatten())
            .collect(),
    }
}

/// The moves that were answered, as far as the rules allow them.
fn played_so_far(
    game_type: &GameType,
    game: &mut dyn game::Game,
    players: [&PlayerId; 2],
    exchanges: &[Exchange],
) -> LivePosition {
    let mut views: Vec<View> = game.view().into_iter().collect();
    let mut last = None;
    for (call, exchange, answer) in calls(exchanges)
        .filter_map(|(call, exchange)| Some((call, exchange, exchange.answer.as_deref()?)))
    {
        let seat = Seat::BOTH
            .into_iter()
            .find(|seat| seat.of(&players).as_str() == call.player);
        let choice = league_message(answer)
            .and_then(|answer| answer.get("move_data")?.get("choice").cloned());
        let Some((seat, choice)) = seat.zip(choice) else {
            continue;
        };
        // With both to move, a position is new when the second has moved.
        if game.play(seat, &choice).is_ok() {
            let fresh = game.view().filter(|view| views.last() != Some(view));
            if fresh.is_some() && matches!(game.turn(), Turn::One(_) | Turn::Over) {
                last = Some(LastMove {
                    player: (*seat.of(&players)).clone(),
                    words: move_in_words(game_type, &choice),
                    think_ms: think_ms(exchange),
                });
            }
            views.extend(fresh);
        }
    }
    let to_move = match game.turn() {
        Turn::One(seat) => vec![seat],
        Turn::Both => Seat::BOTH.to_vec(),
        Turn::Chance | Turn::External | Turn::Over => Vec::new(),
    };
    LivePosition {
        views,
        to_move,
        last,
        outlook: None,
    }
}

/// The views that an external game has put into its questions, each once.
fn external(exchanges: &[Exchange]) -> Vec<View> {
    let view = |call: &Call| {
        serde_json::from_value(
            call.message
                .get("move_request")?
                .get("context")?
                .get("view")?
                .clone(),
        )
        .ok()
    };
    let mut views: Vec<View> = calls(exchanges)
        .filter_map(|(call, _)| view(&call))
        .collect();
    views.dedup();
    views
}

/// A question for a move.
struct Call {
    player: String,
    message: Map<String, Value>,
}

/// The questions for moves, the earliest first.
fn calls(exchanges: &[Exchange]) -> impl Iterator<Item = (Call, &Exchange)> {
    let is_call = |exchange: &Exchange| {
        matches!(
            MessageType::parse(exchange.message_type.raw()),
            Some(MessageType::GameMoveCall | MessageType::ChooseParityCall)
        )
    };
    to_players(exchanges, is_call)
}

fn to_players(
    exchanges: &[Exchange],
    wanted: impl Fn(&Exchange) -> bool,
) -> impl Iterator<Item = (Call, &Exchange)> {
    let mut sent: Vec<&Exchange> = paired(exchanges)
        .into_iter()
        .map(|(sent, _)| sent)
        .collect();
    sent.retain(|exchange| wanted(exchange));
    sent.sort_by_key(|exchange| exchange.at);
    sent.into_iter().filter_map(|exchange| {
        let message = league_message(&exchange.request)?;
        let player = message.get("player_id")?.as_str()?.to_owned();
        Some((Call { player, message }, exchange))
    })
}

/// One move of one player.
#[derive(Debug, Serialize)]
pub(super) struct Move {
    turn: usize,
    player: String,
    #[serde(rename = "move")]
    made: Value,
    /// "plays column 3".
    words: String,
    #[serde(flatten)]
    asking: Asking,
}

/// How often a move was asked for, and how long the answer that counted took.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Asking {
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think_ms: Option<f64>,
}

pub(super) fn moves(
    game_type: &GameType,
    decision: &Decision,
    exchanges: &[Exchange],
) -> Vec<Move> {
    let mut askings = askings(exchanges);
    let mut one = |turn: usize, id: &PlayerId, made: Value| Move {
        turn,
        player: id.to_string(),
        words: move_in_words(game_type, &made),
        made,
        asking: askings
            .get_mut(id.as_str())
            .and_then(Iterator::next)
            .unwrap_or_default(),
    };
    let details = &decision.result.details;
    if let GameDetails::Parity(parity) = &details.game {
        let made = parity
            .choices
            .iter()
            .filter_map(|(id, choice)| Some((id, (*choice)?)));
        return made
            .map(|(id, choice): (_, Parity)| one(1, id, choice.as_str().into()))
            .collect();
    }
    let turns = (1..).zip(details.turn_log.iter().flatten());
    let moves = turns.flat_map(|(turn, made): (usize, &ByPlayer<Value>)| {
        made.iter().map(move |(id, made)| (turn, id, made.clone()))
    });
    moves.map(|(turn, id, made)| one(turn, id, made)).collect()
}

/// How long an answer took, if one came.
fn think_ms(exchange: &Exchange) -> Option<f64> {
    let done = exchange.done_at.filter(|_| exchange.answer.is_some())?;
    Some(done.since(exchange.at).as_secs_f64() * 1000.0)
}

type Askings = BTreeMap<String, std::vec::IntoIter<Asking>>;

/// For each player, its moves in order. A GAME_ERROR tells that the answer before it did not count.
fn askings(exchanges: &[Exchange]) -> Askings {
    let mut moves: BTreeMap<String, Vec<Asking>> = BTreeMap::new();
    let mut refused: BTreeMap<String, bool> = BTreeMap::new();
    for (call, exchange) in to_players(exchanges, |_| true) {
        let own = moves.entry(call.player.clone()).or_default();
        match MessageType::parse(exchange.message_type.raw()) {
            Some(MessageType::GameError) => {
                refused.insert(call.player, true);
            }
            Some(MessageType::GameMoveCall | MessageType::ChooseParityCall) => {
                if !refused.insert(call.player, false).unwrap_or(false) || own.is_empty() {
                    own.push(Asking::default());
                }
                if let Some(last) = own.last_mut() {
                    last.asked = Some(last.asked.unwrap_or(0) + 1);
                    last.think_ms = think_ms(exchange);
                }
            }
            _ => {}
        }
    }
    moves
        .into_iter()
        .map(|(player, moves)| (player, moves.into_iter()))
        .collect()
}
