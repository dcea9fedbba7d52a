//! A week of a course of forty, from the roster to the grades, at the hours of its schedule: the service and its commands run in this
//! process, and the test moves the time of their runtime from one hour to the next. While a league is played time passes at its own
//! pace, and a second more for each look at it.

use crate::course::{Course, SECTIONS, name};
use crate::fixture::SERVICE_TOKEN;
use matchday_core::game::strategy;
use matchday_core::player::{Player, PlayerSettings};
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Timestamp, Token, Version};
use matchday_core::registration::RegistrationState;
use matchday_runtime::{Clock, Handle};
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::{TestLeague, endpoint, free_port};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const STRATEGIES: [&str; 4] = ["random", "alternating", "pattern", "win_stay_lose_shift"];
/// Of 40 students one comes to the course on the third night.
const FIRST_STUDENTS: usize = 39;
const ABSENT_ON_TUESDAY: usize = 5;
const REPLACED_ON_WEDNESDAY: usize = 7;
const LATE_ON_MONDAY: usize = 11;
const STAFF: [&str; 3] = ["Ada", "Bob", "Eve"];

struct Week {
    course: Arc<Course>,
    agents: TestLeague,
    clock: Clock,
    monday: Timestamp,
}

impl Week {
    fn new() -> Self {
        let clock = Clock::start();
        let days = clock.now().as_micros() / 86_400_000_000;
        // The first of January 1970 was a Thursday.
        let monday = days + 7 - (days + 3) % 7;
        let monday = Timestamp::from_micros(monday * 86_400_000_000);
        Self {
            course: Arc::new(Course::new()),
            agents: TestLeague::new(matchday_server::agent_options),
            clock,
            monday,
        }
    }

    fn night(&self, day: u32) -> String {
        let text = (self.monday + DAY * day).to_string();
        text.split('T').next().unwrap().to_owned()
    }

    /// Moves the time of all clocks of this runtime.
    async fn until(&self, at: Timestamp) {
        let ahead = at.since(self.clock.now());
        tokio::time::pause();
        tokio::time::advance(ahead).await;
        tokio::time::resume();
    }

    async fn command(&self, words: &[&str]) {
        let code = matchday::cli::run_command(words.iter().copied())
            .await
            .unwrap();
        assert_eq!(code, ExitCode::SUCCESS, "{words:?}");
    }

    fn folder(&self) -> String {
        self.course
            .fixture
            .cli
            .path()
            .join("course")
            .to_str()
            .unwrap()
            .to_owned()
    }

    async fn show(&self, path: &str) -> Value {
        let course = Arc::clone(&self.course);
        let path = path.to_owned();
        let call = move || {
            course
                .fixture
                .call("GET", &path, Some(SERVICE_TOKEN), None)
                .json()
        };
        tokio::task::spawn_blocking(call).await.unwrap()
    }

