//! `matchday season`: creates, lists, shows and steers the seasons of a service, by its HTTP API.

use super::league::{codes_file, read_roster, template_texts, write_codes};
use super::service_api::{ServiceArg, cell, print};
use super::settings::LeagueFlags;
use anyhow::{Result, bail};
use clap::Args;
use matchday_runtime::routes::ServiceRoute;
use matchday_server::service::api_types::{
    CreateSeason, CreatedSeason, SeasonDetails, SeasonList, SeasonState, SeasonSummary,
    StartedLeague,
};
use matchday_terminal::{headed, say, table};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday season create nightly --schedule '0 22 * * *' --time-zone Europe/Berlin --template course.toml
  matchday player --manager http://localhost:8000/leagues/nightly/mcp     # plays every night
  matchday season run nightly                # the next league now
  matchday season show nightly

A schedule has the five fields of a crontab line: minute, hour, day, month, weekday; or
it lists local times, as in '2026-03-02T20:00 2026-03-09T20:00', and ends after the last.
Without one, leagues start on demand.";

#[derive(Debug, Args)]
pub(super) struct SeasonArgs {
    #[command(flatten)]
    service: ServiceArg,
    /// Print as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: SeasonCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SeasonCommand {
    /// Create a season with its first league; tokens and codes are shown only once
    Create(CreateArgs),
    /// List the seasons that you may see
    List,
    /// Show a season: its table, and its leagues
    Show { name: String },
    /// Start the current league now
    #[command(visible_alias = "run-now")]
    Run { name: String },
    /// Start no league by schedule until the season is resumed
    Pause { name: String },
    /// Continue the schedule
    Resume { name: String },
    /// End a season: a league that has not started is removed, one that is being played is finished
    End { name: String },
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What the season is called; its leagues are NAME_1, NAME_2 and so on
    #[arg(value_name = "NAME")]
    name: String,
    /// When leagues start, as in a crontab: '0 22 * * mon-fri', or local times [default: on demand]
    #[arg(long, value_name = "FIELDS")]
    schedule: Option<String>,
    /// The time zone of the schedule, such as Europe/Berlin
    #[arg(long, value_name = "NAME", default_value = "UTC")]
    time_zone: String,
    /// A configuration file whose section `league` holds the settings of every league
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    #[command(flatten)]
    settings: LeagueFlags,
}

pub(super) async fn execute(args: SeasonArgs) -> Result<ExitCode> {
    let SeasonArgs {
        service,
        json,
        command,
    } = args;
    let (order, name) = match command {
        SeasonCommand::Create(create_args) => return create(&service, create_args, json).await,
        SeasonCommand::List => {
            let listed: SeasonList = service.call(ServiceRoute::ListSeasons, "").await?;
            return print(json, &listed, list_text);
        }
        SeasonCommand::Show { name } => {
            let season: SeasonDetails = service.call(ServiceRoute::ShowSeason, &name).await?;
            return print(json, &season, details_text);
        }
        SeasonCommand::Run { name } => {
            let started: StartedLeague = service.call(ServiceRoute::RunSeason, &name).await?;
            return print(json, &started, |started| {
                let early = started.scheduled_at.map_or_else(String::new, |at| {
                    format!(", by its schedule it would have at {at}")
                });
                format!("{}: {} has started{early}", started.name, started.league_id)
            });
        }
        SeasonCommand::Pause { name } => (ServiceRoute::PauseSeason, name),
        SeasonCommand::Resume { name } => (ServiceRoute::ResumeSeason, name),
        SeasonCommand::End { name } => (ServiceRoute::EndSeason, name),
    };
    let season: SeasonSummary = service.call(order, &name).await?;
    print(json, &season, |season| {
        format!("{}: {}", season.address.name, cell(&season.state))
    })
}

