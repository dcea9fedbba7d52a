//! The page that a student is given: the join code, the three commands in the student's language, the nights. Pure.

use super::plan::CoursePlan;
use super::roster::Student;
use askama::Template;
use matchday_audit::template::rendered;
use matchday_author::starter::Language;

/// A command as two shells take it.
struct ShellCommand {
    sh: String,
    powershell: String,
}

impl ShellCommand {
    fn by_shell(&self) -> Vec<(&'static str, &str)> {
        if self.sh == self.powershell {
            vec![("In every shell", &self.sh)]
        } else {
            vec![
                ("Linux and macOS", &self.sh),
                ("PowerShell", &self.powershell),
            ]
        }
    }
}

/// One of the three things to do.
struct Step {
    id: &'static str,
    title: &'static str,
    about: &'static str,
    command: ShellCommand,
}

#[derive(Template)]
#[template(path = "handout.html")]
struct Handout<'a> {
    plan: &'a CoursePlan,
    student: &'a Student,
    code: &'a str,
    steps: [Step; 3],
}

pub(crate) fn page(plan: &CoursePlan, student: &Student, code: &str) -> String {
    let game = plan.game(&student.section);
    let steps = [
        Step {
            id: "write",
            title: "1. Write your player",
            about: "A complete player in a folder of its own; its README says where the strategy is.",
            command: new_player(student, &game),
        },
        Step {
            id: "check",
            title: "2. Check it",
            about: "Run the first line in one terminal and the second in another. Exit code 0 means: ready.",
            command: check(student, &game),
        },
        Step {
            id: "play",
            title: "3. Play tonight",
            about: "Before the deadline, in the folder of your player, and leave it running until the league is over. Raise the \
                    version in its source with each improvement: the grade sheet shows progress by version.",
            command: play(plan, student, code),
        },
    ];
    rendered(&Handout {
        plan,
        student,
        code,
        steps,
    })
}

/// The table of all nights, and their leagues.
fn season_page(plan: &CoursePlan, student: &Student) -> String {
    format!("{}/seasons/{}", plan.service, student.section)
}

/// The same for every night.
fn manager_url(plan: &CoursePlan, student: &Student, code: &str) -> String {
    format!(
        "{}/leagues/{}/join/{code}/mcp",
        plan.service, student.section
    )
}

fn new_player(student: &Student, game: &str) -> ShellCommand {
    let language = language_name(student.language);
    let name = student.name.raw();
    let command = |name: String| {
        format!("matchday new player --lang {language} my-player --name {name} --game {game}")
    };
    ShellCommand {
        sh: command(format!("'{}'", name.replace('\'', r"'\''"))),
        powershell: command(format!("'{}'", name.replace('\'', "''"))),
    }
}

fn check(student: &Student, game: &str) -> ShellCommand {
    let command =
        |run: &str| format!("matchday check player --wait --game {game}\ncd my-player; {run}");
    ShellCommand {
        sh: command(run(student.language)),
        powershell: command(run_in_powershell(student.language)),
    }
}

fn play(plan: &CoursePlan, student: &Student, code: &str) -> ShellCommand {
    let reach = if is_this_machine(&plan.service) {
        ""
    } else {
        " --listen 0.0.0.0:8101 --advertise http://YOUR-ADDRESS:8101/mcp"
    };
    let command = |run: &str| {
        let options = format!("--manager \"{}\"{reach}", manager_url(plan, student, code));
        // What `npm start` is to hand on stands after two dashes.
        let separator = if student.language == Language::Typescript {
            " --"
        } else {
            ""
        };
        format!("{run}{separator} {options}")
    };
    ShellCommand {
        sh: command(run(student.language)),
        powershell: command(run_in_powershell(student.language)),
    }
}

fn is_this_machine(service: &str) -> bool {
    let host = service.split("://").nth(1).unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|own| {
        host.strip_prefix(own)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    })
}

fn run(language: Language) -> &'static str {
    language.commands().0
}

/// Python is called otherwise on Windows.
fn run_in_powershell(language: Language) -> &'static str {
    match language {
        Language::Python => "py agent.py",
        other => run(other),
    }
}

fn language_name(language: Language) -> &'static str {
    match language {
        Language::Python => "python",
        Language::Typescript => "typescript",
        Language::Rust => "rust",
        Language::Go => "go",
    }
}

/// A file name of the student's name: letters and digits of any script, and dashes.
pub(crate) fn file_name(student: &Student) -> String {
    let plain = |letter: char| {
        if letter.is_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let name: String = student
        .name
        .raw()
        .to_lowercase()
        .chars()
        .map(plain)
        .collect();
    name.split('-')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

#[cfg(test)]
mod tests {
    use super::super::{plan, roster};
    use super::*;

    const CODE: &str = "tok_join_0123456789abcdef";

    fn course(service: &str) -> (CoursePlan, Vec<Student>) {
        let text = plan::TEMPLATE.replace("{nights}", "\"2026-03-02\", \"2026-03-03\"");
        let plan = CoursePlan::parse(&text.replace("http://localhost:8000", service)).unwrap();
        let (students, _) = roster::parse(roster::TEMPLATE, &plan).unwrap();
        (plan, students)
    }

    fn commands(plan: &CoursePlan, student: &Student) -> String {
        let commands = [
            new_player(student, "even_odd"),
            check(student, "even_odd"),
            play(plan, student, CODE),
        ];
        commands
            .map(|command| format!("{}\n{}\n", command.sh, command.powershell))
            .concat()
    }

    #[test]
    fn three_commands_in_each_language_and_shell() {
        let (plan, students) = course("https://league.example");
        let all: Vec<String> = students
            .iter()
            .map(|student| commands(&plan, student))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn a_league_on_this_machine_needs_no_address_of_the_student() {
        let (plan, students) = course("http://127.0.0.1:8000");
        assert!(!commands(&plan, &students[0]).contains("--advertise"));
    }

    #[test]
    fn a_name_stays_a_name_in_both_shells_and_on_the_page() {
        let (plan, mut students) = course("http://localhost:8000");
        students[0].name = matchday_core::protocol::DisplayName::parse("O'Hara <b>").unwrap();
        let command = new_player(&students[0], "nim");
        assert!(
            command.sh.contains(r"--name 'O'\''Hara <b>' "),
            "{}",
            command.sh
        );
        assert!(
            command.powershell.contains("--name 'O''Hara <b>' "),
            "{}",
            command.powershell
        );
        let page = page(&plan, &students[0], CODE);
        assert!(!page.contains("<b>"), "{page}");
        assert_eq!(file_name(&students[0]), "o-hara-b");
    }
}
