//! `matchday stats PLAYER --since FILE`: how a player has changed from an earlier league to this one. Reads the store of the
//! earlier league.

use super::stats::{PlayerView, player_of_league, stored};
use super::stored_leagues::KnownArg;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use matchday_audit::statistics::of_league;
use matchday_core::league::League;
use matchday_core::protocol::LeagueId;
use matchday_stats::change::{Difference, same};
use matchday_stats::elo;
use matchday_stats::results::Wdl;
use matchday_stats::season::KnownBy;
use matchday_stats::{Entrant, Resampling, Results};
use matchday_store::StoreError;
use matchday_store::StoreUrl;
use matchday_terminal::table;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

#[derive(Debug, Args)]
pub(super) struct SinceArg {
    /// How the player has changed since an earlier league: the store that holds it
    #[arg(long, value_name = "FILE|URL")]
    since: Option<StoreUrl>,
    /// Of an earlier store that holds several leagues: which one [default: the latest]
    #[arg(long, value_name = "ID", requires = "since")]
    since_league: Option<String>,
}

impl SinceArg {
    pub(super) fn is_given(&self) -> bool {
        self.since.is_some()
    }

    pub(super) fn open(&self, known: KnownArg) -> Result<Option<Earlier>> {
        let Some(file) = &self.since else {
            return Ok(None);
        };
        let id = self.since_league.as_deref().map(LeagueId::new);
        let league = stored(file, id.as_ref()).map_err(|error| match error {
            StoreError::NoSuchLeague { store, id, known } => {
                anyhow!("{store} holds no league {id}, but {known}: choose one with --since-league")
            }
            error => anyhow!("--since: {error}"),
        })?;
        Ok(Some(Earlier { league, known }))
    }
}

/// The league that came before.
#[derive(Debug)]
pub(super) struct Earlier {
    league: League,
    known: KnownArg,
}

/// A player now, as without `--since`, and what it was.
#[derive(Debug, Serialize, Deserialize)]
struct Changed {
    #[serde(flatten)]
    now: PlayerView,
    since: Since,
}

#[derive(Debug, Serialize, Deserialize)]
struct Since {
    league_id: LeagueId,
    known_by: KnownBy,
    player: PlayerView,
    differences: Differences,
}

/// This league's value minus the earlier one's; null where one is missing.
#[derive(Debug, Serialize, Deserialize)]
struct Differences {
    /// Without forfeited matches, a draw being half a win.
    score: Option<Difference>,
    /// By Bradley and Terry.
    rating: Option<Difference>,
    /// As shares of the matches played.
    technical_losses: Option<Difference>,
    mean_answer_ms: Option<i64>,
}

impl Earlier {
    /// The player of this league beside who it was in the earlier one.
    pub(super) fn compare(
        &self,
        now: PlayerView,
        results: &Results,
        settings: &Resampling,
    ) -> Result<Value> {
        let league_id = self.league.settings.league_id.clone();
        let before = of_league(&self.league);
        // A manager tells the game of a league with its first match.
        if before.game != results.game && !results.game.is_empty() {
            let old = &before.game;
            let new = &results.game;
            bail!(
                "--since: {league_id} is a league of {old}, and this one is of {new}: name one of {new}"
            );
        }
        let player = player_of_league(&self.league, &self.find(&now, &before)?, settings)?;
        let differences = Differences::between((&player, &before), (&now, results));
        let known_by = self.known.by();
        Ok(serde_json::to_value(Changed {
            now,
            since: Since {
                league_id,
                known_by,
                player,
                differences,
            },
        })?)
    }

    /// The id that the player had in the earlier league.
    fn find(&self, now: &PlayerView, before: &Results) -> Result<String> {
        let league_id = &self.league.settings.league_id;
        let id = now.known.player_id.to_string();
        let name = now.known.display_name.escaped().to_string();
        let player = Entrant {
            rank: now.known.stats.rank,
            id: id.clone(),
            name: name.clone(),
        };
        match (
            same(&player, before, self.known.by()).as_slice(),
            self.known.by(),
        ) {
            ([one], _) => Ok(one.id.clone()),
            ([], KnownBy::Id) => bail!(
                "--since: {league_id} has no player {id}: it has {}",
                listed(before)
            ),
            ([], KnownBy::Name) => bail!(
                "--since: no player of {league_id} is called {name}, as {id} is here: it has {}; --known-by id goes by \
                 ids instead",
                listed(before)
            ),
            (several, _) => {
                let ids: Vec<&str> = several.iter().map(|player| player.id.as_str()).collect();
                let ids = ids.join(", ");
                bail!(
                    "--since: {league_id} has {} players called {name}, {ids}: --known-by id goes by ids instead",
                    several.len()
                )
            }
        }
    }
}

fn listed(results: &Results) -> String {
    let players = results
        .players
        .iter()
        .map(|player| format!("{} {}", player.id, player.name));
    // By their ids, rather than as they stand in the table.
    players
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(", ")
}