async fn create(service: &ServiceArg, args: CreateArgs, as_json: bool) -> Result<ExitCode> {
    let CreateArgs {
        name,
        schedule,
        time_zone,
        template,
        settings,
    } = args;
    let (settings, roster) = template_texts(template, settings)?;
    let roster = roster
        .map(|pattern| read_roster(&pattern, &name))
        .transpose()?;
    // Before anything is created, so that no codes are lost.
    if roster.is_some() && codes_file(&name).exists() {
        bail!(
            "{} exists already: move it away before you create the season",
            codes_file(&name).display()
        );
    }
    let body = CreateSeason {
        name,
        schedule,
        time_zone: Some(time_zone),
        settings,
        roster,
    };
    let created: CreatedSeason = service.send(ServiceRoute::CreateSeason, "", &body).await?;
    if as_json {
        return print(true, &created, |_| String::new());
    }
    let CreatedSeason { address, secrets } = &created;
    if !secrets.join_codes.is_empty() {
        write_codes(&body.name, &secrets.join_codes)?;
        say(format!(
            "join codes are in {}",
            codes_file(&body.name).display()
        ));
    }
    say(format!(
        "players register at {}; the table is at {}",
        address.url, address.page
    ));
    if let Some(token) = &secrets.operator_token {
        say(format!(
            "operator token of all its leagues, shown only once: {token}"
        ));
    }
    if let Some(code) = &secrets.referee_code {
        let base = address.url.trim_end_matches("mcp");
        say(format!(
            "referees of others are started with --manager {base}join/{code}/mcp"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn list_text(listed: &SeasonList) -> String {
    if listed.seasons.is_empty() {
        return "no season yet: create one with `matchday season create NAME`".to_owned();
    }
    let row = |season: &SeasonSummary| {
        vec![
            season.address.name.to_string(),
            season.game_type.to_string(),
            cell(&season.state),
            cell(&season.schedule),
            season.time_zone.clone(),
            cell(&season.starts_at),
            cell(&season.current_league),
            season.leagues_played.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = listed.seasons.iter().map(row).collect();
    headed(&table(
        &[
            "SEASON",
            "GAME",
            "STATE",
            "SCHEDULE",
            "TIME ZONE",
            "NEXT START",
            "LEAGUE",
            "PLAYED",
        ],
        &rows,
    ))
}

/// The season in words.
fn about(season: &SeasonSummary) -> String {
    let or = |text: &Option<String>, nothing: &str| text.clone().unwrap_or(nothing.to_owned());
    let current = season.current_league.as_ref().map(ToString::to_string);
    let starts_at = season.starts_at.map(|at| at.to_string());
    let next = match (&starts_at, season.state) {
        (Some(at), _) => at.clone(),
        (None, SeasonState::Ended) => "never: the season has ended".to_owned(),
        (None, SeasonState::Paused) => "when it is resumed".to_owned(),
        (None, SeasonState::Active) if season.is_playing => {
            "after the league that is being played".to_owned()
        }
        (None, SeasonState::Active) => {
            format!("on demand: `matchday season run {}`", season.address.name)
        }
    };
    let mut rows = vec![
        ("season", season.address.name.to_string()),
        ("game", season.game_type.to_string()),
        ("state", cell(&season.state)),
        ("agents register at", season.address.url.clone()),
        ("page", season.address.page.clone()),
        ("schedule", or(&season.schedule, "none: on demand")),
        ("time zone", season.time_zone.clone()),
        ("league", or(&current, "none")),
        ("next start", next),
        ("leagues played", season.leagues_played.to_string()),
    ];
    let skipped = season
        .skipped
        .clone()
        .map(|why| ("last start skipped", why));
    rows.extend(skipped);
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(what, value)| vec![what.to_owned(), value])
        .collect();
    let table = table(&["", ""], &rows);
    table
        .split_once('\n')
        .map_or_else(String::new, |(_, rows)| rows.to_owned())
}

/// The season, then its table.
fn details_text(season: &SeasonDetails) -> String {
    let about = about(&season.summary);
    if season.table.is_empty() {
        return format!("{about}\nno league of the season is over yet");
    }
    let rows: Vec<Vec<String>> = (1..)
        .zip(&season.table)
        .map(|(rank, row)| row.cells(rank).to_vec())
        .collect();
    let headers = [
        "RANK", "PLAYER", "LEAGUES", "PLAYED", "WON", "DRAWN", "LOST", "POINTS", "RATING", "95 %",
    ];
    format!("{about}\n{}", headed(&table(&headers, &rows)))
}
