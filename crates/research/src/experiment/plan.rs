//! The plan of an experiment, from TOML. Everything is checked before anything is played. Pure, but for looking whether
//! programs exist.

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
use toml::de::{DeTable, DeValue};

const KEYS: [&str; 12] = [
    "name",
    "games",
    "game_command",
    "strategies",
    "formats",
    "seeds",
    "repetitions",
    "series",
    "openings",
    "opening_turns",
    "think_time",
    "stop",
];
const STOP_KEYS: [&str; 4] = ["margin", "sprt", "alpha", "beta"];
/// The format in which every pair meets, beside those of leagues.
const DUELS: &str = "duels";

#[derive(Debug)]
pub struct Plan {
    pub name: String,
    /// As it was written.
    pub text: String,
    /// One for each game.
    pub tournaments: Vec<Tournament>,
    /// `None` for duels.
    pub formats: Vec<Option<Competition>>,
    pub seeds: Vec<u64>,
    /// Of a cell, at most.
    pub repetitions: u64,
    pub series: NonZeroU32,
    /// How many random openings of how many turns.
    pub openings: (usize, u32),
    pub stop: Option<Stop>,
}

/// A game and who plays it.
#[derive(Debug)]
pub struct Tournament {
    pub game: &'static GameEntry,
    /// If they are in a program.
    pub rules: Option<RulesProgram>,
    pub entrants: Entrants,
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
            self.formats
                .iter()
                .map(move |competition| (tournament, competition.as_ref()))
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

    /// The openings of a cell; they follow from its seed.
    pub fn openings_of(&self, cell: &Cell<'_>) -> Result<Vec<Opening>, String> {
        match self.openings {
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
        let keys = Keys::read(text)?;
        let wrong = |key: &str, why: String| format!("line {}: {key}: {why}", keys.line(key));
        let games = keys.texts("games")?.unwrap_or_default();
        let rules = match keys.text("game_command")? {
            Some(command) => {
                let started = RulesProgram::start(&command, stop).await;
                Some(started.map_err(|why| wrong("game_command", why))?)
            }
            None => None,
        };
        if games.is_empty() == rules.is_none() {
            return Err(
                "games: expected one or more, as in games = [\"nim\"], or a game_command"
                    .to_owned(),
            );
        }
        let games: Result<Vec<_>, String> = games
            .iter()
            .map(|name| Ok((known_game(name).map_err(|why| wrong("games", why))?, None)))
            .collect();
        let mut games: Vec<(&'static GameEntry, Option<RulesProgram>)> = games?;
        games.extend(rules.map(|(rules, game)| (game, Some(rules))));
        let strategies = keys.texts("strategies")?.unwrap_or_default();
        let think_time = keys.get("think_time", "seconds, more than 0", |value| {
            Duration::try_from_secs_f64(float(value)?)
                .ok()
                .filter(|time| !time.is_zero())
        })?;
        let think_time = think_time.unwrap_or(externals.think_time);
        let externals = Externals {
            think_time,
            ..externals.clone()
        };
        let tournaments =
            tournaments(games, &strategies, &externals).map_err(|why| wrong("strategies", why))?;
        let formats = keys
            .texts("formats")?
            .unwrap_or_else(|| vec![DUELS.to_owned()]);
        let formats: Result<Vec<_>, String> = formats
            .iter()
            .map(|name| known_format(name).map_err(|why| wrong("formats", why)))
            .collect();
        let seeds = keys.integers("seeds")?.unwrap_or_else(|| vec![1]);
        let openings = keys.integer("openings", 0..=1_000_000)?.unwrap_or(0);
        let turns = keys.integer("opening_turns", 1..=100)?.unwrap_or(2);
        let series = keys
            .integer("series", 1..=u64::from(u32::MAX))?
            .unwrap_or(2);
        let plan = Self {
            name: keys
                .text("name")?
                .unwrap_or_else(|| "Experiment".to_owned()),
            text: text.to_owned(),
            tournaments,
            formats: formats?,
            seeds,
            repetitions: keys
                .integer("repetitions", 1..=1_000_000_000)?
                .unwrap_or(100),
            series: u32::try_from(series)
                .ok()
                .and_then(NonZeroU32::new)
                .unwrap_or(NonZeroU32::MIN),
            openings: (
                usize::try_from(openings).unwrap_or(0),
                u32::try_from(turns).unwrap_or(1),
            ),
            stop: keys.stop()?,
        };
        plan.check().map_err(|(key, why)| wrong(key, why))?;
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

/// Each game is played by those strategies that it knows. One that no game knows is an error.
fn tournaments(
    games: Vec<(&'static GameEntry, Option<RulesProgram>)>,
    strategies: &[String],
    externals: &Externals,
) -> Result<Vec<Tournament>, String> {
    let plays = |game: &GameEntry, name: &str| name.contains(':') || knows(game, name).is_ok();
    for name in strategies {
        if name.contains([',', '"', '\n', '\r']) {
            return Err(format!(
                "{name:?}: a name cannot hold commas, quotes or line breaks"
            ));
        }
        if !games.iter().any(|(game, _)| plays(game, name)) {
            let known: Vec<&str> = games
                .iter()
                .flat_map(|(game, _)| game::strategy::of(game))
                .map(|entry| entry.name)
                .collect();
            let known = known.iter().copied();
            return Err(format!(
                "no game of the plan knows the strategy {name:?}{}",
                hint(name, known)
            ));
        }
    }
    let tournament = |(game, rules): (&'static GameEntry, Option<RulesProgram>)| {
        let names: Vec<String> = strategies
            .iter()
            .filter(|name| plays(game, name))
            .cloned()
            .collect();
        if !strategies.is_empty() && names.len() < 2 {
            return Err(format!(
                "{} would be played by {}, and it takes two",
                game.name,
                names.len()
            ));
        }
        Ok(Tournament {
            game,
            rules,
            entrants: Entrants::named(game, &names, externals)?,
        })
    };
    games.into_iter().map(tournament).collect()
}

fn take<'a>(
    section: &str,
    known: &[&str],
    table: DeTable<'a>,
    line_of: impl Fn(usize) -> usize,
    keys: &mut BTreeMap<String, (usize, DeValue<'a>)>,
) -> Result<(), String> {
    for (key, value) in table {
        let name = key.get_ref().to_string();
        let line = line_of(key.span().start);
        if !known.contains(&name.as_str()) {
            let hint = hint(&name, known.iter().copied());
            return Err(format!(
                "line {line}: there is no key {section}{name}{hint}"
            ));
        }
        keys.insert(format!("{section}{name}"), (line, value.into_inner()));
    }
    Ok(())
}

/// The keys of a plan with their lines.
struct Keys<'a>(BTreeMap<String, (usize, DeValue<'a>)>);

impl<'a> Keys<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let line_of = |start: usize| text.get(..start).unwrap_or("").matches('\n').count() + 1;
        let table = DeTable::parse(text).map_err(|error| {
            let line = line_of(error.span().unwrap_or_default().start);
            format!("line {line} is not TOML: {}", error.message())
        })?;
        let mut keys = BTreeMap::new();
        take("", &KEYS, table.into_inner(), line_of, &mut keys)?;
        if let Some((line, stop)) = keys.remove("stop") {
            let DeValue::Table(stop) = stop else {
                return Err(format!(
                    "line {line}: stop: expected a table, as in stop = {{ margin = 0.01 }}"
                ));
            };
            take("stop.", &STOP_KEYS, stop, line_of, &mut keys)?;
        }
        Ok(Self(keys))
    }

    /// 1 for a key that is not there.
    fn line(&self, key: &str) -> usize {
        let found = self
            .0
            .iter()
            .find(|(known, _)| known.as_str() == key || known.starts_with(&format!("{key}.")));
        found.map_or(1, |(_, (line, _))| *line)
    }

    fn get<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let Some((line, value)) = self.0.get(key) else {
            return Ok(None);
        };
        read(value)
            .map(Some)
            .ok_or_else(|| format!("line {line}: {key}: expected {expected}"))
    }

