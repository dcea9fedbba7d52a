//! `matchday course`: makes the folder of a course, publishes its leagues on a service, starts those of a night, and writes
//! hand-outs and grades. Calls the service, reads its store.

use super::service_api::{ServiceArg, cell};
use super::settings::{LeagueFlags, SERVICE_TOKEN};
use super::tls::TlsArgs;
use super::{Usage, notice};
use crate::course::folder::{CourseLeague, Folder, PLAN, ROSTER};
use crate::course::grades::GradeSheet;
use crate::course::handout;
use crate::course::night_results::Night;
use crate::manager_client::ManagerClient;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use matchday_audit::league_log::LeagueLog;
use matchday_audit::verify::verify_file;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{LeagueId, Token};
use matchday_os::file::create_private;
use matchday_runtime::routes::ServiceRoute;
use matchday_runtime::{Clock, entropy_from_system};
use matchday_server::service::api_types::{
    CreateLeagues, CreatedLeagues, LeagueDetails, LeagueList, LeagueSpec, Progress,
};
use matchday_store::{LeagueChoice, Location, Store, StoreUrl};
use matchday_terminal::{headed, say, table};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday course init agents-101              # writes course.toml and roster.csv: edit both
  matchday serve --store service.db            # in another terminal
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday course publish agents-101           # the next night's leagues, and a hand-out for each student
  matchday course night agents-101             # at the deadline, by a timer: starts tonight's leagues
  matchday course grades agents-101 --store service.db

codes.csv, leagues.csv and the hand-outs hold join codes and tokens: keep the folder as you keep a password.";

const HANDOUTS: &str = "handouts";
const GRADES: &str = "grades";

#[derive(Debug, Args)]
pub(super) struct CourseArgs {
    #[command(subcommand)]
    command: CourseCommand,
}

