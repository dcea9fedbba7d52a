//! `matchday league`: creates, lists, shows, changes, archives, deletes and imports the leagues of a service, by its HTTP API;
//! lists those of a store.

use super::Usage;
use super::service_api::{ServiceArg, cell, lines, print};
use super::settings::LeagueFlags;
use super::stored_leagues::{self, KnownArg};
use crate::spreadsheet;
use anyhow::{Context, Result, bail};
use clap::Args;
use matchday_audit::csv_rows::csv;
use matchday_os::file::create_private;
use matchday_runtime::routes::ServiceRoute;
use matchday_server::service::api_types::{
    ArchivedLeague, ConfigureLeague, ConfiguredLeague, CreateLeagues, CreatedLeague,
    CreatedLeagues, DeletedLeague, ImportLeague, JoinCodeRow, LeagueAddress, LeagueDetails,
    LeagueList, LeagueSpec, LeagueState, ListedLeague, Progress,
};
use matchday_store::StoreUrl;
use matchday_terminal::{headed, say, table};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday league create spring --game even_odd --lead 5 --start-when players=4
  matchday league create section-{01..12} --template course.toml --roster 'rosters/{}.csv'
  matchday league list
  matchday league list --store season.db --ratings   (a file that holds several, ratings over all)
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
    command: LeagueCommand,
}

#[derive(Debug, clap::Subcommand)]
enum LeagueCommand {
    /// Create leagues, all of them or none; tokens and codes are shown only once
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
        /// Confirm that all its results are removed, too
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

#[derive(Debug, Args)]
struct ListArgs {
    /// List the leagues of this store instead of asking a service
    #[arg(long, value_name = "FILE|URL")]
    store: Option<StoreUrl>,
    /// Show ratings that go on from league to league, too
    #[arg(long, requires = "store")]
    ratings: bool,
    #[command(flatten)]
    known: KnownArg,
    /// List only those that have this in their names
    #[arg(long, value_name = "TEXT", conflicts_with = "store")]
    search: Option<String>,
    /// List those whose names come after this one
    #[arg(long, value_name = "NAME", conflicts_with = "store")]
    after: Option<String>,
    /// How many to list, at most
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u16).range(1..=500))]
    limit: u16,
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
    let LeagueArgs {
        service,
        json,
        command,
    } = args;
    match command {
        LeagueCommand::Create(create_args) => create(&service, create_args, json).await,
        LeagueCommand::List(list_args) => list(&service, list_args, json).await,
        LeagueCommand::Show { name } => {
            let league: LeagueDetails = service.call(ServiceRoute::ShowLeague, &name).await?;
            print(json, &league, lines)
        }
        LeagueCommand::Configure(ConfigureArgs { name, settings }) => {
            let settings = changed(&name, settings)?;
            let body = ConfigureLeague { settings };
            let league: ConfiguredLeague = service
                .send(ServiceRoute::ConfigureLeague, &name, &body)
                .await?;
            print(json, &league, |league| {
                let code = league
                    .seat_code
                    .as_ref()
                    .map_or_else(String::new, |code| format!(" {code}"));
                format!("{}{code}", league.league_id)
            })
        }
        LeagueCommand::Archive { name } => {
            let league: ArchivedLeague = service.call(ServiceRoute::ArchiveLeague, &name).await?;
            print(json, &league, |league| {
                let machine = league
                    .machine
                    .as_ref()
                    .map_or_else(String::new, |machine| format!("{machine}:"));
                format!("{} {machine}{}", league.league_id, league.file)
            })
        }
        LeagueCommand::Delete { name, yes: false } => {
            let why = format!(
                "this removes {name} with all its results for good: add --yes, or keep it in a file with `matchday league \
                 archive {name}`"
            );
            Err(Usage(why).into())
        }
        LeagueCommand::Delete { name, yes: true } => {
            let league: DeletedLeague = service.call(ServiceRoute::DeleteLeague, &name).await?;
            print(json, &league, |league| league.league_id.to_string())
        }
        LeagueCommand::Import { file, league } => {
            let file = file
                .canonicalize()
                .with_context(|| format!("{} cannot be found", file.display()))?;
            let body = ImportLeague {
                file,
                league_id: league,
            };
            let league: LeagueAddress = service.send(ServiceRoute::ImportLeague, "", &body).await?;
            print(json, &league, |league| {
                format!("{} {}", league.league_id, league.url)
            })
        }
    }
}

/// The settings that flags name.
fn changed(name: &str, settings: LeagueFlags) -> Result<BTreeMap<String, String>> {
    if settings.config.is_some() {
        return Err(Usage("--config: name the settings to change with flags".to_owned()).into());
    }
    let texts = settings.resolve_alone().given_texts();
    if texts.is_empty() {
        let why = format!(
            "name the settings to change, such as `matchday league configure {name} --lead 5`"
        );
        return Err(Usage(why).into());
    }
    Ok(texts)
}

/// The settings of a template and of flags, without the roster, and the roster.
pub(super) fn template_texts(
    template: Option<PathBuf>,
    mut settings: LeagueFlags,
) -> Result<(BTreeMap<String, String>, Option<String>)> {
    if let Some(path) = &template {
        std::fs::metadata(path).map_err(|error| {
            Usage(format!(
                "--template: {} cannot be read: {error}",
                path.display()
            ))
        })?;
    }
    settings.config = template.or(settings.config);
    let mut texts = settings.resolve()?.given_texts();
    let roster = texts.remove("roster");
    Ok((texts, roster))
}