    fn text(&self, key: &str) -> Result<Option<String>, String> {
        self.get(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    fn texts(&self, key: &str) -> Result<Option<Vec<String>>, String> {
        self.get(
            key,
            "a list of texts, as in [\"random\", \"pattern\"]",
            |value| {
                value
                    .as_array()?
                    .iter()
                    .map(|one| one.get_ref().as_str().map(str::to_owned))
                    .collect()
            },
        )
    }

    fn integers(&self, key: &str) -> Result<Option<Vec<u64>>, String> {
        self.get(key, "a list of whole numbers, as in [1, 2, 3]", |value| {
            value
                .as_array()?
                .iter()
                .map(|one| integer(one.get_ref()))
                .collect()
        })
    }

    fn integer(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, String> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.get(key, &expected, |value| {
            integer(value).filter(|number| range.contains(number))
        })
    }

    fn float(&self, key: &str) -> Result<Option<f64>, String> {
        self.get(key, "a number", float)
    }

    fn stop(&self) -> Result<Option<Stop>, String> {
        let margin = self.get(
            "stop.margin",
            "a score between 0 and 0.5, as in 0.01",
            |value| float(value).filter(|margin| *margin > 0.0 && *margin < 0.5),
        )?;
        let sprt = self.get("stop.sprt", "two numbers, as in [0, 20]", |value| {
            let numbers: Option<Vec<f64>> = value
                .as_array()?
                .iter()
                .map(|one| float(one.get_ref()))
                .collect();
            <[f64; 2]>::try_from(numbers?).ok()
        })?;
        let [alpha, beta] = ["stop.alpha", "stop.beta"].map(|key| self.float(key));
        let wrong = |why: String| format!("line {}: {why}", self.line("stop"));
        match (margin, sprt) {
            (Some(_), Some(_)) => Err(wrong("stop: expected margin or sprt, not both".to_owned())),
            (Some(margin), None) => Ok(Some(Stop::Margin(margin))),
            (None, Some([elo0, elo1])) => {
                let sprt = Sprt::new(elo0, elo1, alpha?.unwrap_or(0.05), beta?.unwrap_or(0.05));
                sprt.map(|sprt| Some(Stop::Sprt(sprt)))
                    .map_err(|error| wrong(format!("stop.sprt: {error}")))
            }
            (None, None) => Ok(None),
        }
    }
}

fn integer(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn float(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => i64::from_str_radix(value.as_integer()?.as_str(), value.as_integer()?.radix())
            .ok()
            .map(|number| number as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Plan, String> {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let externals = Externals {
            think_time: Duration::from_secs(5),
            runtime: runtime.handle().clone(),
            models: None,
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
