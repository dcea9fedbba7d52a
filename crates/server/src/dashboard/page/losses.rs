//! Why a player lost: for each lost match the move that decided it, fallbacks, and the command that plays it again. Pure.

use crate::dashboard::access::Access;
use crate::dashboard::projection::Projection;
use matchday_audit::league_view::PlayerName;
use matchday_audit::timeline;
use matchday_core::game::analysis::deciding_move;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::league::standings::Verdict;
use matchday_core::protocol::messages::GameStatus;
use matchday_core::protocol::{MatchId, PlayerId};
use matchday_store::redact::EndpointRedactor;
use serde::Serialize;
use std::collections::BTreeMap;

/// How many losses are explained, the newest first: the search for the deciding move takes its time.
const LOSSES_MAX: usize = 20;

#[derive(Debug, Serialize)]
pub(super) struct Loss {
    match_id: String,
    round: u32,
    opponent: PlayerName,
    technical: bool,
    /// How it ended, or who was to blame.
    reason: String,
    /// The move after which it was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    deciding: Option<Deciding>,
    /// Moves that a fallback made, with the last line that the player's program wrote to standard error.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fallbacks: Vec<String>,
    /// Plays the match again against the agent.
    command: String,
}

#[derive(Debug, Serialize)]
struct Deciding {
    ply: usize,
    words: String,
}

/// What the explanations need besides the league.
pub(crate) struct LossRecords {
    /// By match: why the player's fallback chose.
    pub fallbacks: BTreeMap<MatchId, Vec<String>>,
    /// The league's page, or the names of its stores' files: what `matchday replay` reads the match from.
    pub source: String,
}

pub(super) fn of(
    projection: &Projection,
    player: &PlayerId,
    records: &LossRecords,
    access: Access,
) -> Vec<Loss> {
    let league = &projection.league;
    let redactor = EndpointRedactor::of(league);
    let text = |text: &str| {
        if access.endpoints() {
            text.to_owned()
        } else {
            redactor.redact(text)
        }
    };
    let source = &records.source;
    let own = league
        .rounds
        .iter()
        .rev()
        .flat_map(|round| league.matches_of(round));
    let lost = own.filter_map(|(id, game)| Some((id, game, lost(game, player)?)));
    let loss = |(id, game, decision): (&MatchId, &Match, &Decision)| {
        let details = &decision.result.details;
        let technical = decision.status == GameStatus::TechnicalLoss;
        let deciding = || {
            deciding_move(
                &league.settings.game_type,
                [&game.a, &game.b],
                details,
                player,
            )
        };
        let blame = decision
            .blame(player)
            .map(|blame| text(&timeline::fault(&blame, blame.cause.words())));
        let reason = decision.result.reason.as_ref().map(|why| text(why.raw()));
        Loss {
            match_id: id.to_string(),
            round: game.round_id.0,
            opponent: PlayerName::of(league, game.opponent(player)),
            technical,
            reason: blame.or(reason).unwrap_or_default(),
            deciding: (!technical).then(deciding).flatten().map(|found| Deciding {
                ply: found.ply,
                words: text(&found.to_string()),
            }),
            fallbacks: records
                .fallbacks
                .get(id)
                .into_iter()
                .flatten()
                .map(|why| text(why))
                .collect(),
            command: format!("matchday replay {source} --match {id} --as {player} --wait"),
        }
    };
    lost.take(LOSSES_MAX).map(loss).collect()
}

/// The decision of a match, if this player lost it.
fn lost<'a>(game: &'a Match, player: &PlayerId) -> Option<&'a Decision> {
    let decision = game.decision.as_ref().filter(|_| game.has(player))?;
    let lost = match decision.verdict(game) {
        Verdict::WonByA => game.b == *player,
        Verdict::WonByB => game.a == *player,
        Verdict::LostByBoth => true,
        Verdict::Drawn => false,
    };
    lost.then_some(decision)
}
