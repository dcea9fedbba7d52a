//! What survives a restart: a fold over the player's events, and nothing else changes it.

use super::event::{Choice, Fixture, Notice, PlayerEvent, Question};
use super::memory::{GAMES_MAX, History};
use crate::enrol::{Application, Identity};
use crate::fair::{Commitment, NonceCommitment};
use crate::protocol::messages::Role;
use crate::protocol::{Attempt, GameType, MatchId, PlayerId, RoundId};
use std::collections::BTreeMap;

/// How many matches are kept at once; a league has one a round.
pub const MATCHES_MAX: usize = 1_000;
/// How many different questions of one match are answered.
pub const QUESTIONS_MAX: usize = 1_000;
/// In how many attempts at one match this player takes part.
pub const ATTEMPTS_MAX: usize = 64;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durable {
    /// How we register.
    applied: Option<Application>,
    identity: Option<Identity<PlayerId>>,
    matches: BTreeMap<MatchId, Match>,
    history: History,
    league_closed: bool,
    fallbacks: Fallbacks,
}

/// How often a mind outside was to choose and did not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fallbacks {
    pub count: u32,
    /// The match and the reason of the last time.
    pub last: Option<(MatchId, String)>,
    /// The reason, of the last time in each match of this league; of as many matches as games are remembered.
    pub in_match: BTreeMap<MatchId, String>,
}

impl Fallbacks {
    fn note(&mut self, match_id: &MatchId, why: &str) {
        self.count = self.count.saturating_add(1);
        self.last = Some((match_id.clone(), why.to_owned()));
        self.in_match.insert(match_id.clone(), why.to_owned());
        if self.in_match.len() > GAMES_MAX {
            self.in_match.pop_first();
        }
    }
}

/// A match of ours that is to come, under way, or over and not yet forgotten.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Match {
    pub round_id: Option<RoundId>,
    pub game_type: Option<GameType>,
    pub opponent_id: Option<PlayerId>,
    pub role: Option<Role>,
    /// The latest attempt that the manager announced.
    pub notice: Option<Notice>,
    /// The attempts to which we were invited.
    pub invitations: BTreeMap<Attempt, Invitation>,
    /// Our moves in each attempt, in the order in which we made them.
    pub moves: BTreeMap<Attempt, Vec<Move>>,
    pub finished: bool,
}

/// An attempt at a match, as we were invited to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invitation {
    /// What the referee promised to draw from.
    pub commitment: Option<Commitment>,
    /// Whether we sign our moves.
    pub signs: bool,
}

/// A move of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    pub question: Question,
    pub turn: Option<u32>,
    pub opponent_nonce: Option<NonceCommitment>,
    pub choice: Choice,
}

impl Durable {
    pub fn identity(&self) -> Option<&Identity<PlayerId>> {
        self.identity.as_ref()
    }

