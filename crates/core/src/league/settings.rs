//! The configuration of a league. Recorded in its first event, so that it does not change.

use super::format::Competition;
use super::invitation::Invitation;
use super::schedule::Pairings;
use super::standings::TieBreak;
use crate::game::GameEntry;
use crate::game::external::ExternalGameInfo;
use crate::protocol::decode::{Conformance, Limits};
use crate::protocol::ids::{GameType, LeagueId};
use crate::protocol::token::TokenHash;
use crate::timing::Timing;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What the operator chooses about a league.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeagueSettings {
    /// Named in every message of the league.
    pub league_id: LeagueId,
    /// The only game of the league.
    pub game_type: GameType,
    /// How strictly messages of agents are decoded.
    pub conformance: Conformance,
    /// How long before its first match a round is announced.
    pub announce_lead: Duration,
    /// Registrations beyond are refused.
    pub players_max: u32,
    /// Registrations beyond are refused.
    pub referees_max: u32,
    /// How the league finds out about endpoints that do not answer.
    pub endpoint_check: EndpointCheck,
    /// How long an endpoint has to answer a probe.
    pub probe_timeout: Duration,
    /// How often a suspended agent is probed.
    pub probe_every: Duration,
    /// Whether standings, schedule and results may be read without a token.
    pub public_reads: bool,
    /// The timeouts that referees use.
    pub timing: Timing,
    /// How long results are collected before the standings are sent.
    pub standings_pause: Duration,
    /// How many technical losses in a row suspend a player.
    pub suspend_after: u32,
    /// What players are ranked by first.
    pub score: Score,
    /// The tie-breaks between players with equal points, in order.
    pub tie_breaks: Vec<TieBreak>,
    /// Whether matches in which a player has a key need a referee that proves.
    pub proof: ProofRule,
    /// Whether agents must show their tokens in requests of their own.
    #[serde(default, skip_serializing_if = "TokenRule::is_required")]
    pub tokens: TokenRule,
    /// The size limit of a request.
    pub message_bytes_max: usize,
    /// Authenticates the operator from any machine.
    pub operator_token: Option<TokenHash>,
    /// How many wrong tokens per minute in one agent's name are answered at once; 0 for no limit.
    pub token_guesses_max: u32,
    /// The rate limit of one agent in requests per second; 0 for no limit.
    pub requests_per_second: u32,
    /// How many agents may register from one IP address; 0 for no limit. Loopback is not limited.
    pub registrations_per_address: u32,
    /// Whether others may register, as long as the league takes registrations.
    #[serde(default, skip_serializing_if = "Registration::is_open")]
    pub registration: Registration,
    /// The join codes of the league's start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub roster: Vec<Invitation>,
    /// The format of the league and its parameters.
    pub competition: Competition,
    /// Fixtures in place of a generated schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<Vec<Pairings>>,
    /// The game, if its rules are external.
    #[serde(rename = "outside_game", skip_serializing_if = "Option::is_none")]
    pub external_game: Option<ExternalGameInfo>,
}

impl Default for LeagueSettings {
    fn default() -> Self {
        Self {
            league_id: LeagueId::new("league_2025_even_odd"),
            game_type: GameType::even_odd(),
            conformance: Conformance::Lenient,
            announce_lead: Duration::from_secs(60),
            players_max: 99,
            referees_max: 99,
            endpoint_check: EndpointCheck::AtStart,
            probe_timeout: Duration::from_secs(2),
            probe_every: Duration::from_secs(5),
            public_reads: true,
            timing: Timing::default(),
            standings_pause: Duration::from_millis(50),
            suspend_after: 3,
            score: Score::Match,
            tie_breaks: TieBreak::DEFAULT.to_vec(),
            proof: ProofRule::Required,
            tokens: TokenRule::Required,
            message_bytes_max: Limits::MANAGER.message_bytes_max,
            operator_token: None,
            token_guesses_max: 10,
            requests_per_second: 20_000,
            registrations_per_address: 16,
            registration: Registration::Open,
            roster: Vec::new(),
            competition: Competition::default(),
            fixtures: None,
            external_game: None,
        }
    }
}

/// Whether the operator lets others register.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Registration {
    /// Until the start, and in a ladder until its end.
    #[default]
    Open,
    /// Nobody else; those who are here stay.
    Closed,
}

impl Registration {
    /// Whether others may register.
    pub fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// Who is let in from now on: as the league was opened with, and not as its log began, of which it is no part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admission {
    pub(crate) registration: Registration,
    pub(crate) registrations_per_address: u32,
}

impl Admission {
    pub(crate) fn of(settings: &LeagueSettings) -> Self {
        Self {
            registration: settings.registration,
            registrations_per_address: settings.registrations_per_address,
        }
    }
}

impl LeagueSettings {
    /// These settings, and of who is let in what the others say.
    pub fn with_admission_of(self, others: &Self) -> Self {
        Self {
            registration: others.registration,
            registrations_per_address: others.registrations_per_address,
            ..self
        }
    }

    /// Whether the rounds or the standings of this league need a seed.
    pub fn needs_draw(&self) -> bool {
        !self.competition.is_default() || self.tie_breaks.contains(&TieBreak::Lots)
    }

    /// The time after which a referee that has taken a match is asked for it again: the time to play by `timing` if every
    /// player answers in its first window.
    pub fn idle_after(&self, timing: &Timing) -> Duration {
        let turns = crate::game::find(&self.game_type).map_or(1, |game| game.turns_max);
        timing
            .join
            .saturating_add(timing.choice.saturating_mul(turns))
    }

    /// The time after which a match is reassigned: the time to deliver the assignment, and the time to play by
    /// `timing`.
    pub fn overdue_after(&self, timing: &Timing) -> Duration {
        let known = crate::game::find(&self.game_type).map(|game| game.turns_max);
        let turns = known
            .or(self.external_game.as_ref().map(|game| game.turns_max))
            .unwrap_or(1);
        self.timing
            .retry
            .longest(self.timing.other)
            .saturating_add(timing.match_bound(turns))
    }
}

/// What players are ranked by first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// Points for won and drawn matches.
    #[default]
    Match,
    /// The total of the game's own points over all matches.
    Payoff,
}

impl Score {
    /// As new leagues of a game have it unless the operator chooses.
    pub fn default_of(game: &GameType) -> Self {
        if crate::game::find(game).is_some_and(GameEntry::ranks_by_payoff) {
            Self::Payoff
        } else {
            Self::Match
        }
    }
}

/// Whether matches in which a player has a key need a referee that proves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofRule {
    /// Yes, if a referee that proves is registered when the league starts.
    #[default]
    Required,
    /// Every referee is given every match, for courses in which students write referees.
    Optional,
}

/// Whether agents must show their tokens in requests of their own: reports and queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenRule {
    /// Yes: anybody could speak in their name otherwise.
    #[default]
    Required,
    /// No, for practice on one machine. A token that is shown is judged as ever.
    Optional,
}

impl TokenRule {
    /// Whether tokens are required.
    pub fn is_required(&self) -> bool {
        *self == Self::Required
    }
}

/// When the manager probes endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointCheck {
    /// Never: agents are suspended only for what they miss.
    Off,
    /// In the background and at the start, when agents that never answered are suspended.
    AtStart,
    /// Before the registration is answered.
    AtRegistration,
}
