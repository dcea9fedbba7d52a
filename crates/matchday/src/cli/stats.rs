//! `matchday stats`: what a league's results mean, how a player has done, how a referee has. Asks a manager, or reads a
//! store.

use super::Usage;
use super::league_arg::LeagueArg;
use super::query::{QueryArgs, show, shown};
use super::since::{self, Earlier, SinceArg};
use super::store_arg::AgentAndStoreArg;
use super::stored_leagues::{self, KnownArg};
use super::watch;
use crate::manager_client::{ManagerClient, in_our_form};
use anyhow::{Result, anyhow, bail};
use matchday_audit::exploitability::{self, Exploitability};
use matchday_audit::fallbacks::{self, Fallbacks};
use matchday_audit::fix;
use matchday_audit::league_log::LeagueLog;
use matchday_audit::league_view::PlayerName;
use matchday_audit::llm_usage::{self, LlmUsage};
use matchday_audit::log_set::LogSet;
use matchday_audit::statistics::{of_answers, of_league, statistics, statistics_of_answers};
use matchday_core::league::League;
use matchday_core::protocol::messages::Record;
use matchday_core::protocol::messages::query::Lifecycle;
use matchday_core::protocol::messages::query_data::{
    PlayerStatsData, RefereeListing, RefereesData, ScheduleData, StandingsData,
};
use matchday_core::protocol::{LeagueId, PlayerId};
use matchday_core::protocol::{Query, QueryParams};
use matchday_stats::head_to_head::HeadToHead;
use matchday_stats::league::PlayerStatistics;
use matchday_stats::{LeagueStatistics, Resampling, Results};
use matchday_store::{Store, StoreError, StoreUrl};
use matchday_terminal::{headed, say, statistics as words, table};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday stats                      (the whole league: ratings, and how much of the table is luck)
  matchday stats P01
  matchday stats P01 --against P02    (which of the two is better, and how sure that is)
  matchday stats P01 autumn.db --since spring.db
  matchday stats P01 season.db --since season.db --since-league spring_1
  matchday stats REF01
  matchday stats league.db --json
  matchday stats season.db --carry-over   (ratings over all leagues of the file)

What the figures mean, for people who have not studied statistics: docs/statistics.md";

#[derive(Debug, clap::Args)]
pub(super) struct StatsArgs {
    #[command(flatten)]
    of: AgentAndStoreArg,
    /// Compare the player with this one
    #[arg(long, value_name = "PLAYER")]
    against: Option<String>,
    #[command(flatten)]
    since: SinceArg,
    /// Stores of players beside it, with commas: why their strategies failed, and what their models used
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    player_stores: Vec<StoreUrl>,
    #[command(flatten)]
    league: LeagueArg,
    /// Show ratings over all leagues of the store
    #[arg(long, conflicts_with = "league")]
    carry_over: bool,
    #[command(flatten)]
    known: KnownArg,
    /// Where the chance of simulated leagues comes from; the same number gives the same figures again
    #[arg(long, value_name = "N", default_value_t = Resampling::default().seed)]
    seed: u64,
    #[command(flatten)]
    query: QueryArgs,
}

impl StatsArgs {
    /// Whether the options fit what is named.
    fn check(&self, has_agent: bool, has_store: bool) -> Result<()> {
        let why = match () {
            () if self.against.is_some() && !has_agent => {
                "--against: name the player to compare, such as P01"
            }
            () if self.since.is_given() && (!has_agent || self.against.is_some()) => {
                "--since: name one player to compare with itself, such as P01"
            }
            () if !has_store && self.carry_over => "--carry-over: name the store of the leagues",
            () if !has_store && !self.player_stores.is_empty() => {
                "--player-stores: name the store of the league"
            }
            () if self.carry_over && has_agent => {
                "--carry-over: shows all players of all leagues: leave the agent out"
            }
            () => return Ok(()),
        };
        Err(Usage(why.to_owned()).into())
    }
}