impl Differences {
    fn between(earlier: (&PlayerView, &Results), now: (&PlayerView, &Results)) -> Self {
        let [(before, old), (after, new)] = [earlier, now];
        let records = record(before).zip(record(after));
        let [old_id, new_id] = [before, after].map(|player| player.known.player_id.as_str());
        let technical = |player: &PlayerView| {
            [
                player.known.stats.technical_losses,
                player.known.stats.played,
            ]
        };
        let answer = |player: &PlayerView| player.known.stats.mean_answer_ms.map(i64::from);
        Self {
            score: records.and_then(|(before, after)| Difference::of_scores(before, after)),
            rating: Difference::of_ratings((old, old_id), (new, new_id)),
            technical_losses: Difference::of_shares(technical(before), technical(after)),
            mean_answer_ms: answer(after)
                .zip(answer(before))
                .map(|(after, before)| after - before),
        }
    }
}

fn record(player: &PlayerView) -> Option<Wdl> {
    player
        .statistics
        .as_ref()
        .map(|statistics| statistics.record)
}

/// Then and now beside each other, and what the differences mean.
pub(super) fn for_people(data: &Value) -> Result<String> {
    let Changed { now, since } = serde_json::from_value(data.clone())?;
    let Since {
        league_id,
        known_by,
        player: before,
        differences,
    } = since;
    let both = |show: &dyn Fn(&PlayerView) -> Option<String>| {
        [&before, &now].map(|player| show(player).unwrap_or_else(|| "-".to_owned()))
    };
    let rating = |player: &PlayerView| {
        player
            .statistics
            .as_ref()?
            .bradley_terry
            .map(|of| whole(of.rating))
    };
    let technical = |player: &PlayerView| {
        let stats = &player.known.stats;
        Some(format!("{} of {}", stats.technical_losses, stats.played))
    };
    let answer = |player: &PlayerView| {
        player
            .known
            .stats
            .mean_answer_ms
            .map(|ms| format!("{ms} ms"))
    };
    let Differences {
        score,
        rating: strength,
        technical_losses,
        mean_answer_ms,
    } = differences;
    let rows = [
        row(
            "rank",
            both(&|player| Some(player.known.stats.rank.to_string())),
            None,
        ),
        row(
            "played out",
            both(&|player| record(player).map(|record| record.total().to_string())),
            None,
        ),
        row(
            "score rate",
            both(&|player| elo::score(record(player)?).map(share)),
            score.map(in_shares),
        ),
        row("rating", both(&rating), strength.map(in_points)),
        row(
            "technical losses",
            both(&technical),
            technical_losses.map(in_shares),
        ),
        row(
            "mean answer",
            both(&answer),
            mean_answer_ms.map(|ms| [format!("{ms:+} ms"), "-".to_owned()]),
        ),
    ];
    let name = format!(
        "{} {}",
        now.known.player_id,
        now.known.display_name.escaped()
    );
    let table = table(
        &[&name, league_id.as_str(), "NOW", "DIFFERENCE", "95 %"],
        &rows,
    );
    let verdicts = [
        verdict("Score rate", score, "higher", "lower"),
        verdict("Rating", strength, "higher", "lower"),
        verdict("Technical losses", technical_losses, "more", "fewer"),
    ];
    let was = format!(
        "{} {}",
        before.known.player_id,
        before.known.display_name.escaped()
    );
    let by = match known_by {
        KnownBy::Name => "name (--known-by id: by its id)",
        KnownBy::Id => "id (--known-by name: by its name)",
    };
    Ok(format!(
        "{table}\n\n{}\nIntervals: Newcombe's for score rate and technical losses, the normal approximation for the rating.\n\
         It was {was} in {league_id}, known by its {by}.",
        verdicts.join("\n")
    ))
}

fn row(name: &str, [then, now]: [String; 2], difference: Option<[String; 2]>) -> Vec<String> {
    let [difference, interval] = difference.unwrap_or_else(|| ["-".to_owned(), "-".to_owned()]);
    vec![name.to_owned(), then, now, difference, interval]
}

fn share(share: f64) -> String {
    format!("{share:.2}")
}

fn whole(rating: f64) -> String {
    format!("{rating:.0}")
}

fn in_shares(difference: Difference) -> [String; 2] {
    signed(difference, 2)
}

fn in_points(difference: Difference) -> [String; 2] {
    signed(difference, 0)
}

fn signed(
    Difference {
        difference,
        low,
        high,
    }: Difference,
    digits: usize,
) -> [String; 2] {
    let text = |value: f64| format!("{value:+.digits$}");
    [text(difference), format!("{} to {}", text(low), text(high))]
}

/// Whether a difference is more than luck, in a sentence.
fn verdict(what: &str, difference: Option<Difference>, more: &str, less: &str) -> String {
    match difference {
        None => format!("{what}: not known in both leagues, so there is nothing to tell."),
        Some(found) if found.can_be_luck() => {
            format!("{what}: can be luck, the interval contains 0.")
        }
        Some(found) => {
            let way = if found.difference > 0.0 { more } else { less };
            format!("{what}: {way} than luck alone explains, the interval does not contain 0.")
        }
    }
}
