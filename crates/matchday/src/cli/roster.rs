//! Join codes for those whom the operator knows: reads a roster, writes its codes into a file, and `matchday roster`, which
//! shows who has registered and makes new codes.

use super::operator::OperatorArgs;
use super::settings::{self, Config};
use super::{Usage, notice};
use crate::spreadsheet;
use anyhow::{Context, Result, anyhow};
use matchday_audit::csv_rows::csv;
use matchday_core::entropy::Entropy;
use matchday_core::league::{Invitation, Place};
use matchday_core::protocol::messages::{AgentRole, LeagueOrder, Order};
use matchday_core::protocol::{DisplayName, Endpoint, Token};
use matchday_os::file::create_private;
use matchday_runtime::entropy_from_system;
use matchday_terminal::table;
use serde_json::{Value, json};
use smol_str::SmolStr;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday manager --listen 0.0.0.0:8000 --roster class.csv    # writes class.codes.csv
  export MATCHDAY_OPERATOR_TOKEN=tok_operator_...
  matchday roster
  matchday roster rotate \"Ann Lee\"
  matchday roster rotate referees      # the code that referees share
  matchday roster add \"Bob Roy\" --role player";

/// An order names a place with its role before it, in an id of 128 bytes.
const NAME_BYTES_MAX: usize = 100;

#[derive(Debug, clap::Args)]
pub(super) struct RosterArgs {
    #[command(flatten)]
    operator: OperatorArgs,
    #[command(subcommand)]
    command: Option<RosterCommand>,
}

#[derive(Debug, clap::Subcommand)]
enum RosterCommand {
    /// Make a new code for a name and show it once; the agent that registers with it takes over the place
    Rotate {
        /// As on the roster; player:NAME or referee:NAME where both have it; or referees, for the code that they share
        name: String,
    },
    /// Put a name on the roster, and show its code, this once
    Add {
        name: String,
        /// What it may register as
        #[arg(long, value_name = "ROLE", default_value = "player", value_parser = ["player", "referee"])]
        role: String,
        /// The code that was handed out already [default: a new one is made]
        #[arg(long, value_name = "CODE")]
        code: Option<String>,
    },
}

pub(super) async fn execute(args: RosterArgs) -> Result<ExitCode> {
    let RosterArgs { operator, command } = args;
    let token = operator.needed_token()?;
    let client = operator.client()?;
    let mut join_code = None;
    let (order, agent_id, name) = match command {
        None => (Order::Roster, None, None),
        Some(RosterCommand::Rotate { name }) => {
            (Order::RotateCode, Some(SmolStr::from(&name)), Some(name))
        }
        Some(RosterCommand::Add { name, role, code }) => {
            join_code = code.map(Token::new);
            let place = SmolStr::from(format!("{role}:{name}"));
            (Order::Invite, Some(place), Some(name))
        }
    };
    let league_id = client.league().await?;
    let order = LeagueOrder {
        league_id,
        order,
        player_id: None,
        match_id: None,
        agent_id,
        join_code,
    };
    let Some(name) = name else {
        let status = client.order(order, &token).await?;
        return operator.show(&status, shown);
    };
    let (_, code) = client.rotate(order, &token).await?;
    let url = operator
        .manager()
        .parse()
        .ok()
        .map(|manager: Url| manager.joined(&code));
    let made = json!({ "name": name, "join_code": code.reveal(), "url": url });
    operator.show(&made, |made| {
        let url = made
            .get("url")
            .and_then(Value::as_str)
            .map(|url| format!("\n{url}"))
            .unwrap_or_default();
        format!(
            "join code of {name}, shown only once - for --code, or as the manager's URL:\n{}{url}",
            code.reveal()
        )
    })
}