/// The subject of the command.
enum Subject<'a> {
    League,
    Player(&'a str),
    Since(&'a str, &'a Earlier),
    Pair(&'a str, &'a str),
    Referee(&'a str),
}

impl Subject<'_> {
    /// Whether it is about this player.
    fn names(&self, id: &str) -> bool {
        match self {
            Self::League => true,
            Self::Player(wanted) | Self::Since(wanted, _) => id == *wanted,
            Self::Pair(first, second) => id == *first || id == *second,
            Self::Referee(_) => false,
        }
    }
}

/// A player's record, and what it means.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PlayerView {
    #[serde(flatten)]
    pub(super) known: PlayerStatsData,
    pub(super) statistics: Option<PlayerStatistics>,
}

pub(super) async fn execute(args: StatsArgs) -> Result<ExitCode> {
    let settings = Resampling {
        seed: args.seed,
        ..Resampling::default()
    };
    let (agent, store) = args.of.split()?;
    args.check(agent.is_some(), store.is_some())?;
    let earlier = args.since.open(args.known)?;
    let subject = match agent {
        None => Subject::League,
        Some(player) if args.against.is_some() => {
            Subject::Pair(player, args.against.as_deref().unwrap_or_default())
        }
        Some(referee) if referee.starts_with("REF") && earlier.is_none() => {
            Subject::Referee(referee)
        }
        Some(player) => match &earlier {
            Some(earlier) => Subject::Since(player, earlier),
            None => Subject::Player(player),
        },
    };
    let for_people = |data: &Value| {
        let text = match subject {
            Subject::League => {
                words::league(&serde_json::from_value(data.clone())?, &strategies(data))
            }
            Subject::Player(_) => player_table(data)?,
            Subject::Since(..) => since::for_people(data)?,
            Subject::Pair(..) => words::head_to_head(&serde_json::from_value(data.clone())?),
            Subject::Referee(_) => referee_table(data)?,
        };
        Ok(headed(&text) + &of_players(data))
    };
    let Some(file) = &store else {
        let ask = async |client: &ManagerClient| {
            let mut data = asked(client, &subject, &settings).await?;
            add_strategies(&mut data, watch::strategies(client).await, &subject)?;
            Ok(data)
        };
        return show(&args.query, ask, for_people).await;
    };
    if args.carry_over {
        let stored = stored_leagues::stored(file)?;
        let ratings = stored_leagues::careers(&stored, args.known);
        let data = json!({ "known_by": args.known.by(), "ratings": ratings });
        let for_people = |_: &Value| Ok(stored_leagues::ratings_for_people(&ratings, args.known));
        say(shown(&args.query, &data, for_people)?);
        return Ok(ExitCode::SUCCESS);
    }
    let league = stored(file, args.league.id().as_ref())?;
    let mut data = match subject {
        Subject::League => serde_json::to_value(statistics(&league, &settings))?,
        Subject::Player(id) => serde_json::to_value(player_of_league(&league, id, &settings)?)?,
        Subject::Since(id, earlier) => earlier.compare(
            player_of_league(&league, id, &settings)?,
            &of_league(&league),
            &settings,
        )?,
        Subject::Pair(first, second) => head_to_head(&of_league(&league), first, second)?,
        Subject::Referee(id) => referee_of(league.referee_listings(), id)?,
    };
    let files: Vec<_> = std::iter::once(file)
        .chain(&args.player_stores)
        .cloned()
        .collect();
    let (failed, used) = own_records(&files, args.league.id().as_ref(), &subject);
    add_strategies(&mut data, strategies_of(&league), &subject)?;
    let mut exploitable = exploitability::of_players(&league);
    exploitable.retain(|id, _| subject.names(id));
    if let Some(data) = data.as_object_mut() {
        for (name, found) in [
            (FAILED, serde_json::to_value(&failed)?),
            (USED, serde_json::to_value(&used)?),
            (EXPLOITABLE, serde_json::to_value(&exploitable)?),
        ] {
            if found.as_object().is_some_and(|found| !found.is_empty()) {
                data.insert(name.to_owned(), found);
            }
        }
    }
    say(shown(&args.query, &data, for_people)?);
    Ok(ExitCode::SUCCESS)
}

