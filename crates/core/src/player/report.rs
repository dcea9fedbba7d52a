//! The player's state for `get_player_state`: no tokens, no strategy, and nothing of a match under way.

use super::Player;
use super::durable::Fallbacks;
use crate::game::past::{Past, PastGame};
use crate::protocol::messages::{Lifecycle, Record};
use crate::registration::RegistrationState;
use serde_json::{Map, Value, json};

/// How many of the last games are listed.
const GAMES_TOLD_MAX: usize = 100;

impl Player {
    /// `local` is whether the request comes from this machine: only then fallbacks are shown.
    pub(super) fn state_report(&self, local: bool) -> Value {
        let history = self.history();
        let overall = history.overall();
        let skipped = overall.games().len().saturating_sub(GAMES_TOLD_MAX);
        let games: Vec<&PastGame> = overall.games().skip(skipped).collect();
        let opponents: Map<String, Value> = history
            .opponents()
            .map(|(id, past)| (id.to_string(), totals(past)))
            .collect();
        let open: Vec<Value> = self
            .durable
            .matches()
            .filter(|(_, known)| !known.finished)
            .map(|(id, known)| {
                json!({ "match_id": id, "round_id": known.round_id, "opponent_id": known.opponent_id })
            })
            .collect();
        let identity = self.identity();
        json!({
            "player_id": identity.map(|identity| &identity.id),
            "league_id": identity.and_then(|identity| identity.league_id.as_ref()),
            "display_name": self.settings.display_name,
            "game_types": self.settings.game_types,
            "fallbacks": local.then(|| self.fallbacks_told()),
            "state": self.lifecycle(),
            "registration": registration_in_words(self.registration.state()),
            "standing": self.standing,
            "totals": totals(overall),
            "opponents": opponents,
            "open_matches": open,
            "history": games,
        })
    }

    fn lifecycle(&self) -> Lifecycle {
        let has_matches =
            self.durable.matches().next().is_some() || self.history().overall().played() > 0;
        match self.identity() {
            _ if self.durable.league_closed() => Lifecycle::Shutdown,
            None => Lifecycle::Init,
            Some(_) if has_matches => Lifecycle::Active,
            Some(_) => Lifecycle::Registered,
        }
    }

    fn fallbacks_told(&self) -> Value {
        let Fallbacks { count, last, .. } = self.durable.fallbacks();
        let is_over = |match_id| {
            self.durable
                .matches()
                .any(|(id, known)| id == match_id && known.finished)
        };
        let last = last.as_ref().filter(|(match_id, _)| is_over(match_id));
        let last = last.map(|(match_id, why)| json!({ "match_id": match_id, "why": why }));
        json!({ "count": count, "last": last })
    }
}

fn totals(past: &Past) -> Value {
    let Record {
        wins,
        losses,
        draws,
    } = past.record();
    json!({ "played": past.played(), "wins": wins, "draws": draws, "losses": losses })
}

fn registration_in_words(registration: &RegistrationState) -> String {
    match registration {
        RegistrationState::Idle => "not asked yet".into(),
        RegistrationState::Asking(_) => "waiting for the manager's answer".into(),
        RegistrationState::Waiting { until, why } => {
            format!("trying again at {until}: {}", why.escaped())
        }
        RegistrationState::Done => "accepted".into(),
        RegistrationState::Refused { reason, .. } => format!("refused: {}", reason.escaped()),
    }
}
