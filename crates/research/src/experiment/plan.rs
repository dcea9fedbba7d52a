//! The plan of an experiment, from TOML. Everything is checked before anything is played. Pure, but for looking whether
//! programs, prompts and keys exist.

use super::keys::{Keys, float};
use super::models::{Halt, ModelPlayer};
use super::players::{self, PlayerEntry};
use crate::Entrant;
use crate::match_row::DUELS;
use crate::openings::{self, Opening};
use crate::simulate::entrants::{Entrants, Externals, knows};
use crate::simulate::rules_program::RulesProgram;
use matchday_core::game::{self, GAMES, GameEntry};
use matchday_core::league::format::{Competition, Format};
use matchday_core::protocol::GameType;
use matchday_stats::sprt::Sprt;
use matchday_terminal::suggest::hint;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub(super) const KEYS: [&str; 15] = [
    "name",
    "games",
    "game",
    "game_command",
    "strategies",
    "player",
    "provider",
    "formats",
    "seeds",
    "repetitions",
    "series",
    "openings",
    "opening_turns",
    "think_time",
    "stop",
];
const GAME_KEYS: [&str; 5] = ["name", "formats", "series", "openings", "opening_turns"];
const STOP_KEYS: [&str; 4] = ["margin", "sprt", "alpha", "beta"];
/// For a move of a program, and of a model, if the plan does not say otherwise.
const THINK_TIMES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];

#[derive(Debug)]
pub struct Plan {
    pub name: String,
    /// As it was written.
    pub text: String,
    /// One for each game.
    pub tournaments: Vec<Tournament>,
    pub seeds: Vec<u64>,
    /// Of a cell, at most.
    pub repetitions: u64,
    pub stop: Option<Stop>,
    /// The language models, which play every game.
    pub models: Vec<Arc<ModelPlayer>>,
    /// Set when the run must end before its time.
    pub halt: Arc<Halt>,
}

/// A game and who plays it.
#[derive(Debug)]
pub struct Tournament {
    pub game: &'static GameEntry,
    /// If they are in a program.
    pub rules: Option<RulesProgram>,
    pub entrants: Entrants,
    /// The models among them, with their places.
    pub models: Vec<(usize, Arc<ModelPlayer>)>,
    pub settings: GameSettings,
}

/// How a game is played.
#[derive(Debug, Clone)]
pub struct GameSettings {
    /// `None` for duels.
    pub formats: Vec<Option<Competition>>,
    pub series: NonZeroU32,
    /// How many random openings of how many turns.
    pub openings: (usize, u32),
}

impl GameSettings {
    /// In a repetition of duels each player has each seat equally often.
    pub(super) fn matches_of_pair(&self) -> u32 {
        let series = self.series.get();
        if series.is_multiple_of(2) {
            series
        } else {
            series.saturating_mul(2)
        }
    }
}

/// When a cell ends before all its repetitions are played.
#[derive(Debug, Clone, Copy)]
pub enum Stop {
    /// The score of every strategy is known within this margin, with a confidence of 95 %.
    Margin(f64),
    /// The question about two strategies is settled.
    Sprt(Sprt),
}

/// One game in one format with one seed.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    pub tournament: &'a Tournament,
    pub competition: Option<&'a Competition>,
    pub seed: u64,
    /// The number of its game and format, counted together.
    pub group: usize,
}

pub fn format_name(competition: Option<&Competition>) -> &'static str {
    competition.map_or(DUELS, |competition| competition.format.name())
}

impl Tournament {
    pub fn names(&self) -> Vec<String> {
        self.entrants
            .entrants
            .iter()
            .map(|entrant| entrant.name.clone())
            .collect()
    }
}

