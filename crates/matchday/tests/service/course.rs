//! A course from its roster to its grades: `matchday course` as its staff use it, with a service and students' agents.

use crate::fixture::{Fixture, SERVICE_TOKEN};
use matchday_core::game::strategy;
use matchday_core::player::{Player, PlayerSettings};
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Token, Version};
use matchday_core::registration::RegistrationState;
use matchday_runtime::Handle;
use matchday_testkit::cli::Output;
use matchday_testkit::test_league::{TestLeague, endpoint, free_port, until};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

const SECTIONS: [&str; 4] = ["amber", "birch", "cedar", "delta"];
/// The first deadline is long over, so that everyone is late; the others are far away.
const NIGHTS: [&str; 5] = ["2020-01-06", "2999-01-07", "2999-01-08", "2999-01-09", "2999-01-10"];
const STRATEGIES: [&str; 4] = ["random", "alternating", "pattern", "win_stay_lose_shift"];
/// Of 40 students one comes to the course on the third night.
const FIRST_STUDENTS: usize = 39;

struct Course {
    fixture: Fixture,
    agents: TestLeague,
}

impl Course {
    fn new() -> Self {
        let course = Self { fixture: Fixture::new(), agents: TestLeague::new(matchday::agent_options) };
        assert_eq!(course.fixture.cli.run(&["course", "init", "course"]).code, 0);
        course
    }

    fn write_plan(&self) {
        let (nights, sections) =
            (NIGHTS.map(|night| format!("{night:?}")), SECTIONS.map(|name| format!("[sections.{name}]\n")));
        let plan = format!(
            "name = \"Agents 101\"\nservice = \"http://{}\"\n[season]\nnights = [{}]\ndeadline = \"20:00\"\n\
             [league]\nlead = 0\nformat = \"swiss\"\nrounds = 3\nendpoint-check = \"off\"\n{}\
             [grading]\nbest_nights = 4\nlate_penalty = 10\n[grading.scale]\nA = 60\nB = 40\nF = 0\n",
            self.fixture.listen,
            nights.join(", "),
            sections.concat()
        );
        fs::write(self.fixture.cli.path().join("course/course.toml"), plan).unwrap();
    }

    fn write_roster(&self, students: usize) {
        let languages = ["python", "typescript", "rust", "go"];
        let row = |number: usize| {
            let (section, language) = (SECTIONS[number % 4], languages[number / 4 % 4]);
            format!("{},{section},{language},s{number}@example.org\n", name(number))
        };
        let rows: String = (0..students).map(row).collect();
        fs::write(
            self.fixture.cli.path().join("course/roster.csv"),
            format!("name,section,language,mail\n{rows}"),
        )
        .unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        let token: &[&str] = match args[0] {
            "grades" => &[],
            _ => &["--service-token", SERVICE_TOKEN],
        };
        self.fixture.cli.run(&[&["course"], args, token].concat())
    }

    /// By the name of the student.
    fn codes(&self) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.fixture.cli.path().join("course/codes.csv")).unwrap();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].to_owned(), cells[2].to_owned())
        };
        text.lines().skip(1).map(row).collect()
    }

    /// The agent of a student in the league of a night.
    async fn agent(&self, number: usize, night: &str, version: &str) -> Handle<Player> {
        let listener = free_port().await;
        let manager = self.fixture.manager(&league(number, night));
        let settings = PlayerSettings {
            manager: Endpoint::parse(&manager).unwrap(),
            contact_endpoint: endpoint(listener.local_addr().unwrap()),
            display_name: DisplayName::parse("My Player").unwrap(),
            version: Version::parse(version).unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: STRATEGIES[number % 4].into(),
        };
        let strategy = strategy::find(STRATEGIES[number % 4]).unwrap().build();
        let code = Token::new(self.codes()[&name(number)].as_str());
        let player = Player::new(settings, strategy).with_join_code(Some(code));
        self.agents.run(player, listener, &format!("player/{night}/{number}"))
    }

    fn until_registered(&self, night: &str, students: &[usize]) {
        for section in SECTIONS {
            let count = students.iter().filter(|number| SECTIONS[*number % 4] == section).count();
            self.fixture.until(&format!("{section}_{night}"), |shown| shown["players"] == count);
        }
    }

    /// One evening: the agents come, one of them is replaced, the leagues are started and played.
    async fn evening(&self, place: usize, students: &[usize], replaced: Option<usize>) {
        let (night, version) = (NIGHTS[place], format!("1.{place}.0"));
        let mut agents = BTreeMap::new();
        for number in students {
            agents.insert(*number, self.agent(*number, night, &version).await);
        }
        self.until_registered(night, students);
        if let Some(number) = replaced {
            agents.remove(&number).unwrap().shutdown().await.unwrap();
            let agent = self.agent(number, night, &format!("1.{place}.1")).await;
            until(&agent, "registered again", Duration::from_secs(60), |player| {
                *player.registration_state() == RegistrationState::Done
            })
            .await;
            agents.insert(number, agent);
        }
        let started = self.run(&["night", "course", "--night", night, "--json"]);
        assert_eq!(started.code, 0, "{started:?}");
        for section in SECTIONS {
            self.fixture.until(&format!("{section}_{night}"), |shown| shown["phase"] == "completed");
        }
        for agent in agents.into_values() {
            agent.shutdown().await.unwrap();
        }
    }
}

