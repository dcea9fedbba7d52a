//! A player's durable state: a fold over its events.

use super::event::{Choice, Fixture, Notice, PlayerEvent, Question};
use super::memory::History;
use crate::game::past::GAMES_MAX;
use crate::protocol::draw::Commitment;
use crate::protocol::messages::Role;
use crate::protocol::nonce::NonceCommitment;
use crate::protocol::{Attempt, GameType, MatchId, PlayerId, RoundId};
use crate::registration::{Application, Identity};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many matches are kept at once; a league has one per round.
pub const MATCHES_MAX: usize = 1_000;
/// How many different questions of one match are answered.
pub const QUESTIONS_MAX: usize = 1_000;
/// How many attempts at one match this player joins.
pub const ATTEMPTS_MAX: usize = 64;

/// Everything that the events of a player say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Durable {
    /// How we register.
    applied: Option<Application>,
    identity: Option<Identity<PlayerId>>,
    matches: BTreeMap<MatchId, Match>,
    history: History,
    league_closed: bool,
    /// The manager's latest checkpoint.
    checkpoint: Option<Arc<str>>,
    fallbacks: Fallbacks,
}

/// How often the fallback chose instead of the external decider.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fallbacks {
    /// Over all leagues of the log.
    pub count: u32,
    /// The match and the reason of the last fallback.
    pub last: Option<(MatchId, String)>,
    /// The last reason in each match of this league; bounded as the remembered games are.
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

/// A match of ours: announced, under way, or finished and still kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Match {
    /// `None` until an announcement, an invitation or a question tells it.
    pub round_id: Option<RoundId>,
    /// `None` until an announcement or an invitation tells it.
    pub game_type: Option<GameType>,
    /// `None` until an announcement, an invitation or a question tells it.
    pub opponent_id: Option<PlayerId>,
    /// `None` until an announcement or an invitation tells it.
    pub role: Option<Role>,
    /// The latest announcement of the manager.
    pub notice: Option<Notice>,
    /// The invitations by attempt.
    pub invitations: BTreeMap<Attempt, Invitation>,
    /// Our moves in each attempt, in order.
    pub moves: BTreeMap<Attempt, Vec<Move>>,
    /// Whether its GAME_OVER has come.
    pub finished: bool,
}

/// An invitation to one attempt at a match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Invitation {
    /// The referee's commitment.
    pub commitment: Option<Commitment>,
    /// Whether we sign our moves.
    pub signs: bool,
}

/// A move of ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// What was asked; a repeated question gets the same answer.
    pub question: Question,
    /// As the referee numbers it; absent if it does not.
    pub turn: Option<u32>,
    /// As the question carried it; absent if it carried none.
    pub opponent_nonce: Option<NonceCommitment>,
    /// What was answered.
    pub choice: Choice,
}

impl Durable {
    /// `None` until the manager has accepted the registration.
    pub fn identity(&self) -> Option<&Identity<PlayerId>> {
        self.identity.as_ref()
    }

    /// The keys of the registration; `None` until the first try.
    pub fn applied(&self) -> Option<&Application> {
        self.applied.as_ref()
    }

    /// The games that are over, of all leagues of the log.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The matches that are kept, by id.
    pub fn matches(&self) -> impl Iterator<Item = (&MatchId, &Match)> {
        self.matches.iter()
    }

    /// `None` if it was never announced nor begun, or is no longer kept.
    pub fn find(&self, match_id: &MatchId) -> Option<&Match> {
        self.matches.get(match_id)
    }

    /// How often, where and why the external decider failed.
    pub fn fallbacks(&self) -> &Fallbacks {
        &self.fallbacks
    }

    /// Whether the manager has told that the league is over.
    pub fn league_closed(&self) -> bool {
        self.league_closed
    }

    /// The latest checkpoint that the manager has told.
    pub fn checkpoint(&self) -> Option<&Arc<str>> {
        self.checkpoint.as_ref()
    }

    /// Whether one more match can be kept without dropping an unfinished one.
    pub fn has_room_for(&self, match_id: &MatchId) -> bool {
        self.matches.len() < MATCHES_MAX
            || self.matches.contains_key(match_id)
            || self.matches.values().any(|played| played.finished)
    }

