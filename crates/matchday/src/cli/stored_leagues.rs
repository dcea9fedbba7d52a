//! The leagues of a store: `matchday league list --store`, and ratings over all of them. Reads the store.

use anyhow::Result;
use clap::{Args, ValueEnum};
use matchday_audit::league_log::LeagueLog;
use matchday_audit::statistics::of_league;
use matchday_core::league::LeagueEvent;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{GameType, LeagueId, PlayerId};
use matchday_stats::Results;
use matchday_stats::season::{self, Career};
use matchday_store::entry::Entry;
use matchday_store::{Store, StoreError, StoreUrl};
use matchday_terminal::{headed, say, table};
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::process::ExitCode;

/// How players of one league are known again in another.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct KnownArg {
    /// By what a player is known again in another league: its name, or the id that the manager gave it
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = KnownBy::Name)]
    known_by: KnownBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KnownBy {
    Name,
    Id,
}

impl KnownArg {
    pub(super) fn by(self) -> season::KnownBy {
        match self.known_by {
            KnownBy::Name => season::KnownBy::Name,
            KnownBy::Id => season::KnownBy::Id,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self.known_by {
            KnownBy::Name => {
                "Players are known again by their names (--known-by id: by their ids)."
            }
            KnownBy::Id => {
                "Players are known again by their ids (--known-by name: by their names)."
            }
        }
    }
}

/// A league of the store, in brief.
#[derive(Debug, Serialize)]
struct Listed {
    league_id: LeagueId,
    game_type: GameType,
    phase: Phase,
    players: usize,
    matches: usize,
    matches_decided: u32,
    champion: Option<Champion>,
    /// All who share the title, if more than one does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    joint_champions: Vec<Champion>,
    began: String,
    /// When the last that is known of it happened.
    last: String,
}

#[derive(Debug, Serialize)]
struct Champion {
    player_id: String,
    display_name: String,
}

impl fmt::Display for Champion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.player_id, self.display_name)
    }
}

impl Listed {
    fn of(history: &LeagueLog) -> Self {
        let league = &history.league;
        let named = |id: &PlayerId| Champion {
            player_id: id.to_string(),
            display_name: league.players.get(id).map_or_else(String::new, |player| {
                player.meta.display_name.escaped().to_string()
            }),
        };
        let champion = league.champion.as_ref().map(named);
        let joint_champions = league.joint_champions().iter().map(named).collect();
        let time = |entry: Option<&Entry<LeagueEvent>>| {
            entry.map_or_else(String::new, |entry| entry.at.whole_second().to_string())
        };
        Self {
            league_id: league.settings.league_id.clone(),
            game_type: league.settings.game_type.clone(),
            phase: league.phase,
            players: league.players.len(),
            matches: league.matches.len(),
            matches_decided: league.matches_decided,
            champion,
            joint_champions,
            began: time(history.entries.first()),
            last: time(history.entries.last()),
        }
    }
}

/// Prints what leagues a store holds, and with `--ratings` the ratings over all of them.
pub(super) fn print(
    store: &StoreUrl,
    ratings: bool,
    known: KnownArg,
    as_json: bool,
) -> Result<ExitCode> {
    let histories = stored(store)?;
    let listed: Vec<Listed> = histories.iter().map(Listed::of).collect();
    let ratings = ratings.then(|| careers(&histories, known));
    if as_json {
        let mut data = json!({ "leagues": listed });
        if let (Some(data), Some(ratings)) = (data.as_object_mut(), &ratings) {
            data.insert("known_by".into(), json!(known.by()));
            data.insert("ratings".into(), json!(ratings));
        }
        say(serde_json::to_string_pretty(&data)?);
        return Ok(ExitCode::SUCCESS);
    }
    say(headed(&list(&listed)));
    if let Some(ratings) = &ratings {
        say(format!("\n{}", ratings_for_people(ratings, known)));
    }
    Ok(ExitCode::SUCCESS)
}

/// The course of every league of a store, the first one first.
pub(super) fn stored(store: &StoreUrl) -> Result<Vec<LeagueLog>, StoreError> {
    let mut reader = Store::open_read_only(store)?;
    let leagues = reader.leagues()?;
    if leagues.is_empty() {
        return Err(StoreError::NoLeague(reader.url().clone()));
    }
    let mut logs = Vec::new();
    for league in leagues {
        reader = reader.in_league(league.number);
        logs.push(LeagueLog::load(&reader)?);
    }
    Ok(logs)
}

pub(super) fn careers(histories: &[LeagueLog], known: KnownArg) -> Vec<Career> {
    let leagues: Vec<(String, Results)> = histories
        .iter()
        .map(|history| {
            (
                history.league.settings.league_id.to_string(),
                of_league(&history.league),
            )
        })
        .collect();
    season::careers(&leagues, known.by())
}

fn list(listed: &[Listed]) -> String {
    let rows: Vec<Vec<String>> = (1..)
        .zip(listed)
        .map(|(number, league): (u32, _)| {
            let champions: Vec<String> = match league.joint_champions.as_slice() {
                [] => league.champion.iter().map(Champion::to_string).collect(),
                joint => joint.iter().map(Champion::to_string).collect(),
            };
            vec![
                number.to_string(),
                league.league_id.to_string(),
                league.game_type.to_string(),
                league.players.to_string(),
                format!("{} of {}", league.matches_decided, league.matches),
                phase(league.phase).to_owned(),
                if champions.is_empty() {
                    "-".to_owned()
                } else {
                    champions.join(", ")
                },
                league.began.clone(),
                league.last.clone(),
            ]
        })
        .collect();
    let headers = [
        "#",
        "LEAGUE",
        "GAME",
        "PLAYERS",
        "MATCHES",
        "PHASE",
        "CHAMPION",
        "BEGAN",
        "LAST EVENT",
    ];
    table(&headers, &rows)
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Registration => "registration",
        Phase::Running => "running",
        Phase::Paused => "paused",
        Phase::Completed => "completed",
    }
}

/// Ratings over all leagues, the best first.
pub(super) fn ratings_for_people(ratings: &[Career], known: KnownArg) -> String {
    let rows: Vec<Vec<String>> = ratings
        .iter()
        .map(|player| {
            let course = player
                .history
                .iter()
                .map(|after| format!("{:.0}", after.rating));
            vec![
                player.player.clone(),
                player.leagues.to_string(),
                player.matches.to_string(),
                format!("{:.0}", player.rating.rating),
                format!("{:.0} to {:.0}", player.rating.low, player.rating.high),
                course.collect::<Vec<_>>().join(" > "),
            ]
        })
        .collect();
    let headers = [
        "PLAYER",
        "LEAGUES",
        "PLAYED",
        "RATING",
        "95 %",
        "AFTER EACH LEAGUE",
    ];
    format!("{}\n\n{}", headed(&table(&headers, &rows)), known.words())
}
