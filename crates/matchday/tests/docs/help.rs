//! `docs/commands.md` is the help of every command. To write it anew: `UPDATE_DOCS=1 cargo test -p matchday --test docs help`

use crate::{MATCHDAY, read, root};
use matchday_testkit::cli::{Cli, output};
use std::fs;

const HEAD: &str = "# Commands\n\nWhat `--help` says of every command; `--help-all` says all options, and [Settings](settings.md) lists them in one table.\n\
                    This page is generated.\n";

fn help(cli: &Cli, args: &[&str]) -> String {
    let mut command = cli.command(args);
    command.arg("--help").env("COLUMNS", "100");
    let told = output(command);
    assert_eq!(told.code, 0, "{told:?}");
    format!("```text\n{}\n```\n", told.out.trim_end())
}

fn generated() -> String {
    let cli = Cli::new(MATCHDAY);
    assert_eq!(cli.run(&["man", "--out", "man"]).code, 0);
    let mut commands: Vec<String> = fs::read_dir(cli.path().join("man"))
        .unwrap()
        .map(|page| page.unwrap().file_name().into_string().unwrap())
        .filter_map(|page| {
            Some(
                page.strip_prefix("matchday-")?
                    .strip_suffix(".1")?
                    .to_owned(),
            )
        })
        .collect();
    commands.sort();
    let mut page = format!("{HEAD}\n{}", help(&cli, &[]));
    for command in &commands {
        page.push_str(&format!(
            "\n## matchday {command}\n{}",
            help(&cli, &[command])
        ));
    }
    page
}

#[test]
fn the_page_of_commands_is_the_help_of_the_program() {
    let page = generated();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join("docs/commands.md"), page).unwrap();
        return;
    }
    assert_eq!(
        read("docs/commands.md"),
        page,
        "UPDATE_DOCS=1 cargo test -p matchday --test docs help"
    );
}
