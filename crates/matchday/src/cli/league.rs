//! `matchday league`: creates, lists, shows, changes, archives, deletes and imports the leagues of a service, by its HTTP API;
//! lists those of a store.

use super::Usage;
use super::service_api::{Api, LEAGUES, Promised, SOON, WHOLE_LEAGUE, WITH_PROGRAM};
use super::settings::{LeagueFlags, SERVICE_TOKEN};
use super::stored_leagues::{self, KnownArg};
use super::tls::TlsArgs;
use anyhow::{Context, Result, bail};
use clap::Args;
use hyper::Method;
use matchday_audit::csv_rows::csv;
use matchday_os::file::create_private;
use matchday_server::service::JoinCodeRow;
use matchday_terminal::{headed, say, table};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday league create spring --game even_odd --lead 5 --start-when players=4
  matchday league create section-{01..12} --template course.toml --roster 'rosters/{}.csv'
  matchday league list
  matchday league list --store season.db --ratings   (a file that holds several, Glicko-2 through all)
  matchday league archive spring             # into a file that every command reads

A template is a configuration file with a section [league]; a roster is written as CSV with name, role, mail.";

#[derive(Debug, Args)]
pub(super) struct LeagueArgs {
    #[command(flatten)]
    service: ServiceArg,
    /// Print as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: What,
}

const SERVICE: &str = "MATCHDAY_SERVICE";
const SERVICE_DEFAULT: &str = "http://localhost:8000";

#[derive(Debug, Args)]
pub(super) struct ServiceArg {
    /// Where the service listens
    #[arg(
        long,
        value_name = "URL",
        env = SERVICE,
        default_value = SERVICE_DEFAULT,
        global = true
    )]
    pub(super) service: String,
    /// The token that the service showed when it was first started
    #[arg(long, value_name = "TOKEN", env = SERVICE_TOKEN.variable(), hide_env_values = true, global = true)]
    pub(super) service_token: Option<String>,
    #[command(flatten)]
    pub(super) tls: TlsArgs,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Create leagues, all of them or none; tokens and codes are shown this once
    Create(CreateArgs),
    /// List the leagues of the service that you may see, or those that a store holds
    List(ListArgs),
    /// Show a league: how far it has come, and its settings
    Show { name: String },
    /// Change those settings of a league that flags name
    Configure(ConfigureArgs),
    /// Write a league into a file on the machine of the service, and remove it there
    Archive { name: String },
    /// Remove a league for good
    Delete {
        name: String,
        /// Yes, with all its results
        #[arg(long)]
        yes: bool,
    },
    /// Take a league out of a file into the service, which must run on this machine
    Import {
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Of a file with several leagues: which one [default: the latest]
        #[arg(long, value_name = "ID")]
        league: Option<String>,
    },
}

impl ServiceArg {
    /// Whether a flag names the service, rather than the environment or nothing.
    fn is_flag(&self) -> bool {
        self.service != SERVICE_DEFAULT && std::env::var(SERVICE).as_ref() != Ok(&self.service)
    }
}

#[derive(Debug, Args)]
struct ListArgs {
    /// List the leagues of this store instead of asking a service
    #[arg(long, value_name = "FILE|URL")]
    store: Option<PathBuf>,
    /// Show ratings that go on from league to league, too
    #[arg(long, requires = "store")]
    ratings: bool,
    #[command(flatten)]
    known: KnownArg,
}

#[derive(Debug, Args)]
struct CreateArgs {
    /// What the leagues are called, with letters, digits and any of _.- in it
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// A configuration file whose section `league` holds the settings of all of them
    #[arg(long, value_name = "FILE")]
    template: Option<PathBuf>,
    #[command(flatten)]
    settings: LeagueFlags,
}

#[derive(Debug, Args)]
struct ConfigureArgs {
    name: String,
    #[command(flatten)]
    settings: LeagueFlags,
}

pub(super) async fn execute(args: LeagueArgs) -> Result<ExitCode> {
    let api = Api { args: &args.service, base: "leagues" };
    let one = Promised::Text("league_id");
    let data = match args.what {
        What::Create(create_args) => return create(&api, create_args, args.json).await,
        What::List(ListArgs { store: Some(_), .. }) if args.service.is_flag() => {
            let why =
                "--store lists the leagues of a store, and --service those of a service: give one of them";
            return Err(Usage(why.to_owned()).into());
        }
        What::List(ListArgs { store: Some(file), ratings, known }) => {
            return stored_leagues::print(&file, ratings, known, args.json);
        }
        What::List(_) => {
            let data = api.call(Method::GET, "", None, LEAGUES, SOON).await?;
            return print(args.json, &data, list);
        }
        What::Show { name } => {
            let data = api.call(Method::GET, &format!("/{name}"), None, one, SOON).await?;
            return print(args.json, &data, show);
        }
        What::Configure(ConfigureArgs { name, settings }) => {
            if settings.config.is_some() {
                return Err(Usage("--config: name what is to change with flags".to_owned()).into());
            }
            let texts = settings.resolve_alone().given_texts();
            if texts.is_empty() {
                let why =
                    format!("name what is to change, such as `matchday league configure {name} --lead 5`");
                return Err(Usage(why).into());
            }
            let body = json!({ "settings": texts });
            api.call(Method::PATCH, &format!("/{name}"), Some(body), one, WITH_PROGRAM).await?
        }
        What::Archive { name } => {
            api.call(Method::POST, &format!("/{name}/archive"), None, one, WHOLE_LEAGUE).await?
        }
        What::Delete { name, yes: false } => {
            let why = format!(
                "this removes {name} with all its results for good: add --yes, or keep it in a file with `matchday league \
                 archive {name}`"
            );
            return Err(Usage(why).into());
        }
        What::Delete { name, yes: true } => {
            api.call(Method::DELETE, &format!("/{name}"), None, one, WHOLE_LEAGUE).await?
        }
        What::Import { file, league } => {
            let file = file.canonicalize().with_context(|| format!("{} cannot be found", file.display()))?;
            let body = json!({ "file": file, "league_id": league });
            api.call(Method::POST, "/import", Some(body), one, WHOLE_LEAGUE).await?
        }
    };
    print(args.json, &data, |data| {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let place =
            [text("file"), text("url"), text("seat_code")].into_iter().find(|place| !place.is_empty());
        [Some(text("league_id")), place].into_iter().flatten().collect::<Vec<_>>().join(" ")
    })
}