    /// Looks until it is so, a second of the course's time after the other.
    async fn sees(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..3_000 {
            let shown = self.show(path).await;
            if what(&shown) {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.until(self.clock.now() + Duration::from_secs(1)).await;
        }
        panic!("never so: {}", self.show(path).await)
    }

    async fn agent(
        &self,
        settings: (&str, &str, &str),
        strategy: &str,
        code: Option<&str>,
    ) -> Handle<Player> {
        let (league, name, version) = settings;
        let listener = free_port().await;
        let player = PlayerSettings {
            manager: Endpoint::parse(&self.course.fixture.manager(league)).unwrap(),
            contact_endpoint: endpoint(listener.local_addr().unwrap()),
            display_name: DisplayName::parse(name).unwrap(),
            version: Version::parse(version).unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: None,
        };
        let player = Player::new(player, strategy::find(strategy).unwrap().build());
        let stream = format!("player/{league}/{}", code.unwrap_or(name));
        self.agents.run(
            player.with_join_code(code.map(Token::new)),
            listener,
            &stream,
        )
    }

    /// The agent of a student in the league of a night, registered.
    async fn student(&self, number: usize, night: &str, version: &str) -> Handle<Player> {
        let code = &self.course.codes()[&name(number)];
        let league = league(number, night);
        let settings = (league.as_str(), "My Player", version);
        let agent = self
            .agent(settings, STRATEGIES[number % 4], Some(code))
            .await;
        registered(&agent).await;
        agent
    }

    /// A day: agents come at noon, some later, and at 22:00 in Berlin the leagues are played.
    async fn day(&self, day: u32, students: &[usize]) {
        let night = self.night(day);
        let version = format!("1.{day}.0");
        let midnight = self.monday + DAY * day;
        self.until(midnight + HOUR * 12).await;
        let mut agents = BTreeMap::new();
        for number in students
            .iter()
            .filter(|number| (day, **number) != (0, LATE_ON_MONDAY))
        {
            agents.insert(*number, self.student(*number, &night, &version).await);
        }
        if day == 0 {
            self.until(midnight + HOUR * 19 + HOUR / 2).await;
            agents.insert(
                LATE_ON_MONDAY,
                self.student(LATE_ON_MONDAY, &night, &version).await,
            );
        }
        if day == 2 {
            self.until(midnight + HOUR * 15).await;
            agents
                .remove(&REPLACED_ON_WEDNESDAY)
                .unwrap()
                .shutdown()
                .await
                .unwrap();
            let agent = self.student(REPLACED_ON_WEDNESDAY, &night, "1.2.1").await;
            agents.insert(REPLACED_ON_WEDNESDAY, agent);
        }
        self.evening(day, &night).await;
        for agent in agents.into_values() {
            agent.shutdown().await.unwrap();
        }
    }

    async fn evening(&self, day: u32, night: &str) {
        let season = self.show("/api/seasons/staff").await;
        let starts_at = Timestamp::parse(season["starts_at"].as_str().unwrap())
            .unwrap()
            .0;
        let hour = starts_at.since(self.monday + DAY * day).as_secs() / 3600;
        assert!(hour == 20 || hour == 21, "22:00 in Berlin is {starts_at}");
        let current = season["current_league"].as_str().unwrap().to_owned();
        self.until(starts_at + Duration::from_secs(1)).await;
        if day == 1 {
            // Before the second evening ends, another student has come: the third night's leagues know the newcomer.
            self.course.write_roster(FIRST_STUDENTS + 1);
        }
        self.command(&[
            "course",
            "night",
            &self.folder(),
            "--service-token",
            SERVICE_TOKEN,
        ])
        .await;
        for section in SECTIONS {
            self.sees(&format!("/api/leagues/{section}_{night}"), |shown| {
                shown["phase"] == "completed"
            })
            .await;
        }
        let is_next = |shown: &Value| {
            shown["leagues_played"] == day + 1 && shown["current_league"] != current.as_str()
        };
        self.sees("/api/seasons/staff", is_next).await;
    }

    async fn play(&self) {
        self.until(self.monday + HOUR * 8).await;
        let nights: Vec<String> = (0..5).map(|day| self.night(day)).collect();
        // Each round is announced five seconds before it begins.
        self.course.write_plan(&nights, "19:00", "lead = 5");
        self.course.write_roster(FIRST_STUDENTS);
        self.sees("/health/ready", |ready| {
            ready["status"] == "ready" || ready["status"] == "ok"
        })
        .await;
        self.command(&[
            "course",
            "publish",
            &self.folder(),
            "--service-token",
            SERVICE_TOKEN,
        ])
        .await;
        let service = format!("http://{}", self.course.fixture.listen);
        let season = [
            "season",
            "create",
            "staff",
            "--schedule",
            "0 22 * * mon-fri",
            "--time-zone",
            "Europe/Berlin",
        ];
        let at = [
            "--service",
            &service,
            "--service-token",
            SERVICE_TOKEN,
            "--endpoint-check",
            "off",
        ];
        self.command(&[&season[..], &at].concat()).await;
        let mut staff = Vec::new();
        for name in STAFF {
            staff.push(self.agent(("staff", name, "1.0.0"), "random", None).await);
        }
        let everyone: Vec<usize> = (0..=FIRST_STUDENTS).collect();
        let first = &everyone[..FIRST_STUDENTS];
        let without_five: Vec<usize> = first
            .iter()
            .copied()
            .filter(|one| *one != ABSENT_ON_TUESDAY)
            .collect();
        for (day, students) in (0..).zip([first, &without_five, &everyone, &everyone, &everyone]) {
            self.day(day, students).await;
        }
        let season = self.show("/api/seasons/staff").await;
        for row in season["table"].as_array().unwrap() {
            assert_eq!(
                row["leagues"], 5,
                "who stays up plays every league of the season: {season}"
            );
        }
        for agent in staff {
            agent.shutdown().await.unwrap();
        }
        self.until(self.monday + DAY * 5 + HOUR * 9).await;
        let store = self.course.fixture.store();
        self.command(&[
            "course",
            "grades",
            &self.folder(),
            "--store",
            store.to_str().unwrap(),
        ])
        .await;
    }

    /// The rows of a file of grades, by the names of their columns.
    fn sheet(&self, file: &str) -> Vec<BTreeMap<String, String>> {
        let path = self
            .course
            .fixture
            .cli
            .path()
            .join("course/grades")
            .join(file);
        let text = fs::read_to_string(path).unwrap();
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines();
        let columns = cells(lines.next().unwrap());
        lines
            .map(|line| columns.iter().cloned().zip(cells(line)).collect())
            .collect()
    }

    fn check_grades(&self) {
        let grades = self.sheet("grades.csv");
        assert_eq!(
            (
                grades.len(),
                self.sheet("nights.csv").len(),
                self.sheet("platform.csv").len()
            ),
            (40, 200, 40)
        );
        let of = |number: usize, column: &str| {
            let row = grades
                .iter()
                .find(|row| row["name"] == name(number))
                .unwrap();
            row.get(column)
                .unwrap_or_else(|| panic!("{column}: {row:?}"))
                .clone()
        };
        assert_eq!(of(0, "versions"), "1.0.0 > 1.1.0 > 1.2.0 > 1.3.0 > 1.4.0");
        for (number, played, late, replaced) in [
            (0, "5", "0", "0"),
            (ABSENT_ON_TUESDAY, "4", "0", "0"),
            (REPLACED_ON_WEDNESDAY, "5", "0", "1"),
            (LATE_ON_MONDAY, "5", "1", "0"),
            (FIRST_STUDENTS, "3", "0", "0"),
        ] {
            let found = [
                "nights_played",
                "late_registrations",
                "replacements",
                "technical_losses",
            ]
            .map(|column| of(number, column));
            assert_eq!(found, [played, late, replaced, "0"], "{}", name(number));
        }
        assert_eq!(
            of(REPLACED_ON_WEDNESDAY, "versions"),
            "1.0.0 > 1.1.0 > 1.2.0 > 1.2.1 > 1.3.0 > 1.4.0"
        );
        let late = self
            .sheet("nights.csv")
            .into_iter()
            .find(|row| row["name"] == name(LATE_ON_MONDAY) && row["night"] == self.night(0));
        let late = late.unwrap();
        assert!(late["registered_at"].contains("T19:30:"), "{late:?}");
    }
}

async fn registered(agent: &Handle<Player>) {
    eventually_async("an agent has registered", async || {
        let state = agent
            .inspect(|player| player.registration_state().clone())
            .await
            .unwrap();
        state == RegistrationState::Done
    })
    .await;
}

fn league(number: usize, night: &str) -> String {
    format!("{}_{night}", SECTIONS[number % 4])
}

#[tokio::test]
async fn a_week_of_a_course_of_forty_at_the_hours_of_its_schedule() {
    let week = Week::new();
    let listen = week.course.fixture.listen.clone();
    let store = week.course.fixture.store();
    let store = store.to_str().unwrap();
    let words = [
        "serve",
        "--listen",
        &listen,
        "--store",
        store,
        "--service-token",
        SERVICE_TOKEN,
    ];
    tokio::select! {
        ended = matchday::cli::run_command(words) => panic!("the service has ended: {ended:?}"),
        () = week.play() => {}
    }
    week.check_grades();
}