impl Plan {
    /// In the order in which they are played.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        let groups = self.tournaments.iter().flat_map(|tournament| {
            let formats = tournament.settings.formats.iter();
            formats.map(move |competition| (tournament, competition.as_ref()))
        });
        let cells = groups
            .enumerate()
            .flat_map(|(group, (tournament, competition))| {
                self.seeds.iter().map(move |seed| Cell {
                    tournament,
                    competition,
                    seed: *seed,
                    group,
                })
            });
        cells.collect()
    }

    /// How many calls of models may be under way; 0 without models.
    pub fn calls_at_once(&self) -> usize {
        let providers = self.models.iter().map(|model| &model.provider);
        let by_url: BTreeMap<&str, usize> = providers
            .map(|provider| (provider.url.as_str(), provider.concurrency))
            .collect();
        by_url.values().sum()
    }

    /// The openings of a cell; they follow from its seed.
    pub fn openings_of(&self, cell: &Cell<'_>) -> Result<Vec<Opening>, String> {
        match cell.tournament.settings.openings {
            (0, _) => Ok(Vec::new()),
            (count, turns) => openings::random(cell.tournament.game, count, turns, cell.seed)
                .map_err(|bad| bad.why),
        }
    }

    /// Fails with the line and what is wrong in it.
    pub async fn read(
        text: &str,
        externals: &Externals,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, String> {
        let mut keys = Keys::read(text, &KEYS)?;
        let stop_table = keys.table("stop", &STOP_KEYS, "stop = { margin = 0.01 }")?;
        let game_tables = keys.tables("game", &GAME_KEYS)?;
        let think_time = think_time(&keys)?;
        let [of_programs, of_models] = THINK_TIMES;
        let externals = Externals {
            think_time: think_time.unwrap_or(of_programs),
            ..externals.clone()
        };
        let players = players::read(&mut keys, &externals)?;
        let halt = Halt::of(stop);
        let think_time = think_time.unwrap_or(of_models);
        let models = players.iter().filter_map(|entry| match entry {
            PlayerEntry::Model(model) => Some(ModelPlayer {
                think_time,
                halt: Arc::clone(&halt),
                ..(**model).clone()
            }),
            PlayerEntry::Program(..) => None,
        });
        let models: Vec<Arc<ModelPlayer>> = models.map(Arc::new).collect();
        let strategies = keys.texts("strategies")?.unwrap_or_default();
        let games = games(&keys, &game_tables, stop).await?;
        known_strategies(&games, &strategies).map_err(|why| keys.wrong("strategies", why))?;
        let mut tournaments = Vec::new();
        for (game, rules, settings) in games {
            let of_game = entrants(game, &strategies, &players, &externals);
            let entrants = of_game.map_err(|why| keys.wrong("strategies", why))?;
            let place = |model: &Arc<ModelPlayer>| {
                let named = |entrant: &Entrant| entrant.name == model.name;
                Some((entrants.entrants.iter().position(named)?, Arc::clone(model)))
            };
            tournaments.push(Tournament {
                game,
                rules,
                models: models.iter().filter_map(place).collect(),
                entrants,
                settings,
            });
        }
        let plan = Self {
            name: keys
                .text("name")?
                .unwrap_or_else(|| "Experiment".to_owned()),
            text: text.to_owned(),
            tournaments,
            seeds: keys.integers("seeds")?.unwrap_or_else(|| vec![1]),
            repetitions: keys
                .integer("repetitions", 1..=1_000_000_000)?
                .unwrap_or(100),
            stop: stop_table.as_ref().map_or(Ok(None), stop_rule)?,
            models,
            halt,
        };
        plan.check().map_err(|(key, why)| keys.wrong(key, why))?;
        Ok(plan)
    }

    /// What only shows when the keys are seen together.
    fn check(&self) -> Result<(), (&'static str, String)> {
        let different: BTreeSet<u64> = self.seeds.iter().copied().collect();
        if self.seeds.is_empty() || different.len() < self.seeds.len() {
            return Err(("seeds", "expected one or more, each once".to_owned()));
        }
        for cell in self.cells() {
            let players = cell.tournament.entrants.entrants.len();
            let game = cell.tournament.game.name;
            if let Some(competition) = cell.competition {
                let fits = competition.check_for(players);
                fits.map_err(|error| {
                    (
                        "formats",
                        format!("{} of {game}: {error}", competition.format),
                    )
                })?;
            }
            self.openings_of(&cell).map_err(|why| ("openings", why))?;
            if matches!(self.stop, Some(Stop::Sprt(_))) && players != 2 {
                let why =
                    format!("sprt is a question about two strategies, and {game} has {players}");
                return Err(("stop", why));
            }
        }
        Ok(())
    }
}