/// The roster as a table.
fn shown(status: &Value) -> String {
    let places = status
        .get("roster")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if places.is_empty() {
        return "this league has no roster: anyone may register".to_owned();
    }
    let row = |place: &Value| {
        let text = |key: &str| {
            place
                .get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let name = Some(text("display_name")).filter(|name| !name.is_empty());
        vec![
            name.unwrap_or_else(|| "(any)".to_owned()),
            text("role"),
            text("state"),
            text("agent_id"),
        ]
    };
    table(
        &["NAME", "ROLE", "STATE", "AGENT"],
        &places.iter().map(row).collect::<Vec<_>>(),
    )
}

/// The URL of a manager.
struct Url(String);

impl std::str::FromStr for Url {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.strip_suffix("/mcp")
            .map(|base| Self(base.to_owned()))
            .ok_or(())
    }
}

impl Url {
    /// The URL with a join code in its path.
    fn joined(&self, code: &Token) -> String {
        format!("{}/join/{}/mcp", self.0, code.reveal())
    }
}

/// The URL of a manager without the join code in it, and the code.
pub(super) fn split(url: &str) -> (String, Option<Token>) {
    let parts = url
        .strip_suffix("/mcp")
        .and_then(|rest| rest.rsplit_once("/join/"));
    match parts.filter(|(_, code)| !code.is_empty() && !code.contains('/')) {
        Some((base, code)) => (format!("{base}/mcp"), Some(Token::new(code))),
        None => (url.to_owned(), None),
    }
}

/// One line of a roster, with the code that was made for it.
#[derive(Debug)]
pub(super) struct RosterEntry {
    pub(super) name: DisplayName,
    pub(super) role: AgentRole,
    pub(super) mail: String,
    pub(super) code: Token,
}

/// The codes that a new league begins with. Writes those of the roster into a file, and shows that of referees once.
pub(super) fn issue(
    config: &Config,
    contact: &Endpoint,
    only_this_machine: bool,
) -> Result<Vec<Invitation>> {
    let mut entropy = entropy_from_system()?;
    let mut invitations = Vec::new();
    if let Some(path) = config.text(&settings::ROSTER).map(PathBuf::from) {
        let entries = read(&path, &mut entropy)?;
        let codes = path.with_extension("codes.csv");
        write(&codes, &entries, contact)?;
        notice(&format!(
            "{} join codes are in {}, which you alone can read: hand each to its owner",
            entries.len(),
            codes.display()
        ));
        invitations.extend(entries.into_iter().map(|entry| Invitation {
            role: entry.role,
            name: Some(entry.name),
            code: entry.code.hash(),
        }));
    }
    let named = invitations
        .iter()
        .any(|invitation| invitation.role == AgentRole::Referee);
    let shared = |code: &Token| Invitation {
        role: AgentRole::Referee,
        name: None,
        code: code.hash(),
    };
    match config.text(&settings::REFEREE_CODE) {
        Some("off") => {}
        Some(text) => {
            invitations.push(shared(&referee_code(config, text)?));
        }
        None if only_this_machine || named => {}
        None => {
            let code = Token::new_join_code(&mut entropy);
            notice(&format!(
                "join code for referees, shown only once - for `matchday referee --code`: {}",
                code.reveal()
            ));
            invitations.push(shared(&code));
        }
    }
    Ok(invitations)
}

/// The code that referees share, as the operator gives it.
pub(super) fn referee_code(config: &Config, text: &str) -> Result<Token> {
    let code = Token::new(text);
    if code.is_join_code() {
        Ok(code)
    } else {
        let why = "expected off, or tok_join_ and at least 16 letters and digits that nobody can guess (it is not \
                       shown here)";
        Err(config.wrong(&settings::REFEREE_CODE, why))
    }
}