pub(super) fn stored(store: &StoreUrl, league_id: Option<&LeagueId>) -> Result<League, StoreError> {
    Ok(LeagueLog::load(&Store::open_read_only(store)?.choose(league_id)?)?.league)
}

/// Under which name the players stand whose own strategy failed.
const FAILED: &str = "strategies_failed";

/// Under which name it stands what players say that they play by.
const STRATEGIES: &str = "strategies";

/// Under which name it stands what the models of players used.
const USED: &str = "llm_usage";

/// Under which name it stands what players give away to an opponent that sees through them.
const EXPLOITABLE: &str = "exploitability";

/// The players whose own strategy failed, and what their models used, as far as their own events are in the stores. Whether
/// they fit the league is for `verify` to say.
fn own_records(
    stores: &[StoreUrl],
    league_id: Option<&LeagueId>,
    subject: &Subject<'_>,
) -> (BTreeMap<String, Fallbacks>, BTreeMap<String, LlmUsage>) {
    let Ok(stored) = LogSet::open_league(stores, league_id) else {
        return Default::default();
    };
    let mut failed = fallbacks::of_players(&stored.players);
    failed.retain(|id, _| subject.names(id));
    let mut used = llm_usage::of_players(&stored.players);
    used.retain(|id, _| subject.names(id));
    (failed, used)
}

fn strategies_of(league: &League) -> BTreeMap<String, String> {
    let names = league.players.keys();
    let names = names.map(|id| PlayerName::of(league, id));
    names
        .filter_map(|name| Some((name.id, name.strategy?)))
        .collect()
}

/// Adds those of the players that are asked about.
fn add_strategies(
    data: &mut Value,
    mut strategies: BTreeMap<String, String>,
    subject: &Subject<'_>,
) -> Result<()> {
    match subject {
        Subject::League => {}
        Subject::Player(wanted) => strategies.retain(|id, _| id == wanted),
        Subject::Since(..) | Subject::Pair(..) | Subject::Referee(_) => return Ok(()),
    }
    if let Some(data) = data.as_object_mut()
        && !strategies.is_empty()
    {
        data.insert(STRATEGIES.to_owned(), serde_json::to_value(strategies)?);
    }
    Ok(())
}

fn strategies(data: &Value) -> BTreeMap<String, String> {
    let found = data.get(STRATEGIES).cloned().unwrap_or_default();
    serde_json::from_value(found).unwrap_or_default()
}

fn of_players(data: &Value) -> String {
    let failed = data.get(FAILED).cloned().unwrap_or_default();
    let failed: BTreeMap<String, Fallbacks> = serde_json::from_value(failed).unwrap_or_default();
    let used: BTreeMap<String, LlmUsage> =
        serde_json::from_value(data.get(USED).cloned().unwrap_or_default()).unwrap_or_default();
    let failed = failed
        .iter()
        .map(|(id, failed)| format!("\n{id}: {}", failed.sentence()));
    let exploitable: BTreeMap<String, Exploitability> =
        serde_json::from_value(data.get(EXPLOITABLE).cloned().unwrap_or_default())
            .unwrap_or_default();
    let facts = exploitable.iter().flat_map(|(id, found)| {
        let told =
            move |(name, fact): (&str, String)| format!("\n{id}: {}: {fact}", name.to_lowercase());
        found.facts().into_iter().map(told)
    });
    facts
        .chain(failed)
        .chain(
            used.iter()
                .map(|(id, used)| format!("\n{id}: {}", used.sentence())),
        )
        .collect()
}

