//! The part of the league's fold that changes its members: lifecycle, tokens, dialects, deviations.

use super::state::League;
use crate::protocol::Sender;
use crate::protocol::dialect::Dialect;
use crate::protocol::messages::Lifecycle;
use crate::protocol::token::TokenHash;

impl League {
    pub(super) fn change_state(&mut self, agent: &Sender, change: impl FnOnce(&mut Lifecycle, &mut u32)) {
        match agent {
            Sender::Player(id) => {
                if let Some(player) = self.players.get_mut(id) {
                    change(&mut player.state, &mut player.streak);
                }
            }
            Sender::Referee(id) => {
                if let Some(referee) = self.referees.get_mut(id) {
                    change(&mut referee.state, &mut referee.streak);
                }
            }
            Sender::LeagueManager | Sender::Launcher => {}
        }
    }

    pub(super) fn learn(&mut self, agent: &Sender, learnt: Dialect) {
        let known = match agent {
            Sender::Player(id) => self.players.get_mut(id).map(|player| &mut player.dialect),
            Sender::Referee(id) => self.referees.get_mut(id).map(|referee| &mut referee.dialect),
            Sender::LeagueManager | Sender::Launcher => None,
        };
        if let Some(known) = known {
            *known = learnt;
        }
    }

    pub(super) fn rotate(&mut self, agent: &Sender, token: TokenHash) {
        match agent {
            Sender::Player(id) => {
                self.players.get_mut(id).into_iter().for_each(|player| player.rotate(token))
            }
            Sender::Referee(id) => {
                self.referees.get_mut(id).into_iter().for_each(|referee| referee.rotate(token));
            }
            Sender::LeagueManager | Sender::Launcher => {}
        }
    }

    pub(super) fn revoke(&mut self, agent: &Sender) {
        let revoked = match agent {
            Sender::Player(id) => self.players.get_mut(id).map(|player| &mut player.revoked),
            Sender::Referee(id) => self.referees.get_mut(id).map(|referee| &mut referee.revoked),
            Sender::LeagueManager | Sender::Launcher => None,
        };
        if let Some(revoked) = revoked {
            *revoked = true;
        }
    }

    pub(super) fn note_token(&mut self, agent: &Sender) {
        let shown = match agent {
            Sender::Player(id) => self.players.get_mut(id).map(|player| &mut player.token_shown),
            Sender::Referee(id) => self.referees.get_mut(id).map(|referee| &mut referee.token_shown),
            Sender::LeagueManager | Sender::Launcher => None,
        };
        if let Some(shown) = shown {
            *shown = true;
        }
    }

    pub(super) fn note(&mut self, agent: &Sender, deviations: &[String]) {
        let deviations = deviations.iter().map(String::as_str);
        match agent {
            Sender::Player(id) => {
                if let Some(player) = self.players.get_mut(id) {
                    player.note(deviations);
                }
            }
            Sender::Referee(id) => {
                if let Some(referee) = self.referees.get_mut(id) {
                    referee.note(deviations);
                }
            }
            Sender::LeagueManager | Sender::Launcher => {}
        }
    }
}
