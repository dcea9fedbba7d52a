//! A course, from a roster that Excel saved to the grades of a learning platform. The teacher's commands are those of the program;
//! the service runs in this process, and the test moves the time of its runtime from one evening to the next. While a league is
//! played time passes at its own pace, and a second more for each look at it.

use matchday_core::game::strategy;
use matchday_core::player::{Player, PlayerSettings};
use matchday_core::protocol::{DisplayName, Endpoint, GameType, Timestamp, Token, Version};
use matchday_core::registration::RegistrationState;
use matchday_net::client::Client;
use matchday_runtime::{Clock, Handle};
use matchday_testkit::cli::{Cli, Output, free_address};
use matchday_testkit::eventually::eventually_async;
use matchday_testkit::test_league::{TestLeague, endpoint, free_port};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const SERVICE_TOKEN: &str = "tok_service_of_the_tests";
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// The roster as Excel saves it in Windows: lines end with CR LF, letters are those of Windows-1252.
const ROSTER: &[u8] = b"Name;Section;Language;E-mail;Seat\r\n\
    Jos\xe9 N\xfa\xf1ez;monday;python;jose@example.org;1\r\n\
    Ann Lee;monday;go;ann@example.org;2\r\n\
    Bob Roy;monday;;bob@example.org;3\r\n\
    Cas Day;monday;rust;cas@example.org;4\r\n\
    Dee Fox;tuesday;;dee@example.org;5\r\n\
    Eve Ash;tuesday;;eve@example.org;6\r\n";
/// She comes to the course after the first night.
const FAY: &[u8] = b"Fay Orr;tuesday;typescript;fay@example.org;7\r\n";

struct Teacher {
    cli: Arc<Cli>,
    listen: String,
    agents: TestLeague,
    client: Client,
    clock: Clock,
    /// Noon of the day before the first night.
    noon: Timestamp,
}

impl Teacher {
    fn new() -> Self {
        let clock = Clock::start();
        let days = clock.now().as_micros() / 86_400_000_000;
        Self {
            cli: Arc::new(Cli::new(crate::matchday())),
            listen: free_address(),
            agents: TestLeague::new(matchday_server::agent_options),
            client: Client::new(),
            clock,
            noon: Timestamp::from_micros((days + 1) * 86_400_000_000) + HOUR * 12,
        }
    }