/// The manager's data, and the statistics of it.
async fn asked(
    client: &ManagerClient,
    subject: &Subject<'_>,
    settings: &Resampling,
) -> Result<Value> {
    match subject {
        Subject::League => {
            let (standings, schedule) = answers(client).await?;
            let statistics = statistics_of_answers(&standings, &schedule, settings);
            Ok(serde_json::to_value(statistics)?)
        }
        Subject::Player(id) => {
            let known = player_stats(client, PlayerId::new(*id)).await?;
            let (standings, schedule) = answers(client).await?;
            let statistics = statistics_of_answers(&standings, &schedule, settings);
            Ok(serde_json::to_value(player_view(known, statistics))?)
        }
        Subject::Since(id, earlier) => {
            let known = player_stats(client, PlayerId::new(*id)).await?;
            let (standings, schedule) = answers(client).await?;
            let statistics = statistics_of_answers(&standings, &schedule, settings);
            let now = player_view(known, statistics);
            earlier.compare(now, &of_answers(&standings, &schedule), settings)
        }
        Subject::Pair(first, second) => {
            let (standings, schedule) = answers(client).await?;
            head_to_head(&of_answers(&standings, &schedule), first, second)
        }
        Subject::Referee(id) => {
            let referees = client
                .query(Query::Referees, QueryParams::default())
                .await?;
            referee_of(in_our_form("referees", referees)?, id)
        }
    }
}

async fn player_stats(client: &ManagerClient, player: PlayerId) -> Result<PlayerStatsData> {
    let params = QueryParams {
        player_id: Some(player),
        ..QueryParams::default()
    };
    in_our_form(
        "statistics",
        client.query(Query::PlayerStats, params).await?,
    )
}

async fn answers(client: &ManagerClient) -> Result<(StandingsData, ScheduleData)> {
    let standings = in_our_form("standings", client.standings().await?)?;
    let schedule = in_our_form("schedule", client.schedule(None).await?)?;
    Ok((standings, schedule))
}

fn head_to_head(results: &Results, first: &str, second: &str) -> Result<Value> {
    match HeadToHead::of(results, first, second) {
        Some(found) => Ok(serde_json::to_value(found)?),
        None => {
            let known: Vec<&str> = results
                .players
                .iter()
                .map(|player| player.id.as_str())
                .collect();
            let unknown = [first, second]
                .into_iter()
                .find(|id| !known.contains(id))
                .unwrap_or(first);
            bail!("no player {unknown}: the league has {}", known.join(", "))
        }
    }
}

pub(super) fn player_of_league(
    league: &League,
    id: &str,
    settings: &Resampling,
) -> Result<PlayerView> {
    let known = league.player_stats(&PlayerId::new(id)).ok_or_else(|| {
        let known: Vec<&str> = league.players.keys().map(PlayerId::as_str).collect();
        match known.as_slice() {
            [] => anyhow!("no player {id}: none has registered yet"),
            known => anyhow!("no player {id}: the league has {}", known.join(", ")),
        }
    })?;
    Ok(player_view(known, statistics(league, settings)))
}

fn player_view(known: PlayerStatsData, league: LeagueStatistics) -> PlayerView {
    let id = known.player_id.as_str();
    let statistics = league
        .players
        .into_iter()
        .find(|player| player.player_id == id);
    PlayerView { known, statistics }
}

