//! `matchday course` as its staff use it, with a service. `week.rs` plays a course from its roster to its grades.

use crate::fixture::{Fixture, SERVICE_TOKEN};
use matchday_testkit::cli::Output;
use std::collections::BTreeMap;
use std::fs;

pub(crate) const SECTIONS: [&str; 4] = ["amber", "birch", "cedar", "delta"];
const NIGHTS: [&str; 2] = ["2999-01-07", "2999-01-08"];

pub(crate) struct Course {
    pub(crate) fixture: Fixture,
}

impl Course {
    pub(crate) fn new() -> Self {
        let course = Self {
            fixture: Fixture::new(),
        };
        assert_eq!(
            course.fixture.cli.run(&["course", "init", "course"]).code,
            0
        );
        course
    }

    /// Nights and their deadline, and settings of the leagues.
    pub(crate) fn write_plan(&self, nights: &[impl AsRef<str>], deadline: &str, league: &str) {
        let nights: Vec<String> = nights
            .iter()
            .map(|night| format!("{:?}", night.as_ref()))
            .collect();
        let sections = SECTIONS.map(|name| format!("[sections.{name}]\n"));
        let plan = format!(
            "name = \"Agents 101\"\nservice = \"http://{}\"\n[season]\nnights = [{}]\ndeadline = \"{deadline}\"\n\
             [league]\n{league}\nformat = \"swiss\"\nrounds = 3\nendpoint-check = \"off\"\n{}\
             [grading]\nbest_nights = 4\nlate_penalty = 10\n[grading.scale]\nA = 60\nB = 40\nF = 0\n",
            self.fixture.listen,
            nights.join(", "),
            sections.concat()
        );
        fs::write(self.fixture.cli.path().join("course/course.toml"), plan).unwrap();
    }

    pub(crate) fn write_roster(&self, students: usize) {
        let languages = ["python", "typescript", "rust", "go"];
        let row = |number: usize| {
            let section = SECTIONS[number % 4];
            let language = languages[number / 4 % 4];
            format!(
                "{},{section},{language},s{number}@example.org\n",
                name(number)
            )
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
    pub(crate) fn codes(&self) -> BTreeMap<String, String> {
        let text = fs::read_to_string(self.fixture.cli.path().join("course/codes.csv")).unwrap();
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].to_owned(), cells[2].to_owned())
        };
        text.lines().skip(1).map(row).collect()
    }
}

pub(crate) fn name(number: usize) -> String {
    format!("Student {number:02}")
}

#[test]
fn a_course_is_published_again_without_new_codes_or_leagues() {
    let course = Course::new();
    let _service = course.fixture.serve(&[]);
    course.write_plan(&NIGHTS, "20:00", "lead = 0");
    course.write_roster(8);
    let first = course.run(&["publish", "course"]);
    assert!(
        first.out.contains("amber_2999-01-07  created, students: 2"),
        "{first:?}"
    );
    let codes = course.codes();
    let page = course
        .fixture
        .cli
        .path()
        .join("course/handouts/amber/student-00.html");
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .contains(&codes["Student 00"])
    );
    let second = course.run(&["publish", "course"]);
    assert!(
        second.out.contains("amber_2999-01-07  is there already"),
        "{second:?}"
    );
    assert_eq!(course.codes(), codes);
}

#[test]
fn what_cannot_be_is_one_line_with_what_to_do_and_creates_nothing() {
    let course = Course::new();
    let refused = course.fixture.cli.run(&["course", "init", "course"]);
    assert!(
        refused.failed(1).contains("course.toml is there already"),
        "{refused:?}"
    );
    course.write_plan(&NIGHTS, "20:00", "lead = 0");
    course.write_roster(8);
    let refused = course.run(&["publish", "course"]);
    assert!(refused.failed(1).contains("does not answer"), "{refused:?}");
    assert!(
        !course.fixture.cli.path().join("course/codes.csv").exists(),
        "nothing is issued for nobody"
    );
    let _service = course.fixture.serve(&[]);
    let refused = course.run(&["night", "course", "--night", "2031-01-01"]);
    assert!(
        refused
            .failed(2)
            .contains("2031-01-01 is no night of this season"),
        "{refused:?}"
    );
    let refused = course.run(&["grades", "course"]);
    assert!(
        refused
            .failed(1)
            .contains("no league of this course has been published yet"),
        "{refused:?}"
    );
    let empty = course.run(&["night", "course", "--night", NIGHTS[1]]);
    assert_eq!(empty.code, 1);
    assert!(
        empty
            .out
            .contains("amber_2999-01-08  NOT STARTED: 0 registered, and a league needs 2 players"),
        "{empty:?}"
    );
    let path = course.fixture.cli.path().join("course/course.toml");
    fs::write(
        &path,
        fs::read_to_string(&path)
            .unwrap()
            .replace("lead = 0", "laed = 0"),
    )
    .unwrap();
    let refused = course.run(&["publish", "course"]);
    assert!(
        refused
            .failed(2)
            .contains("there is no setting league.laed - did you mean \"lead\"?"),
        "{refused:?}"
    );
}
