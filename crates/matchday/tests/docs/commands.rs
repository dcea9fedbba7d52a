//! The `sh` blocks of the documentation are run, page by page, in a folder and a network of their own. What stands in a comment on the
//! line before a block:
//! - `<!-- not run: why -->`: it is not run;
//! - `<!-- background -->`: each line is a process that keeps running; the page goes on when all of them are ready;
//! - `<!-- file: NAME -->`, before a block in any language: the block is written to this file.
//!
//! `<!-- setup: COMMAND -->`, anywhere on the page, is run in its place, and is not shown to readers.

use crate::markdown::{blocks, comment};
use crate::{MATCHDAY, pages, read, root};
use matchday_testkit::tools;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// What is run of a page, in its order.
#[derive(Debug)]
enum Step {
    File { name: String, text: String },
    Setup(String),
    Foreground { line: usize, text: String },
    Background { line: usize, text: String },
}

/// How a background process says that it is ready.
const READY: &str = "listening on|registered as|leagues are served at|waiting [0-9]";

/// What a page has to run, or the blocks that say neither how nor why not.
fn steps(page: &str) -> Result<Vec<Step>, String> {
    let text = read(page);
    let mut steps: BTreeMap<usize, Step> = BTreeMap::new();
    for (line, comment) in (1..)
        .zip(text.lines())
        .filter_map(|(line, text)| Some((line, comment(text)?)))
    {
        if let Some(command) = comment.strip_prefix("setup: ") {
            steps.insert(line, Step::Setup(command.to_owned()));
        }
    }
    for block in blocks(&text) {
        let line = block.line;
        let text = block.text;
        let step = match (block.language, block.marker) {
            (_, Some(marker)) if marker.starts_with("file: ") => Step::File {
                name: marker[6..].to_owned(),
                text,
            },
            ("sh", Some("background")) => Step::Background { line, text },
            ("sh", Some(marker)) if marker.starts_with("not run:") => {
                if marker["not run:".len()..].trim().len() < 5 {
                    return Err(format!("{page}:{line}: say why it is not run"));
                }
                continue;
            }
            ("sh" | "bash" | "console", _) => Step::Foreground { line, text },
            _ => continue,
        };
        steps.insert(line, step);
    }
    Ok(steps.into_values().collect())
}

/// A script of bash that does these steps, and stops at the first that fails.
fn script(page: &str, steps: &[Step], folder: &Path) -> String {
    let mut script = format!(
        "set -euo pipefail\nip link set lo up\ncd {}\nexport HOME=$PWD\n\
         background() {{ bash -c \"$1\" > \"$2\" 2>&1 & }}\n\
         ready() {{ for ((i = 0; i < 1200; i++)); do grep -qE '{READY}' \"$1\" && return; sleep 0.05; done; cat \"$1\"; return 1; }}\n\
         trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n",
        folder.display()
    );
    let mut logs = 0;
    for step in steps {
        match step {
            Step::File { name, text } => {
                let path = folder.join(name);
                fs::write(&path, format!("{text}\n")).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
            Step::Setup(command) => script.push_str(&format!("{command}\n")),
            Step::Foreground { line, text } => {
                script.push_str(&format!("echo '== {page}:{line}'\n{text}\n"));
            }
            Step::Background { line, text } => {
                script.push_str(&format!("echo '== {page}:{line}'\n"));
                let commands = text.replace("\\\n", " ");
                // One after the other, as a reader would: the first referee is the first to register.
                for command in commands
                    .lines()
                    .map(str::trim)
                    .filter(|line| !line.is_empty() && !line.starts_with('#'))
                {
                    let quoted = command.replace('\'', r"'\''");
                    script.push_str(&format!(
                        "background 'exec {quoted}' log-{logs}\nready log-{logs}\n"
                    ));
                    logs += 1;
                }
            }
        }
    }
    script
}

/// Runs a page; says what failed.
fn run(page: &str) -> Result<(), String> {
    let steps = steps(page)?;
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("bin");
    fs::create_dir(&tools).unwrap();
    std::os::unix::fs::symlink(MATCHDAY, tools.join("matchday")).unwrap();
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    let script = script(page, &steps, folder.path());
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let mut command = matchday_testkit::cli::command("unshare");
    command
        .args(["--net", "--map-root-user", "bash", "-c", &script])
        .env("PATH", path)
        .env("PAGER", "cat");
    let ended = command.output().unwrap();
    if ended.status.success() {
        Ok(())
    } else {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Err(format!(
            "{page}: {}\n{}\n{}",
            ended.status,
            text(&ended.stdout),
            text(&ended.stderr)
        ))
    }
}

/// Whether a network of one's own can be made here, as root or as a user with namespaces.
fn can_isolate() -> bool {
    let probe = Command::new("unshare")
        .args(["--net", "--map-root-user", "ip", "link", "set", "lo", "up"])
        .status();
    tools::require_that(
        probe.is_ok_and(|status| status.success()),
        "a network namespace cannot be made (unshare, ip)",
    )
}

#[test]
fn every_command_is_run_or_says_why_it_is_not() {
    let unmarked: Vec<String> = pages()
        .iter()
        .filter_map(|page| steps(page).err())
        .collect();
    assert!(unmarked.is_empty(), "{unmarked:?}");
}

macro_rules! pages_run {
    ($($name:ident: $page:literal,)*) => {
        $(#[test]
        fn $name() {
            if can_isolate() {
                run($page).unwrap_or_else(|why| panic!("{why}"));
            }
        })*

        #[test]
        fn every_page_with_commands_has_a_test() {
            let tested = [$($page),*];
            for page in pages() {
                let runs = !steps(&page).unwrap().is_empty();
                assert_eq!(runs, tested.contains(&page.as_str()), "{page}");
            }
        }
    };
}

pages_run! {
    the_tutorial_works: "docs/tutorial.md",
    the_course_manual_works: "docs/course.md",
    a_league_is_run_as_the_page_says: "docs/run-a-league.md",
    the_page_on_formats_works: "docs/formats.md",
    the_page_on_results_works: "docs/results.md",
    the_page_on_the_store_works: "docs/store.md",
    the_page_on_tls_works: "docs/tls.md",
    the_page_on_services_works: "docs/service.md",
    the_manual_for_authors_works: "docs/writing-an-agent.md",
    the_page_on_programs_works: "docs/programs.md",
    the_page_on_data_works: "docs/data.md",
    the_page_on_statistics_works: "docs/statistics.md",
    the_page_on_simulations_works: "docs/simulate.md",
    the_page_on_games_of_ones_own_works: "docs/adding-a-game.md",
    the_runbook_works: "docs/runbook.md",
    the_readme_works: "README.md",
}