pub(super) fn print(as_json: bool, data: &Value, to_text: impl FnOnce(&Value) -> String) -> Result<ExitCode> {
    match as_json {
        true => say(serde_json::to_string_pretty(data)?),
        false => say(to_text(data)),
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Deserialize)]
struct Created {
    league_id: String,
    url: String,
    operator_token: Option<String>,
    referee_code: Option<String>,
    seat_code: Option<String>,
    join_codes: Vec<JoinCodeRow>,
}

async fn create(api: &Api<'_>, args: CreateArgs, as_json: bool) -> Result<ExitCode> {
    let CreateArgs { names, template, mut settings } = args;
    if let Some(path) = &template {
        std::fs::metadata(path)
            .map_err(|error| Usage(format!("--template: {} cannot be read: {error}", path.display())))?;
    }
    settings.config = template.or(settings.config);
    let mut texts = settings.resolve()?.given_texts();
    let roster = texts.remove("roster");
    let mut specs = Vec::new();
    for name in &names {
        let roster = roster.as_ref().map(|pattern| read_roster(pattern, name)).transpose()?;
        specs.push(json!({ "league_id": name, "settings": texts, "roster": roster }));
    }
    // Before anything is created, so that no codes are lost.
    for name in names.iter().filter(|_| roster.is_some()) {
        if codes_file(name).exists() {
            bail!("{} exists already: move it away, and create the leagues then", codes_file(name).display());
        }
    }
    let body = json!({ "leagues": specs });
    let data = api.call(Method::POST, "", Some(body), LEAGUES, WITH_PROGRAM).await?;
    if as_json {
        return print(true, &data, |_| String::new());
    }
    let created: Vec<Created> = serde_json::from_value(data.get("leagues").cloned().unwrap_or_default())
        .context("the service's answer cannot be understood")?;
    for league in &created {
        if !league.join_codes.is_empty() {
            write_codes(&league.league_id, &league.join_codes)?;
        }
    }
    say(headed(&created_table(&created)));
    for Created { league_id, url, referee_code, seat_code, .. } in &created {
        if let Some(code) = referee_code {
            let base = url.trim_end_matches("mcp");
            say(format!("{league_id}: referees are started with --manager {base}join/{code}/mcp"));
        }
        if let Some(code) = seat_code {
            say(format!("{league_id}: clients of seats show {code} as their bearer token"));
        }
    }
    say(
        "Tokens and codes are shown this once; the operator token is for `matchday start` and `matchday admin`.",
    );
    Ok(ExitCode::SUCCESS)
}

fn created_table(created: &[Created]) -> String {
    let rows: Vec<Vec<String>> = created
        .iter()
        .map(|league| {
            let codes = match league.join_codes.as_slice() {
                [] => "-".to_owned(),
                _ => codes_file(&league.league_id).display().to_string(),
            };
            let token = league.operator_token.clone().unwrap_or_else(|| "(as given)".to_owned());
            vec![league.league_id.clone(), league.url.clone(), token, codes]
        })
        .collect();
    table(&["LEAGUE", "URL", "OPERATOR TOKEN", "JOIN CODES"], &rows)
}

/// `rosters/{}.csv` is another file for each league.
pub(super) fn read_roster(pattern: &str, name: &str) -> Result<String> {
    let path = pattern.replace("{}", name);
    std::fs::read_to_string(&path)
        .map_err(|error| Usage(format!("--roster: {path} cannot be read: {error}")).into())
}

pub(super) fn codes_file(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.codes.csv"))
}

pub(super) fn write_codes(name: &str, codes: &[JoinCodeRow]) -> Result<()> {
    let path = codes_file(name);
    let write =
        |path: &Path| -> Result<()> { Ok(create_private(path)?.write_all(csv(codes.iter())?.as_bytes())?) };
    write(&path).with_context(|| format!("{} cannot be written", path.display()))
}

fn list(data: &Value) -> String {
    let leagues = data.get("leagues").and_then(Value::as_array).cloned().unwrap_or_default();
    if leagues.is_empty() {
        return "no league yet: create one with `matchday league create NAME`".to_owned();
    }
    let row = |league: &Value| {
        let text = |key: &str| league.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
        ["league_id", "game_type", "state", "created_at", "url"].map(text).to_vec()
    };
    headed(&table(
        &["LEAGUE", "GAME", "STATE", "CREATED", "URL"],
        &leagues.iter().map(row).collect::<Vec<_>>(),
    ))
}

pub(super) fn show(data: &Value) -> String {
    let empty = Map::new();
    let rows: Vec<Vec<String>> = data
        .as_object()
        .unwrap_or(&empty)
        .iter()
        .map(|(key, value)| {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Object(settings) => {
                    let texts = settings
                        .iter()
                        .map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
                    texts.collect::<Vec<_>>().join(" ")
                }
                other => other.to_string(),
            };
            vec![key.clone(), text]
        })
        .collect();
    let table = table(&["", ""], &rows);
    table.split_once('\n').map_or_else(String::new, |(_, rows)| rows.to_owned())
}
