//! A student with a laptop that nobody can call, from the personal hand-out to a better night. Every line that is typed on the
//! laptop is printed: by the hand-out, or by the page that tells why a match was lost.

use matchday_testkit::cli::{Cli, Process, command};
use matchday_testkit::eventually::eventually;
use matchday_testkit::namespaces::Namespaces;
use matchday_testkit::tools::{require, require_installed};
use serde_json::Value;
use std::fs;
use std::path::Path;

const SERVICE_TOKEN: &str = "tok_service_of_the_tests";
const SERVICE: &str = "http://10.79.0.1:8000";
/// The networks: that of the course, and that of the laptop.
const COURSE: usize = 0;
const LAPTOP: usize = 1;

const PLAN: &str = "\
name = \"Agents 101\"
service = \"http://10.79.0.1:8000\"
program = \"http://10.79.0.1/matchday\"
[season]
nights = [\"2999-03-02\", \"2999-03-03\", \"2999-03-04\"]
start = \"20:00\"
time_zone = \"UTC\"
[league]
game = \"rock_paper_scissors\"
lead = 0
[sections.monday]
[grading.scale]
F = 0
";
const ROSTER: &str = "name,section,language,mail\nAda Lee,monday,python,\nBob Roy,monday,python,\nCas Day,monday,python,\n";

struct Way {
    network: Namespaces,
    teacher: Cli,
    chromium: String,
}

/// Where a student works, and what the hand-out says.
struct Student {
    home: Cli,
    handout: String,
}

impl Way {
    fn new() -> Option<Self> {
        let tools = require_installed("browser", "crates/matchday/tests/browser/tools/install")?;
        let chromium = fs::read_to_string(tools.join("chromium")).unwrap();
        let network = Namespaces::new(&["course", "laptop"])?;
        network.cable([COURSE, LAPTOP], "campus", ["10.79.0.1/30", "10.79.0.2/30"]);
        Some(Self {
            network,
            teacher: Cli::new(crate::matchday()),
            chromium: chromium.trim().to_owned(),
        })
    }

    /// Starts what is typed in this folder. The last of several lines is the one that stays.
    fn types(&self, place: usize, folder: &Path, lines: &str) -> Process {
        let (before, last) = lines.rsplit_once('\n').unwrap_or(("", lines));
        let mut shell = command("sh");
        shell.args(["-c", &format!("{before}\nexec {last}")]);
        shell.current_dir(folder);
        let programs = Path::new(crate::matchday()).parent().unwrap().display();
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{programs}:{path}"));
        self.network.exec(place, &shell)
    }

    /// Types it and waits for its end; what it said.
    fn done(&self, place: usize, folder: &Path, lines: &str) -> (i32, String) {
        let shown = folder.join("shown.txt");
        let lines = format!("{lines} >{} 2>&1", shown.display());
        let code = self.types(place, folder, &lines).wait().code();
        (code.unwrap_or(-1), fs::read_to_string(shown).unwrap())
    }

    fn teacher(&self, line: &str) -> String {
        let line = format!("{line} --service {SERVICE} --service-token {SERVICE_TOKEN}");
        let (code, said) = self.done(COURSE, self.teacher.path(), &line);
        assert_eq!(code, 0, "{line}: {said}");
        said
    }

    fn season(&self) -> Value {
        let said = self.teacher("matchday season show monday --json");
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// A night: the league of the season is played, and the next one is opened.
    fn night(&self, number: u64) {
        self.teacher("matchday season run monday");
        eventually("the night is over", || {
            let season = self.season();
            let next = format!("monday_{}", number + 1);
            if season["leagues_played"] == number && season["current_league"] == next.as_str() {
                Ok(())
            } else {
                Err(season)
            }
        });
    }

    /// What the page holds once the browser on the laptop has run its scripts.
    fn browser(&self, student: &Student, path: &str) -> String {
        let open = format!(
            "{} --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
             --disable-component-update --disable-sync --user-data-dir=browser --virtual-time-budget=20000 --dump-dom \
             '{SERVICE}{path}' 2>browser.log",
            self.chromium
        );
        let (code, page) = self.done(LAPTOP, student.home.path(), &open);
        assert_eq!(code, 0, "{page}");
        page
    }

    /// What a page takes from the league.
    fn page(&self, student: &Student, path: &str) -> Value {
        let fetch = format!(
            "python3 -c \"import urllib.request as u; print(u.urlopen('{SERVICE}{path}').read().decode())\""
        );
        let (code, said) = self.done(LAPTOP, student.home.path(), &fetch);
        assert_eq!(code, 0, "{said}");
        serde_json::from_str(&said).unwrap()
    }

    fn player(&self, student: &Student, night: u64, id: &str) -> Value {
        self.page(
            student,
            &format!("/leagues/monday_{night}/api/players/{id}"),
        )
    }
}

impl Student {
    fn new(way: &Way, name: &str) -> Self {
        let handout = way
            .teacher
            .path()
            .join(format!("agents/handouts/monday/{name}.html"));
        Self {
            home: Cli::new(crate::matchday()),
            handout: fs::read_to_string(handout).unwrap(),
        }
    }

    /// The commands of a step of the hand-out, as a shell of this system takes them.
    fn step(&self, id: &str) -> String {
        let (_, step) = self
            .handout
            .split_once(&format!("<section id=\"{id}\""))
            .unwrap();
        let (_, commands) = step.split_once("<pre>").unwrap();
        let commands = commands.split("</pre>").next().unwrap();
        let mut text = commands.to_owned();
        for (written, meant) in [
            ("&#34;", "\""),
            ("&quot;", "\""),
            ("&#39;", "'"),
            ("&#x27;", "'"),
            ("&amp;", "&"),
        ] {
            text = text.replace(written, meant);
        }
        text
    }

    fn folder(&self) -> std::path::PathBuf {
        self.home.path().join("my-player")
    }

    /// Writes the player, and gives it this strategy.
    fn writes(&self, way: &Way, hand: &str) {
        let (code, said) = way.done(LAPTOP, self.home.path(), &self.step("write"));
        assert_eq!(code, 0, "{said}");
        self.plays(hand);
    }

    /// Changes the strategy: it shows the same hand every time.
    fn plays(&self, hand: &str) {
        let file = self.folder().join("strategy.py");
        let strategy = fs::read_to_string(&file).unwrap();
        let (head, _) = strategy.split_once("    return ").unwrap();
        fs::write(&file, format!("{head}    return \"{hand}\"\n")).unwrap();
    }

    fn joins(&self, way: &Way) -> Process {
        let agent = way.types(LAPTOP, &self.folder(), &self.step("play"));
        agent.until("registered as ");
        agent
    }

    /// By the ten lines that stand on the Python package.
    fn joins_by_the_package(&self, way: &Way) -> Process {
        let play = self.step("play");
        let (_, manager) = play.split_once("--manager ").unwrap();
        let manager = manager.split_whitespace().next().unwrap();
        let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python");
        let line = format!(
            "env PYTHONPATH={} MATCHDAY_DIAL=on MATCHDAY_MANAGER={manager} python3 player.py",
            package.canonicalize().unwrap().display()
        );
        let agent = way.types(LAPTOP, &self.folder(), &line);
        agent.until("registered as ");
        agent
    }
}

#[test]
fn from_the_hand_out_to_a_better_night() {
    if !require("python3") {
        return;
    }
    let Some(way) = Way::new() else { return };
    let serve = format!(
        "matchday serve --listen 10.79.0.1:8000 --store service.db --service-token {SERVICE_TOKEN}"
    );
    let service = way.types(COURSE, way.teacher.path(), &serve);
    service.until("leagues are served at");
    let (code, said) = way.done(COURSE, way.teacher.path(), "matchday course init agents");
    assert_eq!(code, 0, "{said}");
    fs::write(way.teacher.path().join("agents/course.toml"), PLAN).unwrap();
    fs::write(way.teacher.path().join("agents/roster.csv"), ROSTER).unwrap();
    let publish = format!("matchday course publish agents --service-token {SERVICE_TOKEN}");
    let (code, said) = way.done(COURSE, way.teacher.path(), &publish);
    assert_eq!(code, 0, "{said}");

    // The hand-out says how to get the program.
    let ada = Student::new(&way, "ada-lee");
    assert!(
        ada.handout.contains("http://10.79.0.1/matchday"),
        "{}",
        ada.handout
    );
    let (code, said) = way.done(LAPTOP, ada.home.path(), &ada.step("program"));
    assert!(code == 0 && said.starts_with("matchday "), "{said}");

    // She writes a player, with a strategy of her own.
    ada.writes(&way, "scissors");
    let (code, said) = way.done(LAPTOP, &ada.folder(), "python3 -m unittest");
    assert!(code == 0 && !said.contains("Traceback"), "{said}");

    // She checks it: one line in one terminal, the others in another.
    let check = ada.step("check");
    let (check, run) = check.split_once('\n').unwrap();
    let mut checking = way.types(LAPTOP, ada.home.path(), check);
    checking.until("waiting 60 s");
    let agent = way.types(LAPTOP, ada.home.path(), run);
    assert!(
        checking.wait().success(),
        "{}{}",
        checking.out(),
        agent.err()
    );
    drop(agent);

    // She practises, in the same way.
    let practice = "matchday practice --game rock_paper_scissors";
    assert!(ada.handout.contains(practice), "{}", ada.handout);
    let mut practising = way.types(LAPTOP, ada.home.path(), practice);
    practising.until("waiting ");
    let agent = way.types(LAPTOP, ada.home.path(), run);
    assert!(
        practising.wait().success(),
        "{}{}",
        practising.out(),
        agent.err()
    );
    drop(agent);

    // Without --dial the league cannot call her, and tells her what to do.
    let join = ada.step("play");
    let (code, said) = way.done(LAPTOP, &ada.folder(), &join.replace(" --dial", ""));
    assert!(
        code == 1 && said.contains("start the agent with --dial"),
        "{said}"
    );
    // The printed line joins, though the code was shown before.
    let bob = Student::new(&way, "bob-roy");
    let cas = Student::new(&way, "cas-day");
    let _others = [&bob, &cas].map(|other| {
        other.writes(&way, "rock");
        if other.folder() == cas.folder() {
            other.joins_by_the_package(&way)
        } else {
            other.joins(&way)
        }
    });
    let agent = ada.joins(&way);
    let err = agent.err();
    let id = err.split("registered as ").nth(1).unwrap();
    let id = id.split_whitespace().next().unwrap().to_owned();

    // Two nights, without touching the agent.
    for night in 1..=2 {
        way.night(night);
        let page = way.player(&ada, night, &id);
        assert_eq!(
            (&page["losses"], &page["technical_losses"]),
            (&2.into(), &0.into()),
            "night {night}: {page}\n{}",
            agent.err()
        );
    }

    // Why did she lose? The page has the command that plays the match again.
    let page = way.player(&ada, 2, &id);
    assert_eq!(page["name"], "Ada Lee", "{page}");
    let again = page["why_lost"][0]["command"].as_str().unwrap().to_owned();
    let page = way.browser(&ada, &format!("/leagues/monday_2/#/players/{id}"));
    let texts = page.split('<').filter_map(|part| part.split_once('>'));
    let seen: String = texts.map(|(_, text)| text).collect();
    assert!(
        seen.contains("Why did it lose?") && seen.contains(&again),
        "{again}\n{seen}"
    );
    ada.plays("paper");
    let mut replay = way.types(LAPTOP, ada.home.path(), &again);
    replay.until("waiting 60 s");
    // The fixed player, beside the one that plays in the league.
    let fixed = way.types(LAPTOP, ada.home.path(), run);
    assert!(replay.wait().success(), "{}{}", replay.out(), fixed.err());
    replay.until("OVER");
    let told = replay.out();
    assert!(
        told.contains("scissors") && told.contains("paper") && !told.contains("E012"),
        "{told}"
    );
    drop(fixed);

    // She starts the fixed player by the same line, keeps her place, and has a better night.
    agent.signal("INT");
    drop(agent);
    let agent = ada.joins(&way);
    agent.until(&format!("registered as {id}"));
    way.night(3);
    let page = way.player(&ada, 3, &id);
    assert_eq!(
        (&page["wins"], &page["technical_losses"]),
        (&2.into(), &0.into()),
        "{page}\n{}",
        agent.err()
    );
}
