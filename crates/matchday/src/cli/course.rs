//! `matchday course`: makes the folder of a course, publishes it as seasons of a service, and writes hand-outs and grades. Calls the
//! service, reads its store.

use super::service_api::{ServiceArg, cell};
use super::settings::{LeagueFlags, SERVICE_TOKEN};
use super::tls::TlsArgs;
use super::{Usage, notice};
use crate::course::folder::{CourseSeason, Folder, PLAN, ROSTER};
use crate::course::grades::GradeSheet;
use crate::course::handout;
use crate::course::night_results::Night;
use crate::course::plan::local;
use crate::course::roster::Student;
use crate::manager_client::ManagerClient;
use anyhow::{Context, Result, bail};
use clap::Args;
use jiff::tz::TimeZone;
use matchday_audit::league_log::LeagueLog;
use matchday_audit::verify::verify_file;
use matchday_core::protocol::messages::{LeagueOrder, Order};
use matchday_core::protocol::{PlayerId, Token};
use matchday_os::file::create_private;
use matchday_runtime::routes::ServiceRoute;
use matchday_runtime::{Clock, entropy_from_system};
use matchday_server::service::api_types::{
    ConfigureSeason, CreateSeason, CreatedSeason, SeasonDetails, SeasonList, SeasonSummary,
};
use matchday_store::{LeagueChoice, Location, Store, StoreUrl};
use matchday_terminal::{headed, say, table};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday course init agents-101              # writes course.toml and roster.csv: edit both
  matchday serve --store service.db            # in another terminal
  export MATCHDAY_SERVICE_TOKEN=tok_service_...
  matchday course publish agents-101           # a season for each section, and a hand-out for each student
  matchday course grades agents-101 --store service.db

The service plays every night by itself. After a change of roster.csv or course.toml: publish again.
codes.csv, seasons.csv and the hand-outs hold join codes and tokens: keep the folder as you keep a password.";

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
    /// Make a season of each section, and write a hand-out for each student; to be repeated after every change
    Publish(CourseAt),
    /// Write the grade sheet, by section: scores, grades, versions, replacements; and for Moodle and Canvas
    Grades {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
        /// The store of the service; what it has archived beside it is read too. Other files of leagues may be added
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
        CourseCommand::Publish(at) => publish(&at).await,
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
    folder.remarks.iter().for_each(|remark| notice(remark));
    for section in folder.plan.sections() {
        let settings = folder.plan.league_settings(section).map_err(Usage)?;
        LeagueFlags::of_texts(&settings)
            .map_err(|error| Usage(format!("{}: {error}", path.join(PLAN).display())))?;
    }
    Ok(folder)
}

/// What became of a section, for people and as data.
#[derive(Serialize)]
struct Published {
    section: String,
    state: String,
    students: usize,
    /// Where the course is.
    next_night: Option<String>,
    page: String,
}