    /// Runs a command in the teacher's folder.
    async fn run(&self, args: &[&str]) -> Output {
        let cli = Arc::clone(&self.cli);
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let run = move || cli.run(&args.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(run).await.unwrap()
    }

    async fn publish(&self) -> Output {
        self.run(&[
            "course",
            "publish",
            "agents",
            "--service-token",
            SERVICE_TOKEN,
        ])
        .await
    }

    fn write(&self, file: &str, text: &[u8]) {
        fs::write(self.cli.path().join("agents").join(file), text).unwrap();
    }

    fn file(&self, file: &str) -> String {
        fs::read_to_string(self.cli.path().join("agents").join(file)).unwrap()
    }

    /// The nights are the three days from tomorrow on.
    fn write_plan(&self) {
        let nights = (1..=3).map(|day| {
            let night = (self.noon + DAY * day).to_string();
            format!("{:?}", night.split('T').next().unwrap())
        });
        let plan = format!(
            "name = \"Agents 101\"\nservice = \"http://{}\"\n[season]\nnights = [{}]\nstart = \"20:00\"\n\
             time_zone = \"Europe/Berlin\"\n[league]\nlead = 5\nendpoint-check = \"off\"\n[sections.monday]\n\
             [sections.tuesday]\n[grading.scale]\nA = 60\nB = 40\nF = 0\n",
            self.listen,
            nights.collect::<Vec<_>>().join(", "),
        );
        self.write("course.toml", plan.as_bytes());
    }

    /// Moves the time of all clocks of this runtime.
    async fn until(&self, at: Timestamp) {
        let ahead = at.since(self.clock.now());
        tokio::time::pause();
        tokio::time::advance(ahead).await;
        tokio::time::resume();
    }

    async fn get(&self, path: &str) -> String {
        let url = format!("http://{}{path}", self.listen);
        let deadline = Instant::now() + HOUR;
        let answer = self.client.get_with(&url, Vec::new(), deadline, 1 << 24);
        String::from_utf8_lossy(&answer.await.unwrap().body).into_owned()
    }

    /// Looks until it is so, a second of the course's time after the other.
    async fn sees(&self, path: &str, what: impl Fn(&Value) -> bool) -> Value {
        let mut shown = Value::Null;
        for _ in 0..3_000 {
            shown = serde_json::from_str(&self.get(path).await).unwrap_or_default();
            if what(&shown) {
                return shown;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.until(self.clock.now() + Duration::from_secs(1)).await;
        }
        panic!("never so: {shown}")
    }

    /// The code on the hand-out of a student, whose URL is the same for every night.
    fn code_on(&self, handout: &str) -> (String, String) {
        let page = self.file(&format!("handouts/{handout}.html"));
        let section = handout.split('/').next().unwrap();
        let base = format!("http://{}/leagues/{section}/", self.listen);
        let (_, code) = page.split_once(&format!("{base}join/")).unwrap();
        let code = code.split('/').next().unwrap().to_owned();
        (format!("{base}mcp"), code)
    }

    /// A student's agent, started with what the hand-out says.
    async fn student(&self, handout: &str, version: &str) -> Handle<Player> {
        let (manager, code) = self.code_on(handout);
        let listener = free_port().await;
        let settings = PlayerSettings {
            manager: Endpoint::parse(&manager).unwrap(),
            contact_endpoint: endpoint(listener.local_addr().unwrap()),
            display_name: DisplayName::parse("My Player").unwrap(),
            version: Version::parse(version).unwrap(),
            game_types: vec![GameType::new("even_odd")],
            strategy: None,
        };
        let player = Player::new(settings, strategy::find("random").unwrap().build());
        let player = player.with_join_code(Some(Token::new(code)));
        let agent = self
            .agents
            .run(player, listener, &format!("player/{handout}"));
        eventually_async("the agent has registered", async || {
            let state = agent
                .inspect(|player| player.registration_state().clone())
                .await
                .unwrap();
            state == RegistrationState::Done
        })
        .await;
        agent
    }

    /// The evening of a night comes, and each section plays its league.
    async fn evening(&self, night: u32) {
        for section in ["monday", "tuesday"] {
            let season = self
                .sees(&format!("/api/seasons/{section}"), |_| true)
                .await;
            let starts_at = season["starts_at"].as_str().unwrap();
            let starts_at = Timestamp::parse(starts_at).unwrap().0;
            let hour = starts_at.since(self.noon + DAY * night).as_secs() / 3600;
            assert!(
                hour == 6 || hour == 7,
                "20:00 in Berlin is {starts_at}, in winter or summer"
            );
            if starts_at > self.clock.now() {
                self.until(starts_at + Duration::from_secs(1)).await;
            }
        }
        for section in ["monday", "tuesday"] {
            self.sees(&format!("/api/seasons/{section}"), |season| {
                season["leagues_played"] == night
                    && (night == 3
                        || season["is_playing"] == false && season["starts_at"].is_string())
            })
            .await;
        }
    }

    /// The rows of a file of grades, by the names of their columns.
    fn sheet(&self, file: &str) -> Vec<BTreeMap<String, String>> {
        let text = self.file(&format!("grades/{file}"));
        let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines();
        let columns = cells(lines.next().unwrap());
        lines
            .map(|line| columns.iter().cloned().zip(cells(line)).collect())
            .collect()
    }

    async fn walks(&self) {
        self.until(self.noon).await;
        let made = self.run(&["course", "init", "agents"]).await;
        assert_eq!(made.code, 0, "{made:?}");
        self.write_plan();
        self.write(
            "roster.csv",
            &[ROSTER, b"Ann Li;munday;;ann@example.org;9\r\n"].concat(),
        );
        let refused = self.publish().await;
        assert!(
            refused.failed(2).contains(
                "roster.csv: line 8: section: course.toml has no \"munday\" - did you mean \"monday\"?"
            ),
            "{refused:?}"
        );
        self.write(
            "roster.csv",
            &[ROSTER, b"Ann Li;monday;;Ann@example.org;9\r\n"].concat(),
        );
        let refused = self.publish().await;
        assert!(
            refused
                .failed(2)
                .contains("line 8: Ann Li has the mail of Ann Lee on line 3"),
            "{refused:?}"
        );
        self.write("roster.csv", ROSTER);
        self.sees("/api/seasons", Value::is_object).await;
        let published = self.publish().await;
        assert_eq!(published.code, 0, "{published:?}");
        for said in [
            "students on other machines cannot reach",
            "read as Windows-1252",
            "not used: Seat",
        ] {
            assert!(published.err.contains(said), "{said}: {published:?}");
        }
        let handout = self.file("handouts/monday/josé-núñez.html");
        assert!(handout.contains("José Núñez"), "{handout}");
        // Bob Roy never comes. Cas Day leaves after the first night.
        let jose = self.student("monday/josé-núñez", "1.0.0").await;
        let ann = self.student("monday/ann-lee", "1.0.0").await;
        let cas = self.student("monday/cas-day", "1.0.0").await;
        let dee = self.student("tuesday/dee-fox", "1.0.0").await;
        let eve = self.student("tuesday/eve-ash", "1.0.0").await;
        self.evening(1).await;

        cas.shutdown().await.unwrap();
        self.write("roster.csv", &[ROSTER, FAY].concat());
        let published = self.publish().await;
        assert!(
            published.out.contains("added: 1") && published.out.contains("is there already"),
            "{published:?}"
        );
        let fay = self.student("tuesday/fay-orr", "1.0.0").await;
        self.evening(2).await;

        let service = format!("http://{}", self.listen);
        let archived = self
            .run(&[
                "league",
                "archive",
                "monday_1",
                "--service",
                &service,
                "--service-token",
                SERVICE_TOKEN,
            ])
            .await;
        assert_eq!(archived.code, 0, "{archived:?}");
        ann.shutdown().await.unwrap();
        let ann = self.student("monday/ann-lee", "1.1.0").await;
        self.evening(3).await;
        self.sees("/api/seasons/monday", |season| season["state"] == "ended")
            .await;
        let wall = self.get("/seasons/monday").await;
        assert!(
            wall.contains("The season has ended") && wall.contains("Ann Lee"),
            "{wall}"
        );

        let store = self.cli.path().join("service.db");
        let graded = self
            .run(&[
                "course",
                "grades",
                "agents",
                "--store",
                store.to_str().unwrap(),
            ])
            .await;
        assert_eq!(graded.code, 0, "{graded:?}");
        self.check_grades(&graded.out);
        for agent in [jose, ann, dee, eve, fay] {
            agent.shutdown().await.unwrap();
        }
    }

    fn check_grades(&self, shown: &str) {
        assert!(
            shown.contains("Section monday (students: 4, nights: 3)") && !shown.contains("-0.0"),
            "{shown}"
        );
        let grades = self.sheet("grades.csv");
        let of = |name: &str| {
            let row = grades.iter().find(|row| row["name"] == name).unwrap();
            ["nights_played", "versions", "technical_losses"].map(|column| row[column].as_str())
        };
        assert_eq!(of("José Núñez"), ["3", "1.0.0", "0"]);
        assert_eq!(of("Ann Lee"), ["3", "1.0.0 > 1.1.0", "0"]);
        assert_eq!(of("Bob Roy"), ["0", "", "0"], "who never came");
        assert_eq!(of("Cas Day")[0], "1", "who left after the first night");
        assert_eq!(of("Fay Orr"), ["2", "1.0.0", "0"], "who came after it");
        let bob = grades.iter().find(|row| row["name"] == "Bob Roy").unwrap();
        assert_eq!((&*bob["score"], &*bob["grade"]), ("0.0", "F"));
        let canvas = self.sheet("canvas.csv");
        assert_eq!(
            (&*canvas[0]["Student"], &*canvas[0]["Agents 101"]),
            ("    Points Possible", "100")
        );
        assert_eq!(canvas.len(), 1 + 7);
        let moodle = self.sheet("moodle.csv");
        assert!(
            moodle
                .iter()
                .any(|row| row["Email address"] == "fay@example.org"),
            "{moodle:?}"
        );
    }
}

#[tokio::test]
async fn a_course_of_three_nights_from_its_roster_to_its_grades() {
    let teacher = Teacher::new();
    let listen = teacher.listen.clone();
    let store = teacher.cli.path().join("service.db");
    let words = [
        "serve",
        "--listen",
        &listen,
        "--store",
        store.to_str().unwrap(),
        "--service-token",
        SERVICE_TOKEN,
    ];
    tokio::select! {
        ended = matchday::cli::run_command(words) => panic!("the service has ended: {ended:?}"),
        () = teacher.walks() => {}
    }
}