fn player_table(data: &Value) -> Result<String> {
    let PlayerView { known, statistics } = serde_json::from_value(data.clone())?;
    let PlayerStatsData {
        player_id,
        display_name,
        state,
        left,
        stats,
    } = known;
    let rate = |count: u32, rate: Option<f64>| match rate {
        Some(rate) => format!("{count} ({:.0} %)", rate * 100.0),
        None => count.to_string(),
    };
    let against = stats.against.iter().map(|(player, record)| {
        let Record {
            wins,
            draws,
            losses,
        } = record;
        format!("{player} {wins}-{draws}-{losses}")
    });
    let answer = stats
        .mean_answer_ms
        .map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
    let technical = if stats.technical_causes.is_empty() {
        stats.technical_losses.to_string()
    } else {
        format!(
            "{} ({})",
            stats.technical_losses,
            counted(&stats.technical_causes)
        )
    };
    let strategy = strategies(data).remove(player_id.as_str());
    let mut rows = vec![
        (
            "rank",
            if stats.played == 0 && stats.rank == 1 {
                "-".to_owned()
            } else {
                stats.rank.to_string()
            },
        ),
        ("points", stats.points.to_string()),
        ("played", stats.played.to_string()),
        ("won", rate(stats.wins, stats.win_rate)),
        ("drawn", rate(stats.draws, stats.draw_rate)),
        ("lost", rate(stats.losses, stats.loss_rate)),
        ("technical losses", technical),
        ("mean answer", answer),
        ("choices", counted(&stats.choices)),
        (
            "won-drawn-lost against",
            against.collect::<Vec<_>>().join(", "),
        ),
        ("deviations", counted(&stats.deviations)),
    ];
    rows.extend(state.map(|state| ("state", in_words(state, left))));
    rows.extend(statistics.iter().flat_map(words::player_rows));
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect();
    let name = words::named(display_name.raw(), strategy.as_ref());
    let mut table = table(&[player_id.as_str(), &name], &rows);
    table.push_str(&fixes(&stats.deviations));
    Ok(match &statistics {
        Some(player) => format!("{table}\n\n{}", player.sentence),
        None => table,
    })
}

/// One referee of the list of all.
fn referee_of(RefereesData { referees }: RefereesData, wanted: &str) -> Result<Value> {
    let known: Vec<_> = referees
        .iter()
        .map(|referee| referee.referee_id.as_str())
        .collect();
    match referees
        .iter()
        .find(|referee| referee.referee_id.as_str() == wanted)
    {
        Some(referee) => Ok(serde_json::to_value(referee)?),
        None if known.is_empty() => bail!("no referee {wanted}: none has registered yet"),
        None => bail!("no referee {wanted}: the league has {}", known.join(", ")),
    }
}

fn referee_table(data: &Value) -> Result<String> {
    let referee: RefereeListing = serde_json::from_value(data.clone())?;
    let lost = format!("{} of {}", referee.attempts_lost, referee.attempts);
    let rows = [
        ("version", referee.version),
        ("state", in_words(referee.state, referee.left)),
        ("matches decided", referee.matches_decided.to_string()),
        ("attempts lost", lost),
        ("deviations", counted(&referee.deviations)),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect();
    let table = table(
        &[referee.referee_id.as_str(), referee.display_name.raw()],
        &rows,
    );
    Ok(table + &fixes(&referee.deviations))
}

/// Where an agent is in its life with the league.
fn in_words(state: Lifecycle, left: bool) -> String {
    let name = serde_json::to_value(state).ok();
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    if left {
        format!("{name} (left: it did not come back)")
    } else {
        name.to_owned()
    }
}

/// How to fix each deviation, as the dashboard says it.
fn fixes(deviations: &BTreeMap<String, u32>) -> String {
    let known = deviations
        .keys()
        .filter_map(|what| Some((what, fix::of_deviation(what)?)));
    let lines: Vec<_> = known
        .map(|(what, fix)| format!("\n{what}: {fix}"))
        .collect();
    let gap = if lines.is_empty() { "" } else { "\n" };
    format!("{gap}{}", lines.concat())
}

/// How often each thing was seen, on one line.
fn counted(counts: &BTreeMap<String, u32>) -> String {
    counts
        .iter()
        .map(|(what, count)| format!("{what} {count}"))
        .collect::<Vec<_>>()
        .join(", ")
}
