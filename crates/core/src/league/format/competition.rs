//! What the operator chooses about the course of a league, and which choices cannot be. Values only.

use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Who meets whom, on the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Everyone once with everyone.
    #[default]
    RoundRobin,
    /// Everyone twice with everyone, the second time with sides swapped.
    DoubleRoundRobin,
    /// A set number of rounds among players who stand about equal.
    Swiss,
    /// Who loses is out.
    Knockout,
    /// A round robin in groups, and a knockout of the best of each.
    GroupsKnockout,
    /// No end: agents join and leave at any time, and are paired by rating.
    Ladder,
}

impl Format {
    /// Every format, in the order in which users are shown them.
    pub const ALL: [Self; 6] = [
        Self::RoundRobin,
        Self::DoubleRoundRobin,
        Self::Swiss,
        Self::Knockout,
        Self::GroupsKnockout,
        Self::Ladder,
    ];

    /// Those that end by themselves.
    pub const ENDING: [Self; 5] = [
        Self::RoundRobin,
        Self::DoubleRoundRobin,
        Self::Swiss,
        Self::Knockout,
        Self::GroupsKnockout,
    ];

    /// As settings and events write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round_robin",
            Self::DoubleRoundRobin => "double_round_robin",
            Self::Swiss => "swiss",
            Self::Knockout => "knockout",
            Self::GroupsKnockout => "groups_knockout",
            Self::Ladder => "ladder",
        }
    }

    /// `None` if there is no format of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether all its rounds are known when it begins.
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::RoundRobin | Self::DoubleRoundRobin)
    }

    fn has_knockout(self) -> bool {
        matches!(self, Self::Knockout | Self::GroupsKnockout)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who counts as the better player before a match is played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seeding {
    /// The player that registered earlier.
    #[default]
    Registration,
    /// By lot, from the seed of the draw.
    Lots,
}

/// The course of a league as the operator wants it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Competition {
    /// Decides which of the other settings apply.
    pub format: Format,
    /// Of a swiss league; `None` for as many as its size asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// How many matches two players who are paired have with each other; in a knockout, at most.
    pub matches_per_pairing: u32,
    /// Into how many groups the players are put; `None` for about four players in each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<u32>,
    /// How many of each group go through; `None` for two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qualifiers: Option<u32>,
    /// How often a level tie of a knockout is played again before the lot decides, and a level play-off before those who
    /// are in it share the title.
    pub replays: u32,
    /// Whether those who lose their semifinals play for the third place.
    pub third_place: bool,
    /// The order of players before there are results.
    pub seeding: Seeding,
    /// Whether those who are level for the first place play it out; otherwise they share it.
    pub play_off: bool,
    /// How many matches a player of a ladder has in any hour, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches_per_hour: Option<u32>,
}

/// More would be no tie but a league of its own.
pub const MATCHES_PER_PAIRING_MAX: u32 = 99;
/// The upper bound of `replays`: limits how long a level tie can take.
pub const REPLAYS_MAX: u32 = 99;
/// How many matches a player of a ladder has in any hour unless the operator chooses.
pub const LADDER_MATCHES_PER_HOUR: u32 = 60;
/// Of rounds, groups and qualifiers: more than any league has players for.
const COUNT_MAX: u32 = 9_999;

/// Of the rounds of a ladder, which has no end of its own: about 70 days with one each minute.
const LADDER_ROUNDS_MAX: usize = 100_000;

impl Default for Competition {
    fn default() -> Self {
        Self {
            format: Format::RoundRobin,
            rounds: None,
            matches_per_pairing: 1,
            groups: None,
            qualifiers: None,
            replays: 3,
            third_place: false,
            seeding: Seeding::Registration,
            play_off: false,
            matches_per_hour: None,
        }
    }
}

/// Why a competition cannot be held.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Impossible {
    /// A setting that this format does not use was given.
    #[error("{setting}: {format} has no such setting; it goes with {with}")]
    NotOfFormat {
        /// Its name in the settings.
        setting: &'static str,
        /// The chosen format.
        format: Format,
        /// The formats that use it.
        with: &'static str,
    },
    /// A number that is impossible however many players register.
    #[error("{setting}: expected {least} to {most}, got {got}")]
    OutOfRange {
        /// Its name in the settings.
        setting: &'static str,
        /// The lowest possible value.
        least: u32,
        /// The highest possible value.
        most: u32,
        /// The value that was given.
        got: u32,
    },
    /// The number of registered players.
    #[error("a league needs at least 2 players, and there are {0}")]
    TooFewPlayers(usize),
    /// A swiss league would have to pair players again.
    #[error(
        "rounds: {players} players can play 1 to {most} rounds before everyone has met everyone, not {got}"
    )]
    TooManyRounds {
        /// The number of registered players.
        players: usize,
        /// The highest possible value.
        most: u32,
        /// The value that was given.
        got: u32,
    },
    /// Some group would have fewer players than must be in one.
    #[error(
        "groups: {players} players cannot be put into {groups} groups of at least {least}; expected at most {most}"
    )]
    GroupsTooSmall {
        /// The number of registered players.
        players: usize,
        /// The value that was given, or that follows from the size of the league.
        groups: u32,
        /// Players that each group must have: at least 2, and those that qualify.
        least: u32,
        /// The highest possible number of groups.
        most: u32,
    },
    /// The knockout after the groups would have no match.
    #[error(
        "qualifiers: with {groups} group(s) and {qualifiers} from each, fewer than 2 players go through"
    )]
    NobodyToMeet {
        /// The value that was given, or that follows from the size of the league.
        groups: u32,
        /// From each group.
        qualifiers: u32,
    },
}

