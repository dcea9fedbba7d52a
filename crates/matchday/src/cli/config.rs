//! `matchday config`: the settings in effect, and where each came from.

use super::competition;
use super::manager;
use super::settings::config::Flags;
use super::settings::{
    self, Config, Declared, LeagueFlags, ManagerFlags, PlayerFlags, RefereeFlags, RunFlags,
    SeatFlags, ServeFlags,
};
use anyhow::Result;
use matchday_core::league::{Competition, LeagueSettings};
use matchday_core::protocol::GameType;
use matchday_terminal::{say, table};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLE: &str = "\
A flag wins over the environment, the environment over the configuration file, the file over the default.

Example:
  matchday config --config spring.toml
  MATCHDAY_LEAD=5 matchday config manager --listen 0.0.0.0:8000";

#[derive(Debug, clap::Args)]
pub(super) struct ConfigArgs {
    /// A configuration file [default: matchday.toml, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the settings as JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<ConfigCommand>,
}

/// The command whose settings are shown, as it would see them with the same flags.
#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// The settings of `matchday manager`
    Manager(ManagerFlags),
    /// The settings of `matchday referee`
    Referee(RefereeFlags),
    /// The settings of `matchday player`
    Player(PlayerFlags),
    /// The settings of `matchday seat`
    Seat(SeatFlags),
    /// The settings of `matchday run`
    Run(RunFlags),
    /// The settings of `matchday serve`
    Serve(ServeFlags),
    /// The settings of a league of a service
    League(LeagueFlags),
}

pub(super) fn execute(args: ConfigArgs) -> Result<ExitCode> {
    let file = args.config;
    let sections = match args.command {
        Some(ConfigCommand::Manager(flags)) => vec![section(flags, &file)?],
        Some(ConfigCommand::Referee(flags)) => vec![section(flags, &file)?],
        Some(ConfigCommand::Player(flags)) => vec![section(flags, &file)?],
        Some(ConfigCommand::Seat(flags)) => vec![section(flags, &file)?],
        Some(ConfigCommand::Run(flags)) => vec![section(flags, &file)?],
        Some(ConfigCommand::Serve(flags)) => vec![section(flags, &file)?],
        Some(ConfigCommand::League(flags)) => vec![section(flags, &file)?],
        None => vec![
            section(ManagerFlags::default(), &file)?,
            section(RefereeFlags::default(), &file)?,
            section(PlayerFlags::default(), &file)?,
            section(SeatFlags::default(), &file)?,
            section(RunFlags::default(), &file)?,
            section(ServeFlags::default(), &file)?,
            section(LeagueFlags::default(), &file)?,
        ],
    };
    say(if args.json {
        as_json(&sections)?
    } else {
        for_people(&sections)
    });
    Ok(ExitCode::SUCCESS)
}

fn section<const SECTION: usize>(
    mut flags: Flags<SECTION>,
    file: &Option<PathBuf>,
) -> Result<(&'static str, Config)> {
    flags.config = flags.config.or_else(|| file.clone());
    let config = flags.resolve()?;
    settings::check_values(&config)?;
    let has = |setting: &Declared| config.values().any(|value| value.setting.id == setting.id);
    if has(&settings::FORMAT) {
        let competition = competition::configured(&config, Competition::default())?;
        let players = if has(&settings::PLAYERS) {
            config.get(&settings::PLAYERS)?
        } else {
            None
        };
        let league = LeagueSettings {
            competition,
            ..LeagueSettings::default()
        };
        competition::check(&config, &league, players.map(usize::from))?;
        let game = config.need(&settings::GAME)?;
        competition::score(&config, &GameType::new(game.name))?;
    }
    if has(&settings::START_WHEN) {
        manager::start_when(&config)?;
    }
    Ok((Flags::<SECTION>::NAME, config))
}

fn for_people(sections: &[(&str, Config)]) -> String {
    let rows: Vec<_> = sections
        .iter()
        .flat_map(|(section, config)| {
            config.values().map(move |value| {
                vec![
                    format!("{section}.{}", value.setting.name()),
                    value.to_string(),
                    value.source(),
                ]
            })
        })
        .collect();
    table(&["SETTING", "VALUE", "FROM"], &rows)
}

fn as_json(sections: &[(&str, Config)]) -> Result<String> {
    let mut all = Map::new();
    for (section, config) in sections {
        let values = config.values().map(|value| {
            let shown = value.text.as_ref().map(|_| value.to_string());
            (
                value.setting.name(),
                json!({"value": shown, "from": value.source()}),
            )
        });
        all.insert((*section).to_owned(), Value::Object(values.collect()));
    }
    Ok(serde_json::to_string_pretty(&all)?)
}
