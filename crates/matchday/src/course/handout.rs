//! The page that a student is given: the join code, the commands in the student's language, the nights. Pure.

use super::plan::CoursePlan;
use super::roster::Student;
use askama::Template;
use matchday_audit::template::rendered;
use matchday_author::starter::{Language, System};

/// A command as two shells take it.
struct ShellCommand {
    sh: String,
    powershell: String,
}

impl ShellCommand {
    fn same(command: &str) -> Self {
        let command = command.to_owned();
        Self {
            sh: command.clone(),
            powershell: command,
        }
    }

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

/// One of the things to do.
struct Step {
    id: &'static str,
    title: &'static str,
    about: String,
    command: ShellCommand,
}

impl Step {
    /// What it is about; whether each part is code, which stands between backticks.
    fn words(&self) -> impl Iterator<Item = (bool, &str)> {
        let parts = self.about.split('`').enumerate();
        parts.map(|(place, words)| (place % 2 == 1, words))
    }
}

#[derive(Template)]
#[template(path = "handout.html")]
struct Handout<'a> {
    plan: &'a CoursePlan,
    student: &'a Student,
    code: &'a str,
    steps: [Step; 4],
}

pub(crate) fn page(plan: &CoursePlan, student: &Student, code: &str) -> String {
    let game = plan.game(&student.section);
    let steps = [
        Step {
            id: "program",
            title: "1. Get the program",
            about: program(plan, student),
            command: ShellCommand::same("matchday --version"),
        },
        Step {
            id: "write",
            title: "2. Write your player",
            about: "A complete player in a folder of its own; its README says where the strategy is.".to_owned(),
            command: new_player(student, &game),
        },
        Step {
            id: "check",
            title: "3. Check it",
            about: format!(
                "Run the first line in one terminal and the others in another. Exit code 0 means: ready. For many matches against \
                 strategies of all kinds, let `matchday practice --game {game}` take its place."
            ),
            command: check(student, &game),
        },
        Step {
            id: "play",
            title: "4. Join",
            about: "In the folder of your player, from any network: it calls the league, and nobody needs to reach your machine. \
                    Leave it running: it plays when the league does. Raise the version in its source with each improvement: the \
                    grade sheet shows progress by version."
                .to_owned(),
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

fn program(plan: &CoursePlan, student: &Student) -> String {
    let source = match &plan.program {
        Some(place) => format!("`matchday` for your system is at {place}."),
        None => "Your course has `matchday` for your system: ask where.".to_owned(),
    };
    format!(
        "{source} It is one file: put it where your shell finds programs. Your player needs {} as well.",
        student.language.needs()
    )
}

fn check(student: &Student, game: &str) -> ShellCommand {
    let command = |system| {
        let commands = student.language.commands(system);
        let lines = ["cd my-player"]
            .into_iter()
            .chain(commands.install)
            .chain([commands.run]);
        let lines: Vec<_> = lines.collect();
        format!(
            "matchday check player --wait --game {game}\n{}",
            lines.join("\n")
        )
    };
    ShellCommand {
        sh: command(System::Unix),
        powershell: command(System::Windows),
    }
}

fn play(plan: &CoursePlan, student: &Student, code: &str) -> ShellCommand {
    let options = format!("--dial --manager \"{}\"", manager_url(plan, student, code));
    let command = |system| student.language.run_with(system, &options);
    ShellCommand {
        sh: command(System::Unix),
        powershell: command(System::Windows),
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
    fn the_commands_in_each_language_and_shell() {
        let (plan, students) = course("https://league.example");
        let all: Vec<String> = students
            .iter()
            .map(|student| commands(&plan, student))
            .collect();
        insta::assert_snapshot!(all.join("\n"));
    }

    /// What is printed is typed as it stands: nothing is to be filled in.
    #[test]
    fn the_line_to_join_dials_out_and_has_no_placeholder() {
        for service in ["http://127.0.0.1:8000", "https://league.example"] {
            let (plan, students) = course(service);
            for student in &students {
                let join = play(&plan, student, CODE);
                for line in [join.sh, join.powershell] {
                    assert!(
                        line.contains("--dial --manager ") && line.contains(CODE),
                        "{line}"
                    );
                    assert!(
                        !line.contains("YOUR") && !line.contains("--advertise"),
                        "{line}"
                    );
                }
            }
        }
    }

    #[test]
    fn it_says_where_the_program_is() {
        let (mut plan, students) = course("https://league.example");
        assert!(page(&plan, &students[0], CODE).contains("ask where"));
        plan.program = Some("https://example.edu/matchday".to_owned());
        let page = page(&plan, &students[0], CODE);
        assert!(
            page.contains("https://example.edu/matchday") && page.contains("Python 3.9 or later")
        );
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