    pub fn applied(&self) -> Option<&Application> {
        self.applied.as_ref()
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    pub fn matches(&self) -> impl Iterator<Item = (&MatchId, &Match)> {
        self.matches.iter()
    }

    pub fn find(&self, match_id: &MatchId) -> Option<&Match> {
        self.matches.get(match_id)
    }

    pub fn fallbacks(&self) -> &Fallbacks {
        &self.fallbacks
    }

    pub fn league_closed(&self) -> bool {
        self.league_closed
    }

    /// Whether one more match can be kept without forgetting one that is not over.
    pub fn has_room_for(&self, match_id: &MatchId) -> bool {
        self.matches.len() < MATCHES_MAX
            || self.matches.contains_key(match_id)
            || self.matches.values().any(|played| played.finished)
    }

    /// Whether the end of this round lets anything be forgotten.
    pub fn can_forget(&self, round: RoundId) -> bool {
        self.matches.values().any(|played| played.is_past(round))
    }

    pub(super) fn apply(&mut self, event: &PlayerEvent) {
        match event {
            PlayerEvent::Applied(application) => self.applied = Some(application.clone()),
            PlayerEvent::Enrolled { identity } => self.enrol(identity),
            PlayerEvent::Announced { round_id, matches } => {
                for fixture in matches {
                    self.entry(&fixture.match_id).announce(*round_id, fixture);
                }
            }
            PlayerEvent::Invited {
                match_id,
                round_id,
                game_type,
                opponent_id,
                role,
                attempt,
                draw_commitment,
                draw_scheme,
            } => {
                let invited = self.entry(match_id);
                // What the manager announced wins over what a referee says.
                invited.round_id.get_or_insert(*round_id);
                invited.game_type.get_or_insert_with(|| game_type.clone());
                invited.opponent_id.get_or_insert_with(|| opponent_id.clone());
                invited.role.get_or_insert(*role);
                // A promise that could be replaced would be none.
                invited.invitations.entry(*attempt).or_insert_with(|| Invitation {
                    commitment: draw_commitment.clone(),
                    signs: draw_scheme.is_some(),
                });
            }
            PlayerEvent::Chosen {
                match_id,
                round_id,
                opponent_id,
                question,
                choice,
                fallback,
                attempt,
                turn,
                opponent_nonce_commitment,
            } => {
                if let Some(why) = fallback {
                    self.fallbacks.note(match_id, why);
                }
                let played = self.entry(match_id);
                played.round_id = played.round_id.or(*round_id);
                if played.opponent_id.is_none() {
                    played.opponent_id.clone_from(opponent_id);
                }
                let latest = played.invitations.keys().next_back().copied();
                let attempt = attempt.or(latest).unwrap_or(Attempt::FIRST);
                played.moves.entry(attempt).or_default().push(Move {
                    question: question.clone(),
                    turn: *turn,
                    opponent_nonce: *opponent_nonce_commitment,
                    choice: choice.clone(),
                });
            }
            PlayerEvent::Finished { game } => {
                self.history.remember(game);
                if let Some(played) = self.matches.get_mut(&game.match_id) {
                    played.finished = true;
                }
            }
            PlayerEvent::RoundClosed { round_id } => {
                self.matches.retain(|_, played| !played.is_past(*round_id));
            }
            PlayerEvent::LeagueClosed => {
                self.league_closed = true;
                self.matches.retain(|_, played| !played.finished);
            }
        }
    }

    fn enrol(&mut self, identity: &Identity<PlayerId>) {
        if let Some(earlier) = &self.identity {
            let renamed = earlier.id != identity.id || earlier.league_id != identity.league_id;
            // A manager of ours keeps the token of a player that comes back, so a new one means a new league. Others may
            // give a new one at every turn: there it means something only once the league is over.
            let reissued = earlier.auth_token != identity.auth_token;
            if renamed || reissued && (identity.match_tokens || self.league_closed) {
                self.matches.clear();
                self.history.enter_league();
                self.fallbacks.in_match.clear();
                self.league_closed = false;
            }
        }
        self.identity = Some(identity.clone());
    }

    fn entry(&mut self, match_id: &MatchId) -> &mut Match {
        if !self.matches.contains_key(match_id) && self.matches.len() >= MATCHES_MAX {
            let finished = self.matches.iter().find(|(_, played)| played.finished);
            if let Some(oldest) = finished.map(|(id, _)| id.clone()) {
                self.matches.remove(&oldest);
            }
        }
        self.matches.entry(match_id.clone()).or_default()
    }
}

impl Match {
    fn announce(&mut self, round: RoundId, fixture: &Fixture) {
        self.round_id = Some(round);
        self.game_type = Some(fixture.game_type.clone());
        self.opponent_id = Some(fixture.opponent_id.clone());
        self.role = Some(fixture.role);
        self.notice = Some(fixture.notice);
    }

    /// Our moves in one attempt, oldest first.
    pub fn moves_in(&self, attempt: Attempt) -> &[Move] {
        self.moves.get(&attempt).map_or(&[], Vec::as_slice)
    }

    /// What we have answered to this question in this attempt.
    pub(super) fn answer(&self, attempt: Attempt, turn: Option<u32>, question: &Question) -> Option<&Choice> {
        let same_turn = |made: &&Move| turn.is_none() || made.turn.is_none() || made.turn == turn;
        let mut made = self.moves_in(attempt).iter().filter(same_turn);
        made.find(|made| made.question == *question).map(|made| &made.choice)
    }

    /// What we have chosen when we were asked this, in whichever attempt.
    pub(super) fn chosen(&self, question: &Question) -> Option<&Choice> {
        let mut made = self.moves.values().flatten();
        made.find(|made| made.question == *question).map(|made| &made.choice)
    }

    /// Whether we have been called to it, and have not heard how it ended.
    pub(super) fn is_under_way(&self) -> bool {
        !self.finished && !self.invitations.is_empty()
    }

    /// Whether an announcement tells nothing new. One of an earlier attempt, come late, does not.
    pub(super) fn knows(&self, notice: Notice) -> bool {
        self.notice.is_some_and(|known| known.attempt > notice.attempt || known == notice)
    }

    /// Whether nobody will ask about this match again once `round` is closed. The end of a match may be told after the
    /// end of its round, so one whose end we have not heard is kept for another round.
    fn is_past(&self, round: RoundId) -> bool {
        self.round_id.map_or(self.finished, |own| own < round || own == round && self.finished)
    }
}
