//! Agents as a student writes them from the protocol's documents alone (`lib/`), mixed with ours as they come: each league in a
//! network of its own, on the ports that the documents name. The tables of mixes in docs/protocol-decisions.md are what happens here:
//! `UPDATE_DOCS=1 cargo test -p matchday --test zoo plain::`

use matchday_testkit::cli::{Process, command};
use matchday_testkit::eventually::eventually;
use matchday_testkit::namespaces::Namespaces;
use matchday_testkit::tools::require;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::{env, fs, thread};

const MATCHDAY: &str = env!("CARGO_BIN_EXE_matchday");
const EDITIONS: [&str; 3] = ["careful", "002", "001"];
/// Leagues at a time: two cores are idle while agents start one after the other.
const AT_ONCE: usize = 4;
const MATCHES: usize = 6;

/// Who made an agent: we, or a student, and then its habit or "".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Make {
    Ours,
    Plain(&'static str),
}
use Make::{Ours, Plain};

impl Make {
    const ALL: [Self; 2] = [Ours, Plain("")];

    fn word(self) -> &'static str {
        match self {
            Ours => "ours",
            Plain(_) => "plain",
        }
    }
}

/// A manager, two referees and four players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Mix {
    edition: &'static str,
    manager: Make,
    referees: Make,
    players: Make,
}

impl Mix {
    /// The words by which `lib/league.py` starts the students' agents of this mix.
    fn plain_agents(self) -> Vec<String> {
        let all = [
            ("manager", self.manager, 1),
            ("referee", self.referees, 2),
            ("player", self.players, 4),
        ];
        let mut words = Vec::new();
        for (role, make, count) in all {
            match make {
                Ours => {}
                Plain("") => words.extend(vec![role.to_owned(); count]),
                Plain(habit) => words.extend(vec![format!("{role}:{habit}"); count]),
            }
        }
        words
    }
}

/// A league of a mix that has begun, or will as soon as everybody is there.
struct PlainLeague {
    mix: Mix,
    folder: tempfile::TempDir,
    manager: Option<Process>,
    students: Option<Process>,
    agents: Vec<Process>,
    network: Namespaces,
}

impl PlainLeague {
    /// `None` where the machine has no networks of its own to give.
    fn start(mix: Mix, flags: &[&str]) -> Option<Self> {
        let mut league = Self {
            mix,
            folder: tempfile::tempdir().unwrap(),
            manager: None,
            students: None,
            agents: Vec::new(),
            network: Namespaces::new(&["plain"])?,
        };
        if mix.manager == Ours {
            let start = ["manager", "--start-when", "players=4,referees=2"];
            let manager = league.exec("manager", &[&start, flags].concat());
            manager.until("listening on");
            league.manager = Some(manager);
        }
        let words = mix.plain_agents();
        if !words.is_empty() {
            let zoo = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/zoo/lib/league.py");
            let mut python = command("python3");
            python.arg("-B").arg(zoo).arg(mix.edition).args(&words);
            let students = league.network.exec(0, &python);
            if mix.manager != Ours {
                students.until("listening");
            }
            league.students = Some(students);
        }
        for (role, make, ports) in [
            ("referee", mix.referees, 8001..=8002),
            ("player", mix.players, 8101..=8104),
        ] {
            if make == Ours {
                // One after the other: a student's referee takes P01 to be on port 8101.
                for port in ports {
                    let listen = format!("127.0.0.1:{port}");
                    let name = format!("{role}-{port}");
                    let agent = league.exec(&name, &[role, "--listen", &listen]);
                    agent.until("registered as");
                    league.agents.push(agent);
                }
            }
        }
        Some(league)
    }

    /// Starts our program in a folder of its own.
    fn exec(&self, folder: &str, args: &[&str]) -> Process {
        let folder = self.folder.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let mut program = command(MATCHDAY);
        program.args(args).current_dir(folder);
        self.network.exec(0, &program)
    }

    /// A page of our manager, as a browser gets it.
    fn page(&self, path: &str) -> Value {
        const GET: &str = "import sys, urllib.request\n\
                           print(urllib.request.urlopen(sys.argv[1]).read().decode())";
        let url = format!("http://127.0.0.1:8000{path}");
        let mut python = command("python3");
        python.args(["-c", GET, &url]);
        let python = self.network.exec(0, &python);
        eventually("the page", || {
            let line = python.out();
            serde_json::from_str(&line).map_err(|_| line + &python.err())
        })
    }

    /// What the students' agents have told under this name.
    fn told(&self, name: &str) -> Vec<Value> {
        let out = self.students.as_ref().map(Process::out).unwrap_or_default();
        let facts = out
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        facts.filter(|fact| fact.get(name).is_some()).collect()
    }

    /// How many matches are decided in a league that is over, and how many of them by a technical loss.
    fn over(&self) -> Option<(usize, usize)> {
        let Some(manager) = &self.manager else {
            let completed = self.told("completed").pop()?;
            let number = |name: &str| usize::try_from(completed[name].as_u64().unwrap()).unwrap();
            return Some((number("completed"), number("technical_losses")));
        };
        let log = manager.out();
        let technical = log.lines().filter(|line| line.contains("(TECHNICAL_LOSS)"));
        log.contains("LEAGUE_COMPLETED to")
            .then(|| (self.decided(), technical.count()))
    }