async fn create(service: &ServiceArg, args: CreateArgs, as_json: bool) -> Result<ExitCode> {
    let (settings, roster) = template_texts(args.template, args.settings)?;
    let mut leagues = Vec::new();
    for name in args.names {
        let roster = roster
            .as_ref()
            .map(|pattern| read_roster(pattern, &name))
            .transpose()?;
        leagues.push(LeagueSpec {
            league_id: name,
            settings: settings.clone(),
            roster,
        });
    }
    // Before anything is created, so that no codes are lost.
    for league in leagues.iter().filter(|league| league.roster.is_some()) {
        let file = codes_file(&league.league_id);
        if file.exists() {
            bail!(
                "{} exists already: move it away before you create the leagues",
                file.display()
            );
        }
    }
    let body = CreateLeagues { leagues };
    let created: CreatedLeagues = service.send(ServiceRoute::CreateLeagues, "", &body).await?;
    if as_json {
        return print(true, &created, |_| String::new());
    }
    for CreatedLeague { address, secrets } in &created.leagues {
        if !secrets.join_codes.is_empty() {
            write_codes(address.league_id.as_str(), &secrets.join_codes)?;
        }
    }
    say(headed(&created_table(&created.leagues)));
    for CreatedLeague {
        address: LeagueAddress { league_id, url, .. },
        secrets,
    } in &created.leagues
    {
        if let Some(code) = &secrets.referee_code {
            let base = url.trim_end_matches("mcp");
            say(format!(
                "{league_id}: referees are started with --manager {base}join/{code}/mcp"
            ));
        }
        if let Some(code) = &secrets.seat_code {
            say(format!(
                "{league_id}: clients of seats show {code} as their bearer token"
            ));
        }
    }
    say(
        "Tokens and codes are shown only once; the operator token is for `matchday start` and `matchday admin`.",
    );
    Ok(ExitCode::SUCCESS)
}

fn created_table(created: &[CreatedLeague]) -> String {
    let row = |CreatedLeague { address, secrets }: &CreatedLeague| {
        let codes = if secrets.join_codes.is_empty() {
            "-".to_owned()
        } else {
            codes_file(address.league_id.as_str()).display().to_string()
        };
        let token = secrets
            .operator_token
            .clone()
            .unwrap_or_else(|| "(as given)".to_owned());
        vec![
            address.league_id.to_string(),
            address.url.clone(),
            token,
            codes,
        ]
    };
    let rows: Vec<Vec<String>> = created.iter().map(row).collect();
    table(&["LEAGUE", "URL", "OPERATOR TOKEN", "JOIN CODES"], &rows)
}

/// `rosters/{}.csv` is another file for each league.
pub(super) fn read_roster(pattern: &str, name: &str) -> Result<String> {
    let path = pattern.replace("{}", name);
    match std::fs::read(&path) {
        Ok(bytes) => Ok(spreadsheet::decode(&bytes).0),
        Err(error) => Err(Usage(format!("--roster: {path} cannot be read: {error}")).into()),
    }
}

pub(super) fn codes_file(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.codes.csv"))
}

pub(super) fn write_codes(name: &str, codes: &[JoinCodeRow]) -> Result<()> {
    let path = codes_file(name);
    let write = |path: &Path| -> Result<()> {
        Ok(create_private(path)?.write_all(csv(codes.iter())?.as_bytes())?)
    };
    write(&path).with_context(|| format!("{} cannot be written", path.display()))
}

async fn list(service: &ServiceArg, args: ListArgs, as_json: bool) -> Result<ExitCode> {
    let Some(file) = args.store else {
        let limit = args.limit.to_string();
        let mut query = vec![("limit", limit.as_str())];
        query.extend(args.search.as_deref().map(|text| ("search", text)));
        query.extend(args.after.as_deref().map(|name| ("after", name)));
        let listed: LeagueList = service.ask(ServiceRoute::ListLeagues, &query).await?;
        return print(as_json, &listed, |listed| {
            list_text(listed, args.search.as_deref())
        });
    };
    if service.is_flag() {
        let why = "--store lists the leagues of a store, and --service those of a service: give one of them";
        return Err(Usage(why.to_owned()).into());
    }
    stored_leagues::print(&file, args.ratings, args.known, as_json)
}

fn list_text(listed: &LeagueList, search: Option<&str>) -> String {
    if listed.leagues.is_empty() {
        return match search {
            Some(text) => format!("no league has {text} in its name"),
            None => "no league yet: create one with `matchday league create NAME`".to_owned(),
        };
    }
    let row = |ListedLeague {
                   summary, progress, ..
               }: &ListedLeague| {
        let known =
            |text: fn(&Progress) -> String| progress.as_ref().map_or_else(|| "-".to_owned(), text);
        vec![
            summary.address.league_id.to_string(),
            summary.game_type.to_string(),
            match (summary.state, progress) {
                (LeagueState::Quarantined, _) => cell(&summary.state),
                (_, Some(progress)) => cell(&progress.phase),
                (_, None) => "cannot be read".to_owned(),
            },
            known(|progress| progress.players.to_string()),
            known(|progress| format!("{} of {}", progress.matches_decided, progress.matches)),
            known(leaders),
            summary.created_at.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = listed.leagues.iter().map(row).collect();
    let table = headed(&table(
        &[
            "LEAGUE", "GAME", "PHASE", "PLAYERS", "MATCHES", "FIRST", "CREATED",
        ],
        &rows,
    ));
    let Some(next) = &listed.next else {
        return table;
    };
    let search = search.map_or_else(String::new, |text| format!(" --search {text}"));
    format!(
        "{table}\n{} of {} leagues; the next ones: matchday league list{search} --after {next}",
        rows.len(),
        listed.total
    )
}

fn leaders(progress: &Progress) -> String {
    let names = progress.leaders.iter();
    let names: Vec<&str> = names.map(|leader| leader.display_name.as_str()).collect();
    if names.is_empty() {
        "-".to_owned()
    } else {
        names.join(", ")
    }
}
