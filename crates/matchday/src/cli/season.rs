//! `matchday season`: creates, lists, shows and steers the seasons of a service, by its HTTP API.

use super::Usage;
use super::league::{ServiceArg, codes_file, print, read_roster, show, write_codes};
use super::service_api::{Api, Promised, SOON, WITH_PROGRAM};
use super::settings::LeagueFlags;
use anyhow::{Context, Result, bail};
use clap::Args;
use hyper::Method;
use matchday_server::service::JoinCodeRow;
use matchday_terminal::{headed, say, table};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday season create nightly --schedule '0 22 * * *' --time-zone Europe/Berlin --template course.toml
  matchday player --manager http://localhost:8000/leagues/nightly/mcp     # plays every night
  matchday season run nightly                # the next league now
  matchday season show nightly

A schedule has the five fields of a crontab line: minute, hour, day, month, weekday. Without one, leagues start on demand.";

#[derive(Debug, Args)]
pub(super) struct SeasonArgs {
    #[command(flatten)]
    service: ServiceArg,
    /// Print as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Create a season with its first league; tokens and codes are shown this once
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
    /// Go on with the schedule
    Resume { name: String },
    /// End a season: a league that has not started is removed, one that is played goes on to its end
    End { name: String },
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What the season is called; its leagues are NAME_1, NAME_2 and so on
    #[arg(value_name = "NAME")]
    name: String,
    /// When leagues start, as in a crontab: '0 22 * * mon-fri' [default: on demand]
    #[arg(long, value_name = "FIELDS")]
    schedule: Option<String>,
    /// Where the schedule's times are local, such as Europe/Berlin
    #[arg(long, value_name = "NAME", default_value = "UTC")]
    time_zone: String,
    /// A configuration file whose section `league` holds the settings of every league
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    #[command(flatten)]
    settings: LeagueFlags,
}

pub(super) async fn execute(args: SeasonArgs) -> Result<ExitCode> {
    let api = Api { args: &args.service, base: "seasons" };
    let one = Promised::Text("name");
    let order = |name: &str, order: &str| format!("/{name}/{order}");
    let path = match &args.what {
        What::Create(_) => String::new(),
        What::List => {
            let data = api.call(Method::GET, "", None, Promised::Rows("seasons", "name"), SOON).await?;
            return print(args.json, &data, list);
        }
        What::Show { name } => {
            let data = api.call(Method::GET, &format!("/{name}"), None, one, SOON).await?;
            return print(args.json, &data, shown);
        }
        What::Run { name } => order(name, "run"),
        What::Pause { name } => order(name, "pause"),
        What::Resume { name } => order(name, "resume"),
        What::End { name } => order(name, "end"),
    };
    if let What::Create(create_args) = args.what {
        return create(&api, create_args, args.json).await;
    }
    let data = api.call(Method::POST, &path, None, one, SOON).await?;
    print(args.json, &data, |data| {
        let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
        let state = text("league_id").map(|id| format!("{id} has started")).or_else(|| text("state"));
        [text("name"), state].into_iter().flatten().collect::<Vec<_>>().join(": ")
    })
}

#[derive(Debug, Deserialize)]
struct Created {
    name: String,
    url: String,
    page: String,
    operator_token: Option<String>,
    referee_code: Option<String>,
    join_codes: Vec<JoinCodeRow>,
}

async fn create(api: &Api<'_>, args: CreateArgs, as_json: bool) -> Result<ExitCode> {
    let CreateArgs { name, schedule, time_zone, template, mut settings } = args;
    if let Some(path) = &template {
        std::fs::metadata(path)
            .map_err(|error| Usage(format!("--template: {} cannot be read: {error}", path.display())))?;
    }
    settings.config = template.or(settings.config);
    let mut texts = settings.resolve()?.given_texts();
    let roster = texts.remove("roster").map(|pattern| read_roster(&pattern, &name)).transpose()?;
    // Before anything is created, so that no codes are lost.
    if roster.is_some() && codes_file(&name).exists() {
        bail!("{} exists already: move it away, and create the season then", codes_file(&name).display());
    }
    let body = json!({
        "name": name, "schedule": schedule, "time_zone": time_zone, "settings": texts, "roster": roster,
    });
    let data = api.call(Method::POST, "", Some(body), Promised::Text("name"), WITH_PROGRAM).await?;
    if as_json {
        return print(true, &data, |_| String::new());
    }
    let created: Created =
        serde_json::from_value(data).context("the service's answer cannot be understood")?;
    if !created.join_codes.is_empty() {
        write_codes(&created.name, &created.join_codes)?;
        say(format!("join codes are in {}", codes_file(&created.name).display()));
    }
    say(format!("players register at {}; the table is at {}", created.url, created.page));
    if let Some(token) = &created.operator_token {
        say(format!("operator token of all its leagues, shown this once: {token}"));
    }
    if let Some(code) = &created.referee_code {
        let base = created.url.trim_end_matches("mcp");
        say(format!("referees of others are started with --manager {base}join/{code}/mcp"));
    }
    Ok(ExitCode::SUCCESS)
}

fn text(data: &Value, key: &str) -> String {
    match data.get(key) {
        None | Some(Value::Null) => "-".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => {
            number.as_f64().map_or_else(|| number.to_string(), |number| format!("{number:.0}"))
        }
        Some(other) => other.to_string(),
    }
}

fn list(data: &Value) -> String {
    let seasons = data.get("seasons").and_then(Value::as_array).cloned().unwrap_or_default();
    if seasons.is_empty() {
        return "no season yet: create one with `matchday season create NAME`".to_owned();
    }
    let keys = [
        "name",
        "game_type",
        "state",
        "schedule",
        "time_zone",
        "starts_at",
        "current_league",
        "leagues_played",
    ];
    let rows: Vec<Vec<String>> =
        seasons.iter().map(|season| keys.map(|key| text(season, key)).to_vec()).collect();
    headed(&table(
        &["SEASON", "GAME", "STATE", "SCHEDULE", "TIME ZONE", "NEXT START", "LEAGUE", "PLAYED"],
        &rows,
    ))
}

/// The season, then its table.
fn shown(data: &Value) -> String {
    let mut brief = data.clone();
    let rows = brief.as_object_mut().and_then(|brief| {
        brief.remove("leagues");
        brief.remove("table")
    });
    let rows = rows.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    if rows.is_empty() {
        return format!("{}\nno league of the season is over yet", show(&brief));
    }
    let keys = ["player", "leagues", "played", "wins", "draws", "losses", "points", "rating"];
    let row = |(rank, row): (u32, &Value)| {
        let interval = format!("{} to {}", text(row, "low"), text(row, "high"));
        let cells = keys.map(|key| text(row, key));
        std::iter::once(rank.to_string()).chain(cells).chain([interval]).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = (1..).zip(&rows).map(row).collect();
    let headers = ["RANK", "PLAYER", "LEAGUES", "PLAYED", "WON", "DRAWN", "LOST", "POINTS", "RATING", "95 %"];
    format!("{}\n{}", show(&brief), headed(&table(&headers, &rows)))
}