    /// Whether the end of this round drops any match.
    pub fn can_forget(&self, round: RoundId) -> bool {
        self.matches.values().any(|played| played.is_past(round))
    }

    pub(super) fn apply(&mut self, event: &PlayerEvent) {
        match event {
            PlayerEvent::Applied(application) => self.applied = Some(application.clone()),
            PlayerEvent::Registered { identity } => self.register(identity),
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
                signs,
                commitment_signature: _,
            } => {
                let invited = self.entry(match_id);
                // The manager's announcement takes precedence over the referee's invitation.
                invited.round_id.get_or_insert(*round_id);
                invited.game_type.get_or_insert_with(|| game_type.clone());
                invited
                    .opponent_id
                    .get_or_insert_with(|| opponent_id.clone());
                invited.role.get_or_insert(*role);
                // A commitment must not be replaced.
                invited
                    .invitations
                    .entry(*attempt)
                    .or_insert_with(|| Invitation {
                        commitment: draw_commitment.clone(),
                        signs: *signs,
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
                usage: _,
            } => {
                if let Some(why) = fallback {
                    self.fallbacks.note(match_id, why);
                }
                let played = self.entry(match_id);
                played.round_id = played.round_id.or(*round_id);
                if played.opponent_id.is_none() {
                    played.opponent_id.clone_from(opponent_id);
                }
                played.moves.entry(*attempt).or_default().push(Move {
                    question: question.clone(),
                    turn: *turn,
                    opponent_nonce: *opponent_nonce_commitment,
                    choice: choice.clone(),
                });
            }
            PlayerEvent::Finished { game, signed: _ } => {
                self.history.remember(game);
                if let Some(played) = self.matches.get_mut(&game.match_id) {
                    played.finished = true;
                }
            }
            PlayerEvent::NotSigned { .. } => {}
            PlayerEvent::CheckpointReceived { note } => self.checkpoint = Some(Arc::clone(note)),
            PlayerEvent::RoundClosed { round_id } => {
                self.matches.retain(|_, played| !played.is_past(*round_id));
            }
            PlayerEvent::LeagueClosed => {
                self.league_closed = true;
                self.matches.retain(|_, played| !played.finished);
            }
        }
    }

    fn register(&mut self, identity: &Identity<PlayerId>) {
        if let Some(earlier) = &self.identity {
            let renamed = earlier.id != identity.id || earlier.league_id != identity.league_id;
            // Our manager keeps the token of a player that registers again, so a new token means a new league. Foreign
            // managers may issue a new token each time: there it counts only once the league is over.
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

    /// Our answer to this question in this attempt.
    pub(super) fn answer(
        &self,
        attempt: Attempt,
        turn: Option<u32>,
        question: &Question,
    ) -> Option<&Choice> {
        let same_turn = |made: &&Move| turn.is_none() || made.turn.is_none() || made.turn == turn;
        let mut made = self.moves_in(attempt).iter().filter(same_turn);
        made.find(|made| made.question == *question)
            .map(|made| &made.choice)
    }

    /// Our choice for this question in any attempt.
    pub(super) fn chosen(&self, question: &Question) -> Option<&Choice> {
        let mut made = self.moves.values().flatten();
        made.find(|made| made.question == *question)
            .map(|made| &made.choice)
    }

    /// Whether we were invited, and have not received GAME_OVER.
    pub(super) fn is_under_way(&self) -> bool {
        !self.finished && !self.invitations.is_empty()
    }

    /// Whether an announcement is known already, or of an earlier attempt.
    pub(super) fn knows(&self, notice: Notice) -> bool {
        self.notice
            .is_some_and(|known| known.attempt > notice.attempt || known == notice)
    }

    /// Whether this match can be dropped when `round` is completed. GAME_OVER may come after ROUND_COMPLETED, so an
    /// unfinished match is kept for another round.
    fn is_past(&self, round: RoundId) -> bool {
        self.round_id.map_or(self.finished, |own| {
            own < round || own == round && self.finished
        })
    }
}