/// Says which names of the file are not on the roster of a league that has begun.
pub(super) fn tell_missing(config: &Config, roster: &[Place]) -> Result<()> {
    let Some(path) = config.text(&settings::ROSTER) else {
        return Ok(());
    };
    let known: BTreeSet<_> = roster
        .iter()
        .map(|place| (place.invitation.role, place.invitation.name.clone()))
        .collect();
    let entries = read(Path::new(path), &mut Entropy::numbered(0))?;
    let missing: Vec<_> = (entries.iter())
        .filter(|entry| !known.contains(&(entry.role, Some(entry.name.clone()))))
        .map(|entry| entry.name.raw())
        .collect();
    if !missing.is_empty() {
        let names = missing.join(", ");
        notice(&format!(
            "the league has begun with another roster - add with `matchday roster add`: {names}"
        ));
    }
    Ok(())
}

fn read(path: &Path, entropy: &mut Entropy) -> Result<Vec<RosterEntry>> {
    let file = format!("--roster: {}", path.display());
    let bytes = std::fs::read(path)
        .with_context(|| format!("{file} cannot be read: name a CSV file with name, role, mail"))?;
    parse(&file, &spreadsheet::decode(&bytes).0, entropy)
}

/// The entries of a roster; `file` is what errors call it.
pub(super) fn parse(file: &str, text: &str, entropy: &mut Entropy) -> Result<Vec<RosterEntry>> {
    let (text, _) = spreadsheet::decode(text.as_bytes());
    let text = text.as_str();
    let mut lines = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(spreadsheet::delimiter(text))
        .from_reader(text.as_bytes());
    let mut entries = Vec::new();
    let mut seen = BTreeSet::new();
    for line in lines.records() {
        let line = line.with_context(|| format!("{file} is no CSV"))?;
        let number = line.position().map_or(1, csv::Position::line);
        let cell = |place: usize| line.get(place).unwrap_or_default();
        if line.iter().all(str::is_empty) || number == 1 && cell(0).eq_ignore_ascii_case("name") {
            continue;
        }
        let wrong = |what: String| anyhow!(Usage(format!("{file}, line {number}: {what}")));
        let name = DisplayName::parse(cell(0))
            .ok()
            .filter(|name| name.raw().len() <= NAME_BYTES_MAX);
        let name = name.ok_or_else(|| {
            wrong(format!(
                "expected a name of 1 to 50 characters and at most {NAME_BYTES_MAX} bytes"
            ))
        })?;
        let role = match cell(1).to_ascii_lowercase().as_str() {
            "" | "player" => AgentRole::Player,
            "referee" => AgentRole::Referee,
            other => {
                return Err(wrong(format!(
                    "role: expected player or referee, got {other:?}"
                )));
            }
        };
        if !seen.insert((role, name.clone())) {
            return Err(wrong(format!(
                "{} is on the roster twice: tell them apart by their names",
                name.escaped()
            )));
        }
        let code = match cell(3) {
            "" => Token::new_join_code(entropy),
            text => Some(Token::new(text)).filter(Token::is_join_code).ok_or_else(|| {
                wrong(
                    "join_code: expected tok_join_ and at least 16 letters and digits, or nothing".to_owned(),
                )
            })?,
        };
        if entries
            .iter()
            .any(|entry: &RosterEntry| entry.code.reveal() == code.reveal())
        {
            return Err(wrong(
                "join_code: another line has the same: each needs one of its own".to_owned(),
            ));
        }
        entries.push(RosterEntry {
            name,
            role,
            mail: cell(2).to_owned(),
            code,
        });
    }
    if entries.is_empty() {
        return Err(anyhow!(Usage(format!("{file} lists nobody"))));
    }
    Ok(entries)
}

/// A line of the file of codes.
#[derive(serde::Serialize)]
struct CodeRow<'a> {
    name: &'a str,
    role: &'static str,
    mail: &'a str,
    join_code: &'a str,
    url: String,
}

