//! The rows of the standings, of a league that is at hand or as a manager tells them. Pure.

use super::PlayerName;
use matchday_core::league::fixture::Round;
use matchday_core::league::member::Member;
use matchday_core::league::standings::Verdict;
use matchday_core::league::{Draw, Format, League};
use matchday_core::protocol::PlayerId;
use matchday_core::protocol::messages::{GameStatus, PlayerMeta, StandingRow};
use matchday_stats::LeagueStatistics;
use matchday_stats::league::PlayerStatistics;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many of the last results are shown.
const FORM_MAX: usize = 5;

/// A player's place in the standings.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Standing {
    pub rank: u32,
    /// By how many places it has risen since the last round was announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rise: Option<i64>,
    #[serde(flatten)]
    pub who: PlayerName,
    pub played: u32,
    pub wins: u32,
    pub draws: u32,
    /// All losses, technical ones included.
    pub losses: u32,
    pub technical_losses: u32,
    pub points: u32,
    /// The total payoff, if the standings go by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payoff: Option<i64>,
    /// What a ladder pairs and ranks its players by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing_rating: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<Rating>,
    /// How likely so many points or more are by chance alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_good_by_chance: Option<f64>,
    /// What puts it ahead of the next player, or that they are level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `active`, `suspended`, `withdrawn`.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub state: &'static str,
    /// How its last matches ended: W, D, L, and T for a technical loss.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub form: Vec<char>,
    /// The values of the tie-breaks that have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tie_breaks: Vec<f64>,
    /// In a league with groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A rating by Bradley and Terry, with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rating {
    pub value: i64,
    pub low: i64,
    pub high: i64,
}

impl Rating {
    fn rounded([value, low, high]: [f64; 3]) -> Self {
        let [value, low, high] = [value, low, high].map(|rating| rating.round() as i64);
        Self { value, low, high }
    }

    /// By Bradley and Terry.
    pub fn of(player: &PlayerStatistics) -> Option<Self> {
        player
            .bradley_terry
            .map(|strength| Self::rounded([strength.rating, strength.low, strength.high]))
    }
}

impl From<&StandingRow> for Standing {
    fn from(row: &StandingRow) -> Self {
        Self {
            rank: row.shown_rank(),
            who: PlayerName {
                id: row.player_id.to_string(),
                name: row.display_name.escaped().to_string(),
                strategy: None,
            },
            played: row.played,
            wins: row.wins,
            draws: row.draws,
            losses: row.losses,
            technical_losses: row.technical_losses.unwrap_or(0),
            points: row.points,
            pairing_rating: row.rating,
            reason: row
                .rank_reason
                .as_ref()
                .map(|why| why.escaped().to_string()),
            ..Self::default()
        }
    }
}

/// Whether any match counts: before that nobody has a rank.
pub fn has_begun(standings: &[Standing]) -> bool {
    standings.iter().any(|row| row.played > 0)
}

/// The standings of a league; `ranks_before` are those when the last round was announced.
pub fn of(
    league: &League,
    statistics: Option<&LeagueStatistics>,
    ranks_before: &BTreeMap<PlayerId, u32>,
) -> Vec<Standing> {
    let mut forms = forms(league);
    let mut groups = groups(league);
    let tie_breaks = league.tie_break_values();
    let payoffs = league.payoff_totals();
    let rows = league.rows();
    let standings = rows.iter().map(|row| {
        let id = &row.player_id;
        let form = forms.remove(id).unwrap_or_default();
        let before = ranks_before.get(id);
        let statistics = statistics_of(statistics, id);
        Standing {
            who: PlayerName::of(league, id),
            rise: before.map(|before| i64::from(*before) - i64::from(row.rank)),
            payoff: payoffs
                .as_ref()
                .and_then(|payoffs| payoffs.get(id).copied()),
            rating: statistics.and_then(Rating::of),
            as_good_by_chance: statistics
                .filter(|known| known.record.total() > 0)
                .map(|known| known.as_good_by_chance),
            state: league.players.get(id).map(state).unwrap_or_default(),
            form: form
                .get(form.len().saturating_sub(FORM_MAX)..)
                .unwrap_or_default()
                .to_vec(),
            tie_breaks: tie_breaks
                .iter()
                .filter_map(|(_, values)| values.get(id).copied())
                .collect(),
            group: groups.remove(id),
            ..row.into()
        }
    });
    standings.collect()
}

pub fn statistics_of<'a>(
    statistics: Option<&'a LeagueStatistics>,
    id: &PlayerId,
) -> Option<&'a PlayerStatistics> {
    statistics?
        .players
        .iter()
        .find(|known| known.player_id == id.as_str())
}

pub fn state(player: &Member<PlayerMeta>) -> &'static str {
    match player {
        player if player.withdrawn || player.away => "withdrawn",
        player if player.revoked || player.is_suspended() => "suspended",
        _ => "active",
    }
}

/// `A`, `B` and so on, for a league that is in its groups: once the knockout is drawn, all are in one table.
fn groups(league: &League) -> BTreeMap<PlayerId, String> {
    let is_knockout = |round: &Round| round.drawn.as_ref().is_some_and(|drawn| !drawn.fixed);
    if league.rounds.iter().any(is_knockout) {
        return BTreeMap::new();
    }
    let groups = named_groups(league);
    groups
        .flat_map(|(name, group)| group.into_iter().map(move |player| (player, name.clone())))
        .collect()
}

pub fn named_groups(league: &League) -> impl Iterator<Item = (String, Vec<PlayerId>)> {
    let in_groups = |draw: &&Arc<Draw>| draw.competition().format == Format::GroupsKnockout;
    let groups = league
        .draw
        .iter()
        .filter(in_groups)
        .flat_map(|draw| draw.groups());
    ('A'..='Z')
        .map(String::from)
        .chain((27..).map(|number| number.to_string()))
        .zip(groups)
}

/// How each player's matches ended, in the order of the rounds.
pub fn forms(league: &League) -> BTreeMap<&PlayerId, Vec<char>> {
    let mut forms: BTreeMap<&PlayerId, Vec<char>> = BTreeMap::new();
    for (_, game) in league
        .rounds
        .iter()
        .flat_map(|round| league.matches_of(round))
    {
        let Some(decision) = &game.decision else {
            continue;
        };
        let [a, b] = letters(
            decision.verdict(game),
            decision.status == GameStatus::TechnicalLoss,
        );
        forms.entry(&game.a).or_default().push(a);
        forms.entry(&game.b).or_default().push(b);
    }
    forms
}

/// How a match ended for either player: W, D, L, and T for a technical loss.
pub fn letters(verdict: Verdict, technical: bool) -> [char; 2] {
    let lost = if technical { 'T' } else { 'L' };
    match verdict {
        Verdict::WonByA => ['W', lost],
        Verdict::WonByB => [lost, 'W'],
        Verdict::Drawn => ['D', 'D'],
        Verdict::LostByBoth => ['T', 'T'],
    }
}