    /// How many matches our manager has decided.
    fn decided(&self) -> usize {
        let log = self.manager.as_ref().map(Process::out).unwrap_or_default();
        log.lines()
            .filter(|line| line.contains(" is decided by "))
            .count()
    }

    /// The report that the manager has refused, as the student who wrote the referee sees it.
    fn refused_report(&self) -> Option<Value> {
        let mut refused = self.told("refused").into_iter();
        refused
            .find(|fact| fact["sent"] == "MATCH_RESULT_REPORT")
            .map(|fact| fact["refused"].clone())
    }

    /// Everything that was said, for whoever has to find out why a league has not ended.
    fn transcript(&self) -> String {
        let named = |name: &str, process: &Process| {
            format!("\n--- {name}\n{}{}", process.out(), process.err())
        };
        let ours = self.manager.iter().map(|one| named("our manager", one));
        let students = self.students.iter().map(|all| named("the students", all));
        let agents = self.agents.iter().map(|agent| named("one of ours", agent));
        ours.chain(students).chain(agents).collect()
    }
}

/// How a mix has fared with what our manager does by default.
enum Outcome {
    Played,
    /// Reports without a token: it is told how to fix that, and plays where tokens are optional.
    TokenWanted,
}

/// Plays a mix to its end, without a technical loss.
fn play(mix: Mix) -> Option<Outcome> {
    let league = PlainLeague::start(mix, &["--lead", "0"])?;
    let refused = eventually("the league is over, or a report refused", || {
        let refused = league.refused_report().map(Some);
        let seen = refused.or_else(|| league.over().map(|_| None));
        seen.ok_or_else(|| league.transcript())
    });
    let Some(refused) = refused else {
        assert_all_were_played(&league);
        return Some(Outcome::Played);
    };
    assert_eq!(refused["error_code"], "E011", "{mix:?}: {refused}");
    let fix = refused["error_message"].as_str().unwrap();
    assert!(fix.contains("token of the registration response"), "{fix}");
    let manager = league.manager.as_ref().expect("ours has refused it");
    manager.until("E011");
    assert_eq!(league.over(), None, "nothing that was not proven counts");
    drop(league);
    let league = PlainLeague::start(mix, &["--lead", "0", "--tokens", "optional"])?;
    eventually("the league is over", || {
        league.over().ok_or_else(|| league.transcript())
    });
    assert_all_were_played(&league);
    Some(Outcome::TokenWanted)
}

fn assert_all_were_played(league: &PlainLeague) {
    let over = league.over();
    let transcript = || league.transcript();
    assert_eq!(over, Some((MATCHES, 0)), "{:?}{}", league.mix, transcript());
}

/// Plays all mixes, some at a time. `None` where there are no networks to play them in.
fn play_all(mixes: &[Mix]) -> Option<BTreeMap<Mix, Outcome>> {
    let left = Mutex::new(mixes.to_vec());
    let outcomes = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(mixes.len()) {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().pop();
                    let Some(mix) = next else { break };
                    if let Some(outcome) = play(mix) {
                        outcomes.lock().unwrap().insert(mix, outcome);
                    }
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().unwrap();
    (outcomes.len() == mixes.len()).then_some(outcomes)
}

fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Played => "plays",
        Outcome::TokenWanted => "E011 and the fix; plays with `--tokens optional`",
    }
}

/// Holds a table against docs/protocol-decisions.md, or writes it there.
fn assert_documented(mark: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/protocol-decisions.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(&format!("<!-- {mark} -->\n")).unwrap();
    let (shown, after) = rest.split_once(&format!("<!-- end of {mark} -->")).unwrap();
    if env::var_os("UPDATE_DOCS").is_some() {
        let page = format!("{before}<!-- {mark} -->\n{table}<!-- end of {mark} -->{after}");
        fs::write(&path, page).unwrap();
    } else {
        assert_eq!(shown, table, "write it anew with UPDATE_DOCS=1");
    }
}

#[test]
fn every_mix_of_ours_and_plain_agents_plays_to_its_end() {
    if !require("python3") {
        return;
    }
    let mut rows = Vec::new();
    for manager in Make::ALL {
        for referees in Make::ALL {
            rows.extend(Make::ALL.map(|players| (manager, referees, players)));
        }
    }
    let mix = |&(manager, referees, players): &(Make, Make, Make), edition| Mix {
        edition,
        manager,
        referees,
        players,
    };
    let mixes = rows
        .iter()
        .flat_map(|row| EDITIONS.map(|edition| mix(row, edition)));
    // Without a student's agent there are no editions.
    let differ = |mix: &Mix| !mix.plain_agents().is_empty() || mix.edition == EDITIONS[0];
    let Some(outcomes) = play_all(&mixes.filter(differ).collect::<Vec<_>>()) else {
        return;
    };
    let mut table = "| Manager | Referees | Players | careful | to the letter of 002 | to the letter of 001 |\n\
                     | --- | --- | --- | --- | --- | --- |\n"
        .to_owned();
    for row in &rows {
        let makes = [row.0, row.1, row.2].map(Make::word).join(" | ");
        let cells = EDITIONS.map(|edition| outcomes.get(&mix(row, edition)).map_or("", outcome));
        table.push_str(&format!("| {makes} | {} |\n", cells.join(" | ")));
    }
    assert_documented("mixes", &table);
}