pub(super) fn think_time(keys: &Keys<'_>) -> Result<Option<Duration>, String> {
    keys.get("think_time", "seconds, more than 0", |value| {
        Duration::try_from_secs_f64(float(value)?)
            .ok()
            .filter(|time| !time.is_zero())
    })
}

type PlannedGame = (&'static GameEntry, Option<RulesProgram>, GameSettings);

/// Those of `games`, of each `[[game]]`, and of `game_command`.
async fn games(
    keys: &Keys<'_>,
    tables: &[Keys<'_>],
    stop: &Arc<AtomicBool>,
) -> Result<Vec<PlannedGame>, String> {
    let common = GameSettings {
        formats: vec![None],
        series: NonZeroU32::new(2).unwrap_or(NonZeroU32::MIN),
        openings: (0, 2),
    };
    let common = settings(keys, &common)?;
    let mut games: Vec<PlannedGame> = Vec::new();
    for name in keys.texts("games")?.unwrap_or_default() {
        let game = known_game(&name).map_err(|why| keys.wrong("games", why))?;
        games.push((game, None, common.clone()));
    }
    for table in tables {
        let name = table.text("name")?.unwrap_or_default();
        let game = known_game(&name).map_err(|why| table.wrong("name", why))?;
        games.push((game, None, settings(table, &common)?));
    }
    if let Some(command) = keys.text("game_command")? {
        let started = RulesProgram::start(&command, stop).await;
        let (rules, game) = started.map_err(|why| keys.wrong("game_command", why))?;
        if !games.is_empty() {
            return Err(keys.wrong("game_command", "expected games or a game_command, not both"));
        }
        games.push((game, Some(rules), common));
    }
    if games.is_empty() {
        return Err(
            "games: expected one or more, as in games = [\"nim\"], or a game_command".to_owned(),
        );
    }
    let names: BTreeSet<&str> = games.iter().map(|(game, ..)| game.name).collect();
    if names.len() < games.len() {
        return Err(keys.wrong("games", "expected each game once"));
    }
    Ok(games)
}

fn settings(keys: &Keys<'_>, common: &GameSettings) -> Result<GameSettings, String> {
    let formats = keys.texts("formats")?.map(|names| {
        let known = |name: &String| known_format(name).map_err(|why| keys.wrong("formats", why));
        names.iter().map(known).collect::<Result<Vec<_>, _>>()
    });
    let series = keys.count("series", 1..=u32::MAX)?;
    let openings = keys.count("openings", 0..=1_000_000)?;
    let turns = keys.count("opening_turns", 1..=100)?;
    let (count, length) = common.openings;
    Ok(GameSettings {
        formats: formats.unwrap_or_else(|| Ok(common.formats.clone()))?,
        series: series.and_then(NonZeroU32::new).unwrap_or(common.series),
        openings: (
            openings.map_or(count, |count| count as usize),
            turns.unwrap_or(length),
        ),
    })
}

fn known_game(name: &str) -> Result<&'static GameEntry, String> {
    let names = GAMES.iter().map(|game| game.name);
    game::find(&GameType::new(name))
        .ok_or_else(|| format!("there is no game {name:?}{}", hint(name, names)))
}

fn known_format(name: &str) -> Result<Option<Competition>, String> {
    let names = std::iter::once(DUELS).chain(Format::ENDING.iter().map(|format| format.name()));
    match Format::find(name).filter(|format| Format::ENDING.contains(format)) {
        Some(format) => Ok(Some(Competition::of(format))),
        None if name == DUELS => Ok(None),
        None => Err(format!("there is no format {name:?}{}", hint(name, names))),
    }
}

fn plays(game: &GameEntry, name: &str) -> bool {
    name.contains(':') || knows(game, name).is_ok()
}

/// A strategy that no game knows is an error.
fn known_strategies(games: &[PlannedGame], strategies: &[String]) -> Result<(), String> {
    for name in strategies {
        if name.contains([',', '"', '\n', '\r']) {
            return Err(format!(
                "{name:?}: a name cannot hold commas, quotes or line breaks"
            ));
        }
        if !games.iter().any(|(game, ..)| plays(game, name)) {
            let known: Vec<&str> = games
                .iter()
                .flat_map(|(game, ..)| game::strategy::of(game))
                .map(|entry| entry.name)
                .collect();
            let known = known.iter().copied();
            return Err(format!(
                "no game of the plan knows the strategy {name:?}{}",
                hint(name, known)
            ));
        }
    }
    Ok(())
}

/// A game is played by every player of the plan, and by those strategies that it knows: all, if nobody is named.
fn entrants(
    game: &'static GameEntry,
    strategies: &[String],
    players: &[PlayerEntry],
    externals: &Externals,
) -> Result<Entrants, String> {
    let names: Vec<String> = strategies
        .iter()
        .filter(|name| plays(game, name))
        .cloned()
        .collect();
    let count = names.len() + players.len();
    if (!strategies.is_empty() || !players.is_empty()) && count < 2 {
        return Err(format!(
            "{} would be played by {count}, and it takes two",
            game.name
        ));
    }
    if players.is_empty() {
        return Entrants::named(game, &names, externals);
    }
    if let Some(player) = players.iter().find(|player| names.contains(player.name())) {
        let name = player.name();
        return Err(format!("{name} is the name of a [[player]], too"));
    }
    let mut all = Entrants::of(game, &names, externals)?;
    for entry in players {
        match entry {
            PlayerEntry::Program(name, external) => all.add_program(name, external, externals),
            PlayerEntry::Model(model) => all.entrants.push(model.entrant()),
        }
    }
    Ok(all)
}

fn stop_rule(keys: &Keys<'_>) -> Result<Option<Stop>, String> {
    let margin = keys.get("margin", "a score between 0 and 0.5, as in 0.01", |value| {
        float(value).filter(|margin| *margin > 0.0 && *margin < 0.5)
    })?;
    let sprt = keys.get("sprt", "two numbers, as in [0, 20]", |value| {
        let numbers: Option<Vec<f64>> = value
            .as_array()?
            .iter()
            .map(|one| float(one.get_ref()))
            .collect();
        <[f64; 2]>::try_from(numbers?).ok()
    })?;
    let [alpha, beta] = ["alpha", "beta"].map(|key| keys.float(key));
    match (margin, sprt) {
        (Some(_), Some(_)) => Err(keys.wrong("margin", "expected margin or sprt, not both")),
        (Some(margin), None) => Ok(Some(Stop::Margin(margin))),
        (None, Some([elo0, elo1])) => {
            let sprt = Sprt::new(elo0, elo1, alpha?.unwrap_or(0.05), beta?.unwrap_or(0.05));
            sprt.map(|sprt| Some(Stop::Sprt(sprt)))
                .map_err(|error| keys.wrong("sprt", error))
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use matchday_net::client::Client;

    fn read(text: &str) -> Result<Plan, String> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let externals = Externals {
            think_time: Duration::from_secs(5),
            runtime: runtime.handle().clone(),
            client: Client::new(),
            replays: false,
        };
        runtime.block_on(Plan::read(text, &externals, &Arc::default()))
    }

    #[test]
    fn a_plan_has_a_cell_for_each_game_format_and_seed() {
        let plan = read(
            "games = [\"nim\", \"iterated_prisoners_dilemma\"]\nstrategies = [\"random\", \"optimal\", \"grim\"]\n\
             formats = [\"duels\", \"swiss\"]\nseeds = [3, 4, 5]\nstop = { margin = 0.02 }",
        )
        .unwrap();
        let cells = plan.cells();
        let named = |cell: &Cell<'_>| {
            (
                cell.tournament.game.name,
                format_name(cell.competition),
                cell.seed,
                cell.group,
            )
        };
        assert_eq!(cells.len(), 12);
        assert_eq!(named(&cells[0]), ("nim", "duels", 3, 0));
        assert_eq!(
            named(&cells[11]),
            ("iterated_prisoners_dilemma", "swiss", 5, 3)
        );
        assert_eq!(plan.tournaments[0].names(), ["random", "optimal"]);
        assert_eq!(plan.tournaments[1].names(), ["random", "grim"]);
    }

    #[test]
    fn the_plan_of_the_manual_is_read() {
        let page = include_str!("../../../../docs/models.md");
        let (_, rest) = page.split_once("```toml").unwrap();
        let (text, _) = rest.split_once("```").unwrap();
        let plan = read(text).unwrap();
        assert_eq!(
            plan.tournaments[0].names(),
            ["random", "optimal", "small", "local"]
        );
        assert_eq!(plan.tournaments[1].names(), ["random", "small", "local"]);
        assert_eq!(plan.tournaments[1].settings.openings, (20, 2));
        assert_eq!(plan.calls_at_once(), 8);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_what_was_meant() {
        for (text, words) in [
            ("", "games: expected one or more"),
            (
                "games = [\"nim\"]\nrepetition = 5",
                "line 2: there is no key repetition - did you mean \"repetitions\"?",
            ),
            (
                "games = [\"nimm\"]",
                "line 1: games: there is no game \"nimm\" - did you mean \"nim\"?",
            ),
            (
                "games = [\"nim\"]\n\nstrategies = [\"random\", \"optimall\"]",
                "line 3: strategies: no game of the plan knows the strategy \"optimall\" - did you mean \"optimal\"?",
            ),
            (
                "games = [\"nim\"]\nstrategies = [\"random\"]",
                "nim would be played by 1, and it takes two",
            ),
            (
                "games = [\"nim\"]\nformats = [\"swis\"]",
                "line 2: formats: there is no format \"swis\" - did you mean \"swiss\"?",
            ),
            ("games = \"nim\"", "line 1: games: expected a list of texts"),
            (
                "games = [\"nim\"]\nseeds = [1, 1]",
                "line 2: seeds: expected one or more, each once",
            ),
            (
                "games = [\"nim\"]\nseeds = [-1]",
                "line 2: seeds: expected a list of whole numbers",
            ),
            (
                "games = [\"nim\"]\nrepetitions = 0",
                "line 2: repetitions: expected a whole number from 1 to",
            ),
            (
                "games = [\"nim\"]\nstop = 5",
                "line 2: stop: expected a table",
            ),
            (
                "games = [\"nim\"]\n[stop]\nmargn = 1",
                "line 3: there is no key stop.margn - did you mean \"margin\"?",
            ),
            (
                "games = [\"nim\"]\n[stop]\nmargin = 1",
                "line 3: stop.margin: expected a score between 0 and 0.5",
            ),
            (
                "games = [\"nim\"]\n[stop]\nsprt = [5, 5]",
                "line 3: stop.sprt: elo0 must be below elo1",
            ),
            (
                "games = [\"rock_paper_scissors\"]\n[stop]\nsprt = [0, 5]",
                "line 3: stop: sprt is a question about two",
            ),
            (
                "games = [\"nim\"]\n[[game]]\nname = \"nim\"",
                "line 1: games: expected each game once",
            ),
            (
                "games = [\"nim\"]\n[[player]]\nname = \"a\"",
                "line 3: player.model: expected the name of the model",
            ),
            (
                "games = [\"nim\"]\n[[player]]\nname = \"a\"\nmodel = \"m\"\napi = \"anthropc\"",
                "line 5: player.api: there is no API \"anthropc\" - did you mean \"anthropic\"?",
            ),
            (
                "games = [\"nim\"]\n[[player]]\nname = \"a\"\nmodel = \"m\"\nkey_env = \"MATCHDAY_NO_SUCH_KEY\"",
                "line 5: player.key_env: MATCHDAY_NO_SUCH_KEY is not set",
            ),
            (
                "games = [\"nim\"]\n[[player]]\nname = \"a\"\nmodel = \"m\"\napi = \"anthropic\"\nseed = 5",
                "line 6: player.seed: anthropic has no seed",
            ),
            (
                "games = [\"nim\"]\nstrategies = [\"llm:m\", \"random\"]",
                "line 2: strategies: \"llm:m\": a model is a [[player]]",
            ),
            (
                "games = [\"nim\"]\n[[player]]\nname = \"a\"\nmodel = \"m\"",
                "nim would be played by 1, and it takes two",
            ),
            (
                "games = [\"even_odd\"]\nopenings = 5",
                "line 2: openings: even_odd has no openings of 2 turns",
            ),
            ("games = [", "line 1 is not TOML"),
        ] {
            let error = read(text).map(|plan| plan.name).unwrap_err();
            assert!(error.contains(words), "{text:?}: {error}");
        }
    }
}
