//! `matchday compare`: the same players in two leagues. Reads two stores, or two leagues of one.

use super::leagues::KnownArg;
use super::store_arg::TwoStoresArg;
use crate::statistics::of_league;
use crate::view::{headed, say, table};
use anyhow::Result;
use clap::Args;
use matchday_core::league::League;
use matchday_core::protocol::{LeagueId, PlayerId};
use matchday_stats::Resampling;
use matchday_stats::contrast::{self, Contrast, Side};
use matchday_stats::sentences::percent;
use matchday_store::Store;
use matchday_store::league_log::LeagueLog;
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday compare spring.db autumn.db
  matchday compare season.db --league-a spring_1 --league-b spring_2
  matchday compare before.db after.db --json

Ratings are by Bradley and Terry, each league's average being 1500: a difference says how a player
stands among the others of its league, and so means most where these are the same.
What the figures mean: docs/statistics.md";

#[derive(Debug, Args)]
pub(super) struct CompareArgs {
    #[command(flatten)]
    stores: TwoStoresArg,
    /// Which league of A [default: the latest]
    #[arg(long, value_name = "ID")]
    league_a: Option<String>,
    /// Which league of B [default: the latest]
    #[arg(long, value_name = "ID")]
    league_b: Option<String>,
    #[command(flatten)]
    known: KnownArg,
    /// Where the chance of simulated leagues comes from; the same number gives the same figures again
    #[arg(long, value_name = "N", default_value_t = Resampling::default().seed)]
    seed: u64,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// One player in both leagues, with what only the managers know.
#[derive(Debug, Serialize)]
struct Compared {
    #[serde(flatten)]
    contrast: Contrast,
    first_conduct: Option<Conduct>,
    second_conduct: Option<Conduct>,
}

/// How a player has behaved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Conduct {
    mean_answer_ms: Option<u32>,
    technical_losses: u32,
}

pub(super) fn execute(args: CompareArgs) -> Result<ExitCode> {
    let [a, b] = args.stores.both(args.league_a != args.league_b)?;
    let first = stored(a, args.league_a.as_deref())?;
    let second = stored(b, args.league_b.as_deref())?;
    let compared = compare(&first, &second, &args);
    let ids = [&first, &second].map(|league| league.settings.league_id.to_string());
    let warnings = warnings(&first, &second, &compared);
    if args.json {
        let data = json!({
            "leagues": ids,
            "known_by": args.known.by(),
            "players": compared,
            "warnings": warnings,
        });
        say(serde_json::to_string_pretty(&data)?);
    } else {
        say(for_people(&ids, &compared, &warnings, args.known));
    }
    Ok(ExitCode::SUCCESS)
}

fn stored(file: &Path, league: Option<&str>) -> Result<League> {
    let league = league.map(LeagueId::new);
    Ok(LeagueLog::load(&Store::open_read_only(file)?.choose(league.as_ref())?)?.league)
}

fn compare(first: &League, second: &League, args: &CompareArgs) -> Vec<Compared> {
    let settings = Resampling { seed: args.seed, ..Resampling::default() };
    let all = contrast::contrast(&of_league(first), &of_league(second), args.known.by(), &settings);
    let with_conduct = all.into_iter().map(|contrast| Compared {
        first_conduct: conduct(first, contrast.first.as_ref()),
        second_conduct: conduct(second, contrast.second.as_ref()),
        contrast,
    });
    with_conduct.collect()
}

fn conduct(league: &League, side: Option<&Side>) -> Option<Conduct> {
    let stats = league.player_stats(&PlayerId::new(side?.player_id.as_str()))?.stats;
    Some(Conduct { mean_answer_ms: stats.mean_answer_ms, technical_losses: stats.technical_losses })
}

/// What makes a comparison mean less than it seems to.
fn warnings(first: &League, second: &League, compared: &[Compared]) -> Vec<String> {
    let mut warnings = Vec::new();
    let games = [first, second].map(|league| league.settings.game_type.as_str());
    let [one, other] = games;
    if one != other {
        warnings.push(format!("the leagues are of different games: {one} and {other}"));
    }
    let both = |one: &&Compared| one.contrast.first.is_some() && one.contrast.second.is_some();
    let common = compared.iter().filter(both).count();
    match common {
        0 => warnings.push("no player was in both leagues: try --known-by".to_owned()),
        some if some < compared.len() => {
            let alone = compared.len() - some;
            warnings.push(format!("{alone} of {} players were in one of the leagues only", compared.len()));
        }
        _ => {}
    }
    warnings
}

fn for_people(ids: &[String; 2], compared: &[Compared], warnings: &[String], known: KnownArg) -> String {
    let [first, second] = ids;
    let rows: Vec<Vec<String>> = compared.iter().map(row).collect();
    let headers = [
        "PLAYER",
        "RANK",
        "",
        "POINTS",
        "",
        "RATING",
        "",
        "DIFFERENCE",
        "95 %",
        "BY CHANCE",
        "ANSWER",
        "",
        "TECHNICAL LOSSES",
        "",
    ];
    let mut text = format!(
        "A is {first}, B is {second}; each pair of columns is A and B\n\n{}\n\n{}",
        headed(&table(&headers, &rows)),
        verdict(compared)
    );
    for warning in warnings {
        text.push_str(&format!("\nNote: {warning}."));
    }
    format!("{text}\n{}", known.words())
}

fn row(compared: &Compared) -> Vec<String> {
    let Contrast { player, first, second, difference } = &compared.contrast;
    let dash = || "-".to_owned();
    let of_side = |side: &Option<Side>, show: &dyn Fn(&Side) -> String| side.as_ref().map_or_else(dash, show);
    let rank = |side: &Side| side.rank.to_string();
    let points = |side: &Side| side.points.to_string();
    let rating = |side: &Side| side.strength.map_or_else(dash, |strength| format!("{:.0}", strength.rating));
    let answer = |conduct: Option<Conduct>| {
        conduct.and_then(|conduct| conduct.mean_answer_ms).map_or_else(dash, |ms| format!("{ms} ms"))
    };
    let losses =
        |conduct: Option<Conduct>| conduct.map_or_else(dash, |conduct| conduct.technical_losses.to_string());
    let mut cells = vec![player.clone()];
    for show in [&rank as &dyn Fn(&Side) -> String, &points, &rating] {
        cells.extend([of_side(first, show), of_side(second, show)]);
    }
    cells.push(difference.map_or_else(dash, |found| format!("{:+.0}", found.rating)));
    cells.push(difference.map_or_else(dash, |found| format!("{:+.0} to {:+.0}", found.low, found.high)));
    cells.push(difference.map_or_else(dash, |found| percent(found.p_corrected)));
    cells.extend([compared.first_conduct, compared.second_conduct].map(answer));
    cells.extend([compared.first_conduct, compared.second_conduct].map(losses));
    cells
}

/// Whether anything is more than chance, in a sentence.
fn verdict(compared: &[Compared]) -> String {
    let changed = compared.iter().filter_map(|one| {
        let found = one.contrast.difference.filter(|found| found.more_than_chance)?;
        let way = if found.rating > 0.0 { "better" } else { "worse" };
        Some(format!("{} ({way} by about {:.0})", one.contrast.player, found.rating.abs()))
    });
    let changed: Vec<String> = changed.collect();
    match changed.as_slice() {
        [] => "No difference in strength is more than chance would bring about.".to_owned(),
        some => {
            format!("More than chance (below 5 %, corrected for the number of players): {}.", some.join(", "))
        }
    }
}