/// The codes, in a new file for its owner alone.
fn write(path: &Path, entries: &[RosterEntry], contact: &Endpoint) -> Result<()> {
    let mut file = create_private(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => anyhow!(
            "{} exists already, with the codes of an earlier league: move it away, or remove it, and start again",
            path.display()
        ),
        _ => anyhow!("{} cannot be written: {error}", path.display()),
    })?;
    let url: Option<Url> = contact.raw().parse().ok();
    let rows = entries.iter().map(|entry| CodeRow {
        name: entry.name.raw(),
        role: entry.role.name(),
        mail: &entry.mail,
        join_code: entry.code.reveal(),
        url: url
            .as_ref()
            .map(|url| url.joined(&entry.code))
            .unwrap_or_default(),
    });
    file.write_all(csv(rows)?.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roster(text: &str) -> Result<Vec<(String, AgentRole, String)>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("class.csv");
        std::fs::write(&path, text)?;
        let entries = read(&path, &mut Entropy::numbered(1))?;
        Ok(entries
            .into_iter()
            .map(|entry| (entry.name.raw().to_owned(), entry.role, entry.mail))
            .collect())
    }

    #[test]
    fn a_roster_has_names_roles_and_mails() {
        let text = "Name,Role,Mail\nAnn Lee,player,ann@example.org\n\n\"Roy, Bob\"\nRef,referee\n";
        assert_eq!(
            roster(text).unwrap(),
            [
                (
                    "Ann Lee".into(),
                    AgentRole::Player,
                    "ann@example.org".into()
                ),
                ("Roy, Bob".into(), AgentRole::Player, String::new()),
                ("Ref".into(), AgentRole::Referee, String::new()),
            ]
        );
    }

    #[test]
    fn a_roster_that_cannot_be_meant_is_refused_with_its_line() {
        for (text, what) in [
            ("Ann\nAnn\n", "line 2"),
            ("Ann,captain\n", "role: expected player or referee"),
            (",player\n", "line 1"),
            (
                "Ann,player,,short\n",
                "line 1: join_code: expected tok_join_",
            ),
            (
                "Ann,player,,tok_join_0123456789abcdef\nBob,player,,tok_join_0123456789abcdef\n",
                "line 2: join_code: another line has the same",
            ),
            ("name,role\n", "lists nobody"),
        ] {
            let error = roster(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text:?}: {error}");
        }
    }

    #[test]
    fn a_roster_may_bring_its_join_codes() {
        let text = "name,role,mail,join_code\nAnn,player,,tok_join_0123456789abcdef\nBob\n";
        let entries = parse("class.csv", text, &mut Entropy::numbered(1)).unwrap();
        assert_eq!(entries[0].code.reveal(), "tok_join_0123456789abcdef");
        assert!(entries[1].code.is_join_code());
    }

    #[test]
    fn a_join_code_in_the_url_of_a_manager_is_taken_out_of_it() {
        let (url, code) = split("https://league.example/join/tok_join_12/mcp");
        assert_eq!(
            (url.as_str(), code.as_ref().map(Token::reveal)),
            ("https://league.example/mcp", Some("tok_join_12"))
        );
        for plain in [
            "http://localhost:8000/mcp",
            "http://h/join/mcp",
            "http://h/join//mcp",
            "http://h/join/a/b/mcp",
        ] {
            assert_eq!(split(plain), (plain.to_owned(), None));
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_codes_are_written_for_their_owner_alone_and_never_over_others() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("class.codes.csv");
        let code = Token::new_join_code(&mut Entropy::numbered(1));
        let entry = RosterEntry {
            name: DisplayName::parse("Ann").unwrap(),
            role: AgentRole::Player,
            mail: String::new(),
            code,
        };
        let contact = Endpoint::parse("http://league.example:8000/mcp").unwrap();
        write(&path, std::slice::from_ref(&entry), &contact).unwrap();
        assert_eq!(
            std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let url = format!(
            "http://league.example:8000/join/{}/mcp",
            entry.code.reveal()
        );
        assert!(std::fs::read_to_string(&path).unwrap().contains(&url));
        assert!(
            write(&path, &[entry], &contact)
                .unwrap_err()
                .to_string()
                .contains("exists already")
        );
    }
}