impl Competition {
    /// A format with the defaults of all other settings.
    pub fn of(format: Format) -> Self {
        let matches_per_hour = (format == Format::Ladder).then_some(LADDER_MATCHES_PER_HOUR);
        Self {
            format,
            matches_per_hour,
            ..Self::default()
        }
    }

    /// Whether it is the competition of a league whose operator chose none: then no round needs a draw.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// How many rounds a league can have. A log with more is not that of a league.
    pub fn rounds_max(&self) -> usize {
        match self.format {
            Format::Ladder => LADDER_ROUNDS_MAX,
            _ => COUNT_MAX as usize,
        }
    }

    pub(super) fn legs(&self) -> u32 {
        self.matches_per_pairing.max(1)
    }

    /// What is wrong with it, whatever players register.
    pub fn check(&self) -> Result<(), Impossible> {
        let format = self.format;
        let misfit = |setting, with| {
            Err(Impossible::NotOfFormat {
                setting,
                format,
                with,
            })
        };
        if self.rounds.is_some() && format != Format::Swiss {
            return misfit("rounds", "swiss");
        }
        if self.groups.is_some() && format != Format::GroupsKnockout {
            return misfit("groups", "groups_knockout");
        }
        if self.qualifiers.is_some() && format != Format::GroupsKnockout {
            return misfit("qualifiers", "groups_knockout");
        }
        if self.matches_per_hour.is_some() && format != Format::Ladder {
            return misfit("matches_per_hour", "ladder");
        }
        if self.third_place && !format.has_knockout() {
            return misfit("third_place", "knockout and groups_knockout");
        }
        if self.play_off && (format.has_knockout() || format == Format::Ladder) {
            return misfit("play_off", "round_robin, double_round_robin and swiss");
        }
        let within = |setting, got: u32, least: u32, most: u32| {
            if (least..=most).contains(&got) {
                Ok(())
            } else {
                Err(Impossible::OutOfRange {
                    setting,
                    least,
                    most,
                    got,
                })
            }
        };
        within(
            "matches_per_pairing",
            self.matches_per_pairing,
            1,
            MATCHES_PER_PAIRING_MAX,
        )?;
        within("replays", self.replays, 0, REPLAYS_MAX)?;
        within("rounds", self.rounds.unwrap_or(1), 1, COUNT_MAX)?;
        within("groups", self.groups.unwrap_or(1), 1, COUNT_MAX)?;
        within(
            "matches_per_hour",
            self.matches_per_hour.unwrap_or(1),
            1,
            COUNT_MAX,
        )?;
        within("qualifiers", self.qualifiers.unwrap_or(1), 1, COUNT_MAX)
    }

    /// What is wrong with it for so many players.
    pub fn check_for(&self, players: usize) -> Result<(), Impossible> {
        self.check()?;
        if players < 2 {
            return Err(Impossible::TooFewPlayers(players));
        }
        if let Some(got) = self.rounds {
            let most = rounds_max(players);
            if got > most {
                return Err(Impossible::TooManyRounds { players, most, got });
            }
        }
        if self.format == Format::GroupsKnockout {
            let groups = self.group_count(players);
            let qualifiers = self.qualifier_count();
            let least = qualifiers.max(2);
            let most = super::count(players) / least;
            if groups > most {
                return Err(Impossible::GroupsTooSmall {
                    players,
                    groups,
                    least,
                    most,
                });
            }
            if groups.saturating_mul(qualifiers) < 2 {
                return Err(Impossible::NobodyToMeet { groups, qualifiers });
            }
        }
        Ok(())
    }

    /// How many pairings a swiss league has. Halving leaves one player without a loss after as many rounds as the number
    /// of players can be halved; two more tell apart those who lost once, and make up for draws. But in more rounds than
    /// half the players, a pair may have to meet twice.
    pub fn swiss_rounds(&self, players: usize) -> u32 {
        let halvings = players.max(1).next_power_of_two().trailing_zeros();
        let half = super::count(players / 2);
        self.rounds
            .unwrap_or_else(|| (halvings + 2).min(half.max(halvings)))
    }

    /// The power of two that makes groups of about four: with two from each, the knockout then has no byes.
    pub(super) fn group_count(&self, players: usize) -> u32 {
        let quarters = super::count(players) / 4;
        let power = quarters.checked_ilog2().map_or(1, |power| 1 << power);
        self.groups.unwrap_or(power)
    }

    pub(super) fn qualifier_count(&self) -> u32 {
        self.qualifiers.unwrap_or(2)
    }
}

/// After so many rounds everyone has met everyone.
fn rounds_max(players: usize) -> u32 {
    let players = super::count(players);
    if players.is_multiple_of(2) {
        players.saturating_sub(1)
    } else {
        players
    }
}
