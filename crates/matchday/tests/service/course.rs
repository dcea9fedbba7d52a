//! `matchday course` with a service: what is published again, and what is refused. `ways/teacher.rs` plays a course from its roster to
//! its grades.

use crate::fixture::{Fixture, SERVICE_TOKEN, registration};
use matchday_testkit::cli::Output;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

const ROSTER: &str =
    "name,section,language\nAnn Lee,amber,go\nBob Roy,amber,\nCas Day,amber,\nDee Fox,birch,\n";

struct Course {
    fixture: Fixture,
}

impl Course {
    fn new() -> Self {
        let course = Self {
            fixture: Fixture::new(),
        };
        assert_eq!(
            course.fixture.cli.run(&["course", "init", "course"]).code,
            0
        );
        course.write("roster.csv", ROSTER);
        course.write_plan("rounds = 3\nformat = \"swiss\"", "2999-01-07");
        course
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.fixture.cli.path().join("course").join(file), text).unwrap();
    }

    fn write_plan(&self, league: &str, night: &str) {
        let plan = format!(
            "name = \"Agents 101\"\nservice = \"http://{}\"\n[season]\nnights = [\"{night}\"]\nstart = \"20:00\"\n\
             time_zone = \"Europe/Berlin\"\n[league]\n{league}\nendpoint-check = \"off\"\n[sections.amber]\n\
             [sections.birch]\n[grading.scale]\nF = 0\n",
            self.fixture.listen
        );
        self.write("course.toml", &plan);
    }

    fn publish(&self) -> Output {
        self.fixture.cli.run(&[
            "course",
            "publish",
            "course",
            "--service-token",
            SERVICE_TOKEN,
        ])
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

    fn season(&self, section: &str) -> Value {
        let path = format!("/api/seasons/{section}");
        self.fixture.call("GET", &path, None, None).json()
    }

    /// Whether an agent may register with this code.
    fn register(&self, code: &str) -> Value {
        let path = format!("/leagues/amber/join/{code}/mcp");
        self.fixture.post(&path, registration()).json()
    }
}

#[test]
fn a_course_is_published_again_without_new_codes_or_seasons() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    let first = course.publish();
    assert!(first.out.contains("created"), "{first:?}");
    let season = course.season("amber");
    assert_eq!(season["starts_at"], "2999-01-07T19:00:00Z");
    let codes = course.codes();
    let second = course.publish();
    assert!(second.out.contains("is there already"), "{second:?}");
    assert_eq!(course.codes(), codes);
    assert_eq!(course.season("amber"), season);
}

#[test]
fn the_open_league_follows_the_roster() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    assert_eq!(course.publish().code, 0);
    let codes = course.codes();
    course.register(&codes["Ann Lee"]);
    let roster = ROSTER.replace("Ann Lee,amber,go\nBob Roy,amber,\n", "Eve Ash,amber,\n");
    course.write("roster.csv", &roster);
    let published = course.publish();
    assert!(
        published.out.contains("added: 1, taken out: 2"),
        "{published:?}"
    );
    let answer = course.register(&course.codes()["Eve Ash"]);
    assert_eq!(answer["status"], "ACCEPTED", "{answer}");
    for gone in ["Ann Lee", "Bob Roy"] {
        let answer = course.register(&codes[gone]);
        assert_eq!(answer["status"], "REJECTED", "{answer}");
    }
    course.write("roster.csv", ROSTER);
    let published = course.publish();
    assert!(
        published.out.contains("added: 2, taken out: 1"),
        "{published:?}"
    );
    let answer = course.register(&codes["Ann Lee"]);
    assert_eq!(
        answer["status"], "ACCEPTED",
        "the code is as before: {answer}"
    );
}

#[test]
fn other_nights_hold_at_once_and_other_settings_from_the_next_league_on() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    assert_eq!(course.publish().code, 0);
    course.write_plan("game = \"nim\"", "2999-07-07");
    assert_eq!(course.publish().code, 0);
    let season = course.season("amber");
    assert_eq!(
        (&season["starts_at"], &season["game_type"]),
        (&"2999-07-07T18:00:00Z".into(), &"nim".into())
    );
}

#[test]
fn what_cannot_be_is_one_line_with_what_to_do_and_creates_nothing() {
    let course = Course::new();
    let cli = &course.fixture.cli;
    let refused = cli.run(&["course", "init", "course"]);
    assert!(
        refused.failed(1).contains("course.toml is there already"),
        "{refused:?}"
    );
    let refused = course.publish();
    assert!(refused.failed(1).contains("does not answer"), "{refused:?}");
    assert!(
        !cli.path().join("course/codes.csv").exists(),
        "nothing is issued for nobody"
    );
    let _service = course.fixture.serve(&[]);
    let refused = cli.run(&["course", "grades", "course"]);
    assert!(
        refused
            .failed(1)
            .contains("this course has not been published yet"),
        "{refused:?}"
    );
    course.write_plan("laed = 0", "2999-01-07");
    let refused = course.publish();
    assert!(
        refused
            .failed(2)
            .contains("there is no setting league.laed - did you mean \"lead\"?"),
        "{refused:?}"
    );
    course.write_plan("lead = 0", "1999-01-07");
    let refused = course.publish();
    assert!(
        refused.failed(2).contains("all of its times are over"),
        "{refused:?}"
    );
}

#[test]
fn the_season_of_somebody_else_is_not_taken() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    let service = format!("http://{}", course.fixture.listen);
    let made = course.fixture.cli.run(&[
        "season",
        "create",
        "amber",
        "--service",
        &service,
        "--service-token",
        SERVICE_TOKEN,
    ]);
    assert_eq!(made.code, 0, "{made:?}");
    let refused = course.publish();
    assert!(
        refused
            .failed(1)
            .contains("a season amber that is not of this course"),
        "{refused:?}"
    );
}
