//! The page that a student is given: the join code, the three commands in the student's language, the nights. Pure.

use super::plan::{CoursePlan, league_id};
use super::roster::Student;
use matchday_audit::report::html::writer::{Html, section};
use matchday_audit::report::html::{POLICY, STYLE};
use matchday_author::starter::Language;

/// Commands are long: they are wrapped, on paper too.
const COMMANDS_STYLE: &str = "pre, td code, td a { white-space: pre-wrap; overflow-wrap: anywhere }";

/// A command as two shells take it.
struct ShellCommand {
    sh: String,
    powershell: String,
}

impl ShellCommand {
    fn by_shell(&self) -> Vec<(&'static str, &str)> {
        match self.sh == self.powershell {
            true => vec![("In every shell", &self.sh)],
            false => vec![("Linux and macOS", &self.sh), ("PowerShell", &self.powershell)],
        }
    }
}

pub(crate) fn page(plan: &CoursePlan, student: &Student, code: &str) -> String {
    let mut html = Html::document();
    html.element("html", &[("lang", "en")], |html| {
        html.element("head", &[], |html| {
            html.open("meta", &[("charset", "utf-8")]);
            html.open("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            html.open("meta", &[("http-equiv", "Content-Security-Policy"), ("content", POLICY)]);
            html.leaf("title", &[], &format!("{} - {}", student.name.raw(), plan.name));
            html.style(&[STYLE, COMMANDS_STYLE]);
        });
        html.element("body", &[], |html| body(html, plan, student, code));
    });
    html.finish()
}

fn body(html: &mut Html, plan: &CoursePlan, student: &Student, code: &str) {
    html.element("header", &[], |html| {
        html.leaf("p", &[("class", "quiet")], &format!("{}, section {}", plan.name, student.section));
        html.element("h1", &[], |html| html.name(student.name.raw()));
        html.element("p", &[], |html| {
            html.text("Your join code is ");
            html.leaf("code", &[], code);
            html.text(
                ". It admits one agent to each league, under your name: keep it as you keep a password.",
            );
        });
    });
    html.element("main", &[], |html| {
        let game = plan.game(&student.section);
        let steps = [
            ("write", "1. Write your player", "A complete player in a folder of its own; its README says where the strategy is.", new_player(student, &game)),
            ("check", "2. Check it", "Run the first line in one terminal and the second in another. Exit code 0 means: ready.", check(student, &game)),
            ("play", "3. Play tonight", "Before the deadline, in the folder of your player, and leave it running until the league is over. Raise the version \
              in its source with each improvement: the grade sheet shows progress by version.", play(plan, student, code)),
        ];
        for (id, title, about, command) in steps {
            section(html, id, title, |html| {
                html.leaf("p", &[], about);
                for (shell, command) in command.by_shell() {
                    html.leaf("p", &[("class", "quiet")], shell);
                    html.leaf("pre", &[], command);
                }
            });
        }
        section(html, "nights", "The nights", |html| nights(html, plan, student, code));
    });
}

fn nights(html: &mut Html, plan: &CoursePlan, student: &Student, code: &str) {
    let deadline = &plan.season.deadline;
    let about = format!(
        "Registration closes at {deadline} UTC. The manager's URL holds your code; the page is open to everyone."
    );
    html.leaf("p", &[], &about);
    html.element("table", &[], |html| {
        html.element("tr", &[], |html| {
            for head in ["Night", "Page", "Manager's URL"] {
                html.leaf("th", &[("scope", "col")], head);
            }
        });
        for night in &plan.season.nights {
            let page = format!("{}/leagues/{}/", plan.service, league_id(&student.section, night));
            html.element("tr", &[], |html| {
                html.leaf("td", &[], night);
                html.element("td", &[], |html| html.leaf("a", &[("href", &page)], &page));
                html.element("td", &[], |html| {
                    html.leaf("code", &[], &manager_url(plan, student, code, night));
                });
            });
        }
    });
}

fn manager_url(plan: &CoursePlan, student: &Student, code: &str, night: &str) -> String {
    format!("{}/leagues/{}/join/{code}/mcp", plan.service, league_id(&student.section, night))
}

fn new_player(student: &Student, game: &str) -> ShellCommand {
    let (language, name) = (language_name(student.language), student.name.raw());
    let command =
        |name: String| format!("matchday new player --lang {language} my-player --name {name} --game {game}");
    ShellCommand {
        sh: command(format!("'{}'", name.replace('\'', r"'\''"))),
        powershell: command(format!("'{}'", name.replace('\'', "''"))),
    }
}

fn check(student: &Student, game: &str) -> ShellCommand {
    let command = |run: &str| format!("matchday check player --wait --game {game}\ncd my-player; {run}");
    ShellCommand {
        sh: command(run(student.language)),
        powershell: command(run_in_powershell(student.language)),
    }
}

fn play(plan: &CoursePlan, student: &Student, code: &str) -> ShellCommand {
    let reach = match is_this_machine(&plan.service) {
        true => "",
        false => " --listen 0.0.0.0:8101 --advertise http://YOUR-ADDRESS:8101/mcp",
    };
    let command = |run: &str, date: &str| {
        let options = format!("--manager \"{}\"{reach}", manager_url(plan, student, code, date));
        // What `npm start` is to hand on stands after two dashes.
        let separator = if student.language == Language::Typescript { " --" } else { "" };
        format!("{run}{separator} {options}")
    };
    ShellCommand {
        sh: command(run(student.language), "$(date -u +%F)"),
        powershell: command(
            run_in_powershell(student.language),
            "$((Get-Date).ToUniversalTime().ToString('yyyy-MM-dd'))",
        ),
    }
}

fn is_this_machine(service: &str) -> bool {
    let host = service.split("://").nth(1).unwrap_or_default();
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|own| host.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with(':')))
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
    let plain = |letter: char| if letter.is_alphanumeric() { letter } else { '-' };
    let name: String = student.name.raw().to_lowercase().chars().map(plain).collect();
    name.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::super::{plan, roster};
    use super::*;

    const CODE: &str = "tok_join_0123456789abcdef";

    fn course(service: &str) -> (CoursePlan, Vec<Student>) {
        let text = plan::TEMPLATE.replace("{nights}", "\"2026-03-02\", \"2026-03-03\"");
        let plan = CoursePlan::parse(&text.replace("http://localhost:8000", service)).unwrap();
        let students = roster::parse(roster::TEMPLATE, &plan).unwrap();
        (plan, students)
    }

    fn commands(plan: &CoursePlan, student: &Student) -> String {
        let commands =
            [new_player(student, "even_odd"), check(student, "even_odd"), play(plan, student, CODE)];
        commands.map(|command| format!("{}\n{}\n", command.sh, command.powershell)).concat()
    }

    #[test]
    fn three_commands_in_each_language_and_shell() {
        let (plan, students) = course("https://league.example");
        let all: Vec<String> = students.iter().map(|student| commands(&plan, student)).collect();
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
        assert!(command.sh.contains(r"--name 'O'\''Hara <b>' "), "{}", command.sh);
        assert!(command.powershell.contains("--name 'O''Hara <b>' "), "{}", command.powershell);
        let page = page(&plan, &students[0], CODE);
        assert!(!page.contains("<b>"), "{page}");
        assert_eq!(file_name(&students[0]), "o-hara-b");
    }
}