async fn publish(at: &CourseAt) -> Result<ExitCode> {
    let mut folder = read(&at.folder)?;
    let service = at.service(&folder);
    // Asked first, so that nothing is issued for a service that cannot be reached.
    let known: SeasonList = service.call(ServiceRoute::ListSeasons, "").await?;
    let known: BTreeSet<String> = known
        .seasons
        .into_iter()
        .map(|season| season.address.name.to_string())
        .collect();
    let mut entropy = entropy_from_system()?;
    folder.issue_codes(&mut entropy)?;
    let seasons = folder.issue_seasons(&mut entropy)?;
    let zone = folder.plan.zone().map_err(Usage)?;
    let mut published = Vec::new();
    for (season, is_new) in seasons {
        let section = &season.section;
        if is_new && known.contains(section) {
            bail!(
                "the service has a season {section} that is not of this course: rename the section in {}",
                at.folder.join(PLAN).display()
            );
        }
        let state = if known.contains(section) {
            change_season(&mut folder, &service, &season).await?
        } else {
            create_season(&folder, &service, &season).await?;
            "created".to_owned()
        };
        let shown: SeasonDetails = service.call(ServiceRoute::ShowSeason, section).await?;
        let next = shown.summary.starts_at;
        published.push(Published {
            section: section.clone(),
            state,
            students: folder.students_of(section).count(),
            next_night: next.map(|at| local(at, &zone).strftime("%F %R").to_string()),
            page: shown.summary.address.page,
        });
    }
    let pages = write_handouts(&folder)?;
    if folder.plan.is_on_this_machine() {
        notice(&format!(
            "the hand-outs name {}, which students on other machines cannot reach: set service in {}, and publish again",
            folder.plan.service,
            at.folder.join(PLAN).display()
        ));
    }
    if at.json {
        say(serde_json::to_string_pretty(
            &json!({ "sections": published }),
        )?);
        return Ok(ExitCode::SUCCESS);
    }
    let row = |of: &Published| {
        vec![
            of.section.clone(),
            of.state.clone(),
            of.students.to_string(),
            cell(&of.next_night),
            of.page.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = published.iter().map(row).collect();
    let headers = ["SECTION", "STATE", "STUDENTS", "NEXT NIGHT", "TABLE"];
    say(headed(&table(&headers, &rows)));
    say(format!(
        "{pages} hand-outs are in {}; times are those of {}",
        folder.path().join(HANDOUTS).display(),
        folder.plan.season.time_zone
    ));
    Ok(ExitCode::SUCCESS)
}

async fn create_season(folder: &Folder, service: &ServiceArg, season: &CourseSeason) -> Result<()> {
    let section = &season.section;
    let mut settings = folder.plan.league_settings(section).map_err(Usage)?;
    settings.insert("operator-token".to_owned(), season.operator_token.clone());
    let body = CreateSeason {
        name: section.clone(),
        schedule: Some(folder.plan.schedule()),
        time_zone: Some(folder.plan.season.time_zone.clone()),
        settings,
        roster: Some(folder.league_roster(section)?),
    };
    let _: CreatedSeason = service.send(ServiceRoute::CreateSeason, "", &body).await?;
    Ok(())
}

/// Brings a season to what the course says now: the following leagues by their plan, and the roster of the one that takes registrations
/// by orders to its manager.
async fn change_season(
    folder: &mut Folder,
    service: &ServiceArg,
    season: &CourseSeason,
) -> Result<String> {
    let section = &season.section;
    let body = ConfigureSeason {
        schedule: Some(folder.plan.schedule()),
        time_zone: Some(folder.plan.season.time_zone.clone()),
        settings: Some(folder.plan.league_settings(section).map_err(Usage)?),
        roster: Some(folder.league_roster(section)?),
    };
    let shown: SeasonSummary = service
        .send(ServiceRoute::ConfigureSeason, section, &body)
        .await?;
    let Some(league_id) = shown.current_league else {
        return Ok("is there already".to_owned());
    };
    let url = format!("{}/leagues/{league_id}/mcp", service.base());
    let client =
        ManagerClient::at(&url, service.tls.client()?).with_league(Some(league_id.clone()));
    let token = Token::new(season.operator_token.as_str());
    let order = |order, name: Option<String>| LeagueOrder {
        league_id: league_id.clone(),
        order,
        player_id: None,
        match_id: None,
        agent_id: name.map(|name| format!("player:{name}").into()),
        join_code: None,
    };
    let status = client.order(order(Order::Roster, None), &token).await?;
    let places = status.get("roster").and_then(Value::as_array);
    let places: BTreeMap<&str, &str> = places
        .into_iter()
        .flatten()
        .filter(|place| place.get("role") == Some(&json!("player")))
        .filter_map(|place| {
            let holder = place.get("agent_id").and_then(Value::as_str);
            Some((
                place.get("display_name")?.as_str()?,
                holder.unwrap_or_default(),
            ))
        })
        .collect();
    let students: Vec<Student> = folder.students_of(section).cloned().collect();
    let (mut added, mut gone) = (0, 0);
    for student in &students {
        let name = student.name.raw();
        let kind = match places.contains_key(name) {
            false => Order::Invite,
            true if folder.is_taken_out(name, section) => Order::RotateCode,
            true => continue,
        };
        let place = LeagueOrder {
            join_code: folder.code_of(student).map(Token::new),
            ..order(kind, Some(name.to_owned()))
        };
        client.rotate(place, &token).await?;
        folder.note_taken_out(name, section, false)?;
        added += 1;
    }
    for (name, holder) in places {
        let stays = students.iter().any(|student| student.name.raw() == name);
        if stays || folder.is_taken_out(name, section) {
            continue;
        }
        // Its code is known to whoever had it: from now on no code is.
        client
            .rotate(order(Order::RotateCode, Some(name.to_owned())), &token)
            .await?;
        if !holder.is_empty() {
            let withdraw = LeagueOrder {
                player_id: Some(PlayerId::new(holder)),
                ..order(Order::Withdraw, None)
            };
            // One that has been withdrawn, or whose league is over, plays no more anyway.
            let _ = client.order(withdraw, &token).await;
        }
        folder.note_taken_out(name, section, true)?;
        gone += 1;
    }
    Ok(match (added, gone) {
        (0, 0) => "is there already".to_owned(),
        (added, 0) => format!("added: {added}"),
        (added, gone) => format!("added: {added}, taken out: {gone}"),
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

fn grades(path: &Path, stores: &[StoreUrl], as_json: bool) -> Result<ExitCode> {
    let folder = read(path)?;
    if folder.seasons.is_empty() {
        bail!(
            "this course has not been published yet: `matchday course publish {}`",
            path.display()
        );
    }
    let stores = with_archives(stores, &folder);
    let mut verified = true;
    for store in &stores {
        let found = verify_file(store)?;
        if !found.is_good() {
            verified = false;
            notice(&format!(
                "{store} does not verify: see `matchday verify {store}`"
            ));
        }
    }
    let zone = folder.plan.zone().map_err(Usage)?;
    let mut nights = Vec::new();
    for season in &folder.seasons {
        nights.extend(stored_nights(&season.section, &stores, &zone)?);
    }
    let sheet = GradeSheet::new(&folder.plan, &folder.students, nights);
    let out = folder.path().join(GRADES);
    fs::create_dir_all(&out).with_context(|| format!("{} cannot be made", out.display()))?;
    for (name, text) in [
        ("grades.csv", sheet.csv()?),
        ("nights.csv", sheet.nights_csv()?),
        ("moodle.csv", sheet.moodle_csv()?),
        ("canvas.csv", sheet.canvas_csv()?),
    ] {
        write_private(&out.join(name), &text)?;
    }
    let unknown: Vec<&str> = sheet.unknown_to_platforms().collect();
    if !unknown.is_empty() {
        notice(&format!(
            "without a mail on the roster these are not in moodle.csv: {}",
            unknown.join(", ")
        ));
    }
    if as_json {
        say(serde_json::to_string_pretty(&sheet.lines)?)
    } else {
        say(sheet.text());
        say(format!(
            "\n{0}/grades.csv: a row a student; nights.csv: a row a student and night; moodle.csv, canvas.csv: to be imported there",
            out.display()
        ));
    }
    Ok(if verified {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The stores, and the leagues of the course that a service has archived beside them.
fn with_archives(stores: &[StoreUrl], folder: &Folder) -> Vec<StoreUrl> {
    let mut all = stores.to_vec();
    for store in stores {
        let archive = store.file().map(|file| file.with_extension("archive"));
        let files = archive.and_then(|archive| fs::read_dir(archive).ok());
        let mut files: Vec<PathBuf> = files
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|file| {
                let name = file.file_stem().and_then(|name| name.to_str());
                let is_store = file.extension().is_some_and(|extension| extension == "db");
                let mut seasons = folder.seasons.iter();
                let is_of =
                    |name: &str| seasons.any(|season| number_in(&season.section, name).is_some());
                is_store && name.is_some_and(is_of)
            })
            .collect();
        files.sort();
        all.extend(files.iter().map(StoreUrl::from));
    }
    all
}

/// The number of a league in the season of a section, by its id.
fn number_in(section: &str, league: &str) -> Option<u32> {
    let number = league.strip_prefix(section)?.strip_prefix('_')?;
    number.parse().ok()
}

/// The leagues of a section that have begun; those that are in none of the stores are named.
fn stored_nights(section: &str, stores: &[StoreUrl], zone: &TimeZone) -> Result<Vec<Night>> {
    let mut found = BTreeMap::new();
    for store in stores {
        for known in Store::open_read_only(store)?.leagues()? {
            let Some(id) = known.id else { continue };
            let Some(number) = number_in(section, id.as_str()) else {
                continue;
            };
            let location = Location {
                store: store.clone(),
                league: LeagueChoice::Named(id),
            };
            if let Entry::Vacant(place) = found.entry(number) {
                place.insert(Night::of(
                    &LeagueLog::load(&location.open()?)?,
                    section,
                    zone,
                ));
            }
        }
    }
    let last = found.keys().next_back().copied().unwrap_or(0);
    for number in (1..last).filter(|number| !found.contains_key(number)) {
        notice(&format!(
            "{section}_{number} is in none of the stores: name the file that it was archived to with --store"
        ));
    }
    Ok(found.into_values().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leagues_of_a_section_are_known_by_their_ids() {
        assert_eq!(number_in("monday", "monday_12"), Some(12));
        for other in ["monday_b_1", "mondays_1", "monday_", "monday_2026-03-02"] {
            assert_eq!(number_in("monday", other), None, "{other}");
        }
    }
}