fn name(number: usize) -> String {
    format!("Student {number:02}")
}

fn league(number: usize, night: &str) -> String {
    format!("{}_{night}", SECTIONS[number % 4])
}

fn line(sheet: &Value, number: usize) -> &Value {
    let name = name(number);
    sheet.as_array().unwrap().iter().find(|line| line["name"] == name.as_str()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_week_of_a_course_of_forty_from_the_roster_to_the_grades() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    course.write_plan();
    course.write_roster(FIRST_STUDENTS);
    let published = course.run(&["publish", "course", "--night", NIGHTS[0]]);
    assert_eq!(published.code, 0, "{published:?}");
    assert!(published.out.contains("39 hand-outs are in"), "{published:?}");

    let everyone: Vec<usize> = (0..=FIRST_STUDENTS).collect();
    let first: Vec<usize> = (0..FIRST_STUDENTS).collect();
    let without_five: Vec<usize> = first.iter().copied().filter(|number| *number != 5).collect();
    course.evening(0, &first, None).await;
    // Before the second evening ends, another student has come: the third night's leagues know the newcomer.
    course.write_roster(FIRST_STUDENTS + 1);
    course.evening(1, &without_five, None).await;
    course.evening(2, &everyone, Some(7)).await;
    course.evening(3, &everyone, None).await;
    course.evening(4, &everyone, None).await;

    let grades = course.run(&["grades", "course", "--store", "service.db", "--json"]);
    assert_eq!((grades.code, grades.err.as_str()), (0, ""), "{grades:?}");
    let sheet = grades.json();
    assert_eq!(sheet.as_array().unwrap().len(), 40);
    let usual = line(&sheet, 0);
    assert_eq!(usual["versions"], "1.0.0 > 1.1.0 > 1.2.0 > 1.3.0 > 1.4.0");
    assert_eq!((&usual["late_registrations"], &usual["replacements"]), (&1.into(), &0.into()), "{usual}");
    assert_eq!(
        (&usual["nights_played"], &usual["nights"], &usual["technical_losses"]),
        (&5.into(), &5.into(), &0.into())
    );
    assert!(usual["improvement"].is_number() && usual["score"].as_f64().unwrap() > 0.0, "{usual}");
    assert_eq!(line(&sheet, 5)["nights_played"], 4, "absent once");
    assert_eq!(line(&sheet, 7)["versions"], "1.0.0 > 1.1.0 > 1.2.0 > 1.2.1 > 1.3.0 > 1.4.0");
    assert_eq!(line(&sheet, 7)["replacements"], 1);
    assert_eq!(
        (&line(&sheet, 39)["nights_played"], &line(&sheet, 39)["late_registrations"]),
        (&3.into(), &0.into())
    );
    let rows = |file: &str| {
        fs::read_to_string(course.fixture.cli.path().join("course/grades").join(file))
            .unwrap()
            .lines()
            .count()
    };
    assert_eq!((rows("grades.csv"), rows("nights.csv"), rows("platform.csv")), (41, 201, 41));
}

#[test]
fn a_course_is_published_again_without_new_codes_or_leagues() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    course.write_plan();
    course.write_roster(8);
    let first = course.run(&["publish", "course"]);
    assert!(first.out.contains("amber_2999-01-07  created, students: 2"), "{first:?}");
    let codes = course.codes();
    let page = course.fixture.cli.path().join("course/handouts/amber/student-00.html");
    assert!(fs::read_to_string(&page).unwrap().contains(&codes["Student 00"]));
    let second = course.run(&["publish", "course"]);
    assert!(second.out.contains("amber_2999-01-07  is there already"), "{second:?}");
    assert_eq!(course.codes(), codes);
}

#[test]
fn what_cannot_be_is_one_line_with_what_to_do_and_creates_nothing() {
    let course = Course::new();
    let refused = course.fixture.cli.run(&["course", "init", "course"]);
    assert!(refused.failed(1).contains("course.toml is there already"), "{refused:?}");
    course.write_plan();
    course.write_roster(8);
    let refused = course.run(&["publish", "course"]);
    assert!(refused.failed(1).contains("does not answer"), "{refused:?}");
    assert!(!course.fixture.cli.path().join("course/codes.csv").exists(), "nothing is issued for nobody");
    let _service = course.fixture.serve(&[]);
    let refused = course.run(&["night", "course", "--night", "2031-01-01"]);
    assert!(refused.failed(2).contains("2031-01-01 is no night of this season"), "{refused:?}");
    let refused = course.run(&["grades", "course"]);
    assert!(refused.failed(1).contains("no league of this course has been published yet"), "{refused:?}");
    let empty = course.run(&["night", "course", "--night", NIGHTS[4]]);
    assert_eq!(empty.code, 1);
    assert!(
        empty.out.contains("amber_2999-01-10  NOT STARTED: 0 registered, and a league needs 2 players"),
        "{empty:?}"
    );
    let path = course.fixture.cli.path().join("course/course.toml");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("lead = 0", "laed = 0")).unwrap();
    let refused = course.run(&["publish", "course"]);
    assert!(
        refused.failed(2).contains("there is no setting league.laed - did you mean \"lead\"?"),
        "{refused:?}"
    );
}
