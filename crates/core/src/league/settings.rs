//! What the operator decides about a league. Recorded in its first event: a league keeps the rules it began with.

use super::format::Competition;
use super::roster::Invitation;
use super::schedule::Pairings;
use crate::game::outside::OutsideGame;
use crate::protocol::decode::{Conformance, Limits};
use crate::protocol::ids::{GameType, LeagueId};
use crate::protocol::token::TokenHash;
use crate::timing::Timing;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub league_id: LeagueId,
    pub game_type: GameType,
    pub conformance: Conformance,
    /// How long before its first match a round is announced.
    pub announce_lead: Duration,
    pub players_max: u32,
    pub referees_max: u32,
    pub endpoint_check: EndpointCheck,
    /// How long an endpoint has to show that someone is there.
    pub probe_timeout: Duration,
    /// How often a suspended agent is looked after.
    pub probe_every: Duration,
    /// Whether standings, schedule and results may be read without a token.
    pub public_reads: bool,
    /// The deadlines that referees are expected to keep.
    pub timing: Timing,
    /// How long results may be gathered before the table is sent out.
    pub standings_pause: Duration,
    /// How many technical losses in a row suspend a player.
    pub suspend_after: u32,
    /// In what order players with equal points are told apart.
    pub tie_breaks: Vec<TieBreak>,
    /// The longest request that is read.
    pub message_bytes_max: usize,
    /// Lets its holder start a league from anywhere.
    pub operator_token: Option<TokenHash>,
    /// How many wrong tokens a minute in one agent's name are answered at once; 0 for any number.
    pub token_guesses_max: u32,
    /// How many requests a second are taken from one agent; 0 for any number.
    pub requests_per_second: u32,
    /// How many agents may register from one address; 0 for any number. Those of this machine are not counted.
    pub registrations_per_address: u32,
    /// The join codes that the league began with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roster: Vec<Invitation>,
    /// The course of the league: its format, and what belongs to that.
    #[serde(skip_serializing_if = "Competition::is_default")]
    pub competition: Competition,
    /// Who meets whom, if it is not to be everyone once with everyone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<Vec<Pairings>>,
    /// The game, if its rules are kept outside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outside_game: Option<OutsideGame>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            league_id: LeagueId::new("league_2025_even_odd"),
            game_type: GameType::new("even_odd"),
            conformance: Conformance::Strict,
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
            tie_breaks: TieBreak::DEFAULT.to_vec(),
            message_bytes_max: Limits::MANAGER.message_bytes_max,
            operator_token: None,
            token_guesses_max: 10,
            requests_per_second: 20_000,
            registrations_per_address: 16,
            roster: Vec::new(),
            competition: Competition::default(),
            fixtures: None,
            outside_game: None,
        }
    }
}

impl Settings {
    /// How long a referee that plays by `timing` has, from the moment a match is given to it, until the match is given to
    /// another: the time to deliver the assignment, and the time to play.
    pub fn overdue_after(&self, timing: &Timing) -> Duration {
        let known = crate::game::find(&self.game_type).map(|game| game.turns_max);
        let turns = known.or(self.outside_game.as_ref().map(|game| game.turns_max)).unwrap_or(1);
        self.timing.retry.longest(self.timing.other).saturating_add(timing.match_bound(turns))
    }
}

/// When the manager makes sure that an endpoint answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndpointCheck {
    Off,
    /// In the background, and once more at the start: who never answered is suspended then.
    AtStart,
    /// Before the registration is answered.
    AtRegistration,
}

/// A rule that tells players with equal points apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TieBreak {
    /// Points in the matches among those who are still tied.
    HeadToHead,
    WinPercentage,
    Wins,
    FewerDraws,
    /// The points of those one beat, and half the points of those one drew with.
    SonnebornBerger,
    /// The points of all whom one met.
    Buchholz,
    /// By a seed that is in the log.
    Lots,
}

impl TieBreak {
    /// What comes last in any case is the player's id.
    pub const DEFAULT: [Self; 4] = [Self::HeadToHead, Self::WinPercentage, Self::Wins, Self::FewerDraws];

    pub const ALL: [Self; 7] = [
        Self::HeadToHead,
        Self::WinPercentage,
        Self::Wins,
        Self::FewerDraws,
        Self::SonnebornBerger,
        Self::Buchholz,
        Self::Lots,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::HeadToHead => "head-to-head",
            Self::WinPercentage => "win percentage",
            Self::Wins => "wins",
            Self::FewerDraws => "fewer draws",
            Self::SonnebornBerger => "Sonneborn-Berger",
            Self::Buchholz => "Buchholz",
            Self::Lots => "lots",
        }
    }
}