/// What players to the letter of a document leave out of their answers.
const LEFT_OUT: [(&str, &[&str]); 2] = [
    ("002", &["missing auth_token"]),
    (
        "001",
        &[
            "missing auth_token",
            "missing conversation_id",
            "missing protocol",
            "missing sender",
            "missing timestamp",
        ],
    ),
];

#[test]
fn what_a_player_has_left_out_is_shown_with_the_way_to_mend_it() {
    if !require("python3") {
        return;
    }
    for (edition, left_out) in LEFT_OUT {
        let mix = Mix {
            edition,
            ..careful(Ours, Ours, Plain(""))
        };
        let Some(league) = PlainLeague::start(mix, &["--lead", "0"]) else {
            return;
        };
        eventually("the league is over", || {
            league.over().ok_or_else(|| league.transcript())
        });
        let page = league.page("/api/players/P01");
        let mut shown: Vec<_> = page["deviations"].as_array().unwrap().iter().collect();
        shown.sort_by_key(|deviation| deviation["what"].as_str());
        let whats: Vec<_> = shown
            .iter()
            .map(|one| one["what"].as_str().unwrap())
            .collect();
        assert_eq!(whats, left_out, "{edition}");
        for deviation in shown {
            assert!(deviation["fix"].is_string(), "{edition}: {deviation}");
        }
        let stats = league.exec("manager", &["stats", "P01"]);
        left_out
            .iter()
            .for_each(|what| stats.until(&format!("\n{what}: ")));
    }
}

/// What an agent does otherwise than the others of its edition, and the mix in which it does so.
const HABITS: [(&str, Mix); 11] = [
    (
        "players that read `params[\"message_type\"]` at once, and break on anything else",
        careful(Ours, Ours, Plain("beginner")),
    ),
    (
        "players that forbid keys which the documents do not print",
        careful(Ours, Ours, Plain("forbids")),
    ),
    (
        "referees that forbid such keys",
        careful(Ours, Plain("forbids"), Ours),
    ),
    (
        "referees that ask GET_PLAYERS where players are",
        careful(Ours, Plain("asks"), Ours),
    ),
    (
        "single-threaded referees that play inside the handler of the announcement",
        careful(Ours, Plain("single_threaded"), Ours),
    ),
    (
        "such referees, and players of the same student",
        careful(Ours, Plain("single_threaded"), Plain("")),
    ),
    (
        "a manager that forbids keys which the documents do not print",
        careful(Plain("forbids"), Ours, Ours),
    ),
    (
        "a manager without GET_PLAYERS",
        careful(Plain("four_queries"), Ours, Ours),
    ),
    (
        "a manager that announces rounds to players only",
        careful(Plain("players_only"), Ours, Ours),
    ),
    (
        "a manager that gives out no tokens",
        careful(Plain("no_tokens"), Ours, Ours),
    ),
    (
        "a manager that checks every token it is shown, in a registration too",
        careful(Plain("checks_tokens"), Ours, Ours),
    ),
];

const fn careful(manager: Make, referees: Make, players: Make) -> Mix {
    Mix {
        edition: "careful",
        manager,
        referees,
        players,
    }
}

/// The time between the announcement of a round and its first match. A league as it comes takes 60 s: `./soak plain`.
fn lead() -> String {
    env::var("MATCHDAY_PLAIN_LEAD").unwrap_or_else(|_| "1".to_owned())
}

#[test]
fn each_edition_plays_in_a_league_that_announces_its_rounds_ahead() {
    if !require("python3") {
        return;
    }
    let lead = lead();
    let leagues = EDITIONS.map(|edition| {
        let players = Plain("");
        let mix = Mix {
            edition,
            ..careful(Ours, Ours, players)
        };
        PlainLeague::start(mix, &["--lead", &lead])
    });
    for league in leagues.iter().flatten() {
        for decided in 1..=MATCHES {
            eventually("another match is decided", || {
                let enough = league.decided() >= decided;
                enough.then_some(()).ok_or_else(|| league.transcript())
            });
        }
        eventually("the league is over", || league.over());
        assert_all_were_played(league);
    }
}

#[test]
fn plain_agents_with_a_habit_play_among_ours() {
    if !require("python3") {
        return;
    }
    let Some(outcomes) = play_all(&HABITS.map(|(_, mix)| mix)) else {
        return;
    };
    let mut table = "| Among agents of ours | |\n| --- | --- |\n".to_owned();
    for (habit, mix) in HABITS {
        table.push_str(&format!("| {habit} | {} |\n", outcome(&outcomes[&mix])));
    }
    assert_documented("habits", &table);
}