#[derive(Debug, clap::Subcommand)]
enum CourseCommand {
    /// Write course.toml and roster.csv into a folder
    Init {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
    /// Create the leagues of the next night, and write a hand-out for each student; to be repeated after every change
    Publish {
        #[command(flatten)]
        at: CourseAt,
        /// Another night of the season than the next one
        #[arg(long, value_name = "DATE")]
        night: Option<String>,
    },
    /// Start the leagues of a night, and create those of the night after it from the roster as it is then
    Night {
        #[command(flatten)]
        at: CourseAt,
        /// Which night [default: today, in UTC]
        #[arg(long, value_name = "DATE")]
        night: Option<String>,
    },
    /// Write the grade sheet, by section: scores, grades, versions, late registrations, replacements
    Grades {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// The store of the service, and files of leagues that were archived
        #[arg(long, value_name = "FILE|URL", default_value = "service.db")]
        store: Vec<StoreUrl>,
        /// Print the sheet as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct CourseAt {
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Where the service listens [default: what course.toml says]
    #[arg(long, value_name = "URL", env = "MATCHDAY_SERVICE")]
    service: Option<String>,
    /// The token that the service showed when it was first started
    #[arg(long, value_name = "TOKEN", env = SERVICE_TOKEN.variable(), hide_env_values = true)]
    service_token: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    /// Print what was done as JSON
    #[arg(long)]
    json: bool,
}

impl CourseAt {
    fn service(&self, folder: &Folder) -> ServiceArg {
        ServiceArg {
            service: self
                .service
                .clone()
                .unwrap_or_else(|| folder.plan.service.clone()),
            service_token: self.service_token.clone(),
            tls: self.tls.clone(),
        }
    }
}

pub(super) async fn execute(args: CourseArgs) -> Result<ExitCode> {
    match args.command {
        CourseCommand::Init { folder } => init(&folder),
        CourseCommand::Publish { at, night } => publish(&at, night).await,
        CourseCommand::Night { at, night } => play_night(&at, night).await,
        CourseCommand::Grades {
            folder,
            store,
            json,
        } => grades(&folder, &store, json),
    }
}

fn init(folder: &Path) -> Result<ExitCode> {
    Folder::init(folder, Clock::start().now())?;
    let plan = folder.join(PLAN);
    let roster = folder.join(ROSTER);
    say(format!(
        "{} and {} are written: edit both, start `matchday serve`, then `matchday course publish {}`",
        plan.display(),
        roster.display(),
        folder.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// The folder, with settings that the service would refuse named here already.
fn read(path: &Path) -> Result<Folder> {
    let folder = Folder::read(path).map_err(|error| Usage(format!("{error:#}")))?;
    for section in folder.plan.sections() {
        let settings = folder.plan.league_settings(section).map_err(Usage)?;
        LeagueFlags::of_texts(&settings)
            .map_err(|error| Usage(format!("{}: {error}", path.join(PLAN).display())))?;
    }
    Ok(folder)
}

/// What became of a league, for people and as data.
struct LeagueStep {
    league_id: String,
    state: String,
}

async fn publish(at: &CourseAt, night: Option<String>) -> Result<ExitCode> {
    let mut folder = read(&at.folder)?;
    let night = match night {
        Some(night) => known_night(&folder, night)?,
        None => match folder.plan.next_night(Clock::start().now()) {
            Some(night) => night.to_owned(),
            None => bail!(
                "the last night of the season is over: add nights to course.toml, or see `matchday course grades`"
            ),
        },
    };
    let service = at.service(&folder);
    let steps = create_leagues(&mut folder, &service, &night).await?;
    let pages = write_handouts(&folder)?;
    print(
        at.json,
        &steps,
        &format!(
            "{pages} hand-outs are in {}",
            folder.path().join(HANDOUTS).display()
        ),
    )
}

fn known_night(folder: &Folder, night: String) -> Result<String> {
    if folder.plan.season.nights.contains(&night) {
        return Ok(night);
    }
    let nights = folder.plan.season.nights.join(", ");
    Err(Usage(format!(
        "--night: {night} is no night of this season: expected one of {nights}"
    ))
    .into())
}

/// Creates those leagues of the night that the service does not have.
async fn create_leagues(
    folder: &mut Folder,
    service: &ServiceArg,
    night: &str,
) -> Result<Vec<LeagueStep>> {
    // Asked first, so that nothing is issued for a service that cannot be reached.
    let known = league_ids(service).await?;
    let mut entropy = entropy_from_system()?;
    folder.issue_codes(&mut entropy)?;
    let leagues = folder.leagues_of(night, &mut entropy)?;
    let missing: Vec<&CourseLeague> = leagues
        .iter()
        .filter(|league| !known.contains(&league.league_id))
        .collect();
    if !missing.is_empty() {
        let leagues: Result<Vec<LeagueSpec>> = missing
            .iter()
            .map(|league| league_spec(folder, league))
            .collect();
        let body = CreateLeagues { leagues: leagues? };
        let _: CreatedLeagues = service.send(ServiceRoute::CreateLeagues, "", &body).await?;
    }
    let state = |league: &CourseLeague| {
        if known.contains(&league.league_id) {
            "is there already".to_owned()
        } else {
            let students = folder
                .students
                .iter()
                .filter(|student| student.section == league.section)
                .count();
            format!("created, students: {students}")
        }
    };
    Ok(leagues
        .iter()
        .map(|league| LeagueStep {
            league_id: league.league_id.clone(),
            state: state(league),
        })
        .collect())
}

async fn league_ids(service: &ServiceArg) -> Result<BTreeSet<String>> {
    let mut ids = BTreeSet::<String>::new();
    loop {
        let after = ids.last().cloned().unwrap_or_default();
        let query = [("limit", "500"), ("after", after.as_str())];
        let listed: LeagueList = service.ask(ServiceRoute::ListLeagues, &query).await?;
        ids.extend(listed.leagues.iter().map(|league| {
            let address = &league.summary.address;
            address.league_id.as_str().to_owned()
        }));
        if listed.next.is_none() {
            return Ok(ids);
        }
    }
}

fn league_spec(folder: &Folder, league: &CourseLeague) -> Result<LeagueSpec> {
    let mut settings = folder
        .plan
        .league_settings(&league.section)
        .map_err(Usage)?;
    settings.insert("operator-token".to_owned(), league.operator_token.clone());
    let roster = Some(folder.league_roster(&league.section)?);
    Ok(LeagueSpec {
        league_id: league.league_id.clone(),
        settings,
        roster,
    })
}

/// Writes a page for each student, in a folder for each section; returns how many.
fn write_handouts(folder: &Folder) -> Result<usize> {
    let mut taken = BTreeSet::new();
    for student in &folder.students {
        let Some(code) = folder.code_of(student) else {
            continue;
        };
        let section = folder.path().join(HANDOUTS).join(&student.section);
        fs::create_dir_all(&section)
            .with_context(|| format!("{} cannot be made", section.display()))?;
        let name = handout::file_name(student);
        let mut path = section.join(format!("{name}.html"));
        for number in 2.. {
            if taken.insert(path.clone()) {
                break;
            }
            path = section.join(format!("{name}-{number}.html"));
        }
        write_private(&path, &handout::page(&folder.plan, student, code))?;
    }
    Ok(taken.len())
}

/// Writes over the file if it is there.
fn write_private(path: &Path, text: &str) -> Result<()> {
    let write = || -> std::io::Result<()> {
        if path.exists() {
            fs::remove_file(path)?;
        }
        create_private(path)?.write_all(text.as_bytes())
    };
    write().with_context(|| format!("{} cannot be written", path.display()))
}

async fn play_night(at: &CourseAt, night: Option<String>) -> Result<ExitCode> {
    let mut folder = read(&at.folder)?;
    let today = Clock::start().now().to_string();
    let today = today.split('T').next().unwrap_or_default();
    let night = match night {
        Some(night) => known_night(&folder, night)?,
        None if folder.plan.season.nights.iter().any(|night| night == today) => today.to_owned(),
        None => {
            say(format!("no league is played on {today}"));
            return Ok(ExitCode::SUCCESS);
        }
    };
    let service = at.service(&folder);
    // Those that were never published are created, so that the night says who is missing.
    create_leagues(&mut folder, &service, &night).await?;
    let leagues: Vec<CourseLeague> = folder
        .leagues
        .iter()
        .filter(|league| league.night == night)
        .cloned()
        .collect();
    let mut steps = Vec::new();
    let mut failed = false;
    for league in leagues {
        let state = match start(&service, &league).await {
            Ok(state) => state,
            Err(error) => {
                failed = true;
                format!("NOT STARTED: {error:#}")
            }
        };
        steps.push(LeagueStep {
            league_id: league.league_id,
            state,
        });
    }
    if let Some(next) = folder.plan.night_after(&night).map(str::to_owned) {
        steps.extend(create_leagues(&mut folder, &service, &next).await?);
    }
    write_handouts(&folder)?;
    print(at.json, &steps, "")?;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Starts a league, unless that has been done.
async fn start(service: &ServiceArg, league: &CourseLeague) -> Result<String> {
    let shown: LeagueDetails = service
        .call(ServiceRoute::ShowLeague, &league.league_id)
        .await?;
    let Progress { phase, players, .. } = shown
        .progress
        .ok_or_else(|| anyhow!(shown.fault.unwrap_or_default()))?;
    if phase != Phase::Registration {
        return Ok(format!(
            "started already, players: {players}, {}",
            cell(&phase)
        ));
    }
    if players < 2 {
        bail!(
            "{players} registered, and a league needs 2 players: start it later with the same command"
        );
    }
    let id = LeagueId::new(league.league_id.as_str());
    let token = Token::new(league.operator_token.as_str());
    let url = format!("{}/leagues/{id}/mcp", service.base());
    let client = ManagerClient::at(&url, service.tls.client()?).with_league(Some(id.clone()));
    client.start(&id, Some(&token)).await?;
    Ok(format!("started, players: {players}"))
}

fn print(as_json: bool, steps: &[LeagueStep], after: &str) -> Result<ExitCode> {
    if as_json {
        let steps: Vec<Value> = steps
            .iter()
            .map(|step| json!({ "league_id": step.league_id, "state": step.state }))
            .collect();
        say(serde_json::to_string_pretty(&json!({ "leagues": steps }))?);
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = steps
        .iter()
        .map(|step| vec![step.league_id.clone(), step.state.clone()])
        .collect();
    say(headed(&table(&["LEAGUE", "STATE"], &rows)));
    if !after.is_empty() {
        say(after);
    }
    Ok(ExitCode::SUCCESS)
}

fn grades(path: &Path, stores: &[StoreUrl], as_json: bool) -> Result<ExitCode> {
    let folder = read(path)?;
    if folder.leagues.is_empty() {
        bail!(
            "no league of this course has been published yet: `matchday course publish {}`",
            path.display()
        );
    }
    let mut verified = true;
    for store in stores {
        let found = verify_file(store)?;
        if !found.is_good() {
            verified = false;
            notice(&format!(
                "{store} does not verify: see `matchday verify {store}`"
            ));
        }
    }
    let mut nights = Vec::new();
    for league in &folder.leagues {
        match stored_night(&folder, league, stores)? {
            Some(night) => nights.push(night),
            // A league that nobody has called yet has no log.
            None if !is_due(&folder, league) => {}
            None => notice(&format!(
                "{} is in none of the stores: name the file that it was archived to with --store",
                league.league_id
            )),
        }
    }
    let sheet = GradeSheet::new(&folder.plan, &folder.students, nights);
    let out = folder.path().join(GRADES);
    fs::create_dir_all(&out).with_context(|| format!("{} cannot be made", out.display()))?;
    for (name, text) in [
        ("grades.csv", sheet.csv()?),
        ("nights.csv", sheet.nights_csv()?),
        ("platform.csv", sheet.platform_csv()?),
    ] {
        write_private(&out.join(name), &text)?;
    }
    if as_json {
        say(serde_json::to_string_pretty(&sheet.lines)?)
    } else {
        say(sheet.text());
        say(format!(
            "\n{0}/grades.csv: a row a student; nights.csv: a row a student and night; platform.csv: for a learning platform",
            out.display()
        ));
    }
    Ok(if verified {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn is_due(folder: &Folder, league: &CourseLeague) -> bool {
    folder
        .plan
        .deadline_of(&league.night)
        .is_some_and(|deadline| deadline < Clock::start().now())
}

/// The league as it was played; `None` if no store holds it.
fn stored_night(
    folder: &Folder,
    league: &CourseLeague,
    stores: &[StoreUrl],
) -> Result<Option<Night>> {
    let id = LeagueId::new(league.league_id.as_str());
    let Some(deadline) = folder.plan.deadline_of(&league.night) else {
        return Ok(None);
    };
    for store in stores {
        let known = Store::open_read_only(store)?.leagues()?;
        if known.iter().any(|known| known.id.as_ref() == Some(&id)) {
            let location = Location {
                store: store.clone(),
                league: LeagueChoice::Named(id),
            };
            let log = LeagueLog::load(&location.open()?)?;
            return Ok(Some(Night::of(
                &log,
                &league.section,
                &league.night,
                deadline,
            )));
        }
    }
    Ok(None)
}
