//! The help, word for word.

use matchday_testkit::cli::{Cli, output};

fn help(args: &[&str]) -> String {
    let cli = Cli::new(crate::MATCHDAY);
    let mut command = cli.command(args);
    command.arg("--help").env("COLUMNS", "100");
    let done = output(command);
    assert_eq!(done.code, 0, "{done:?}");
    done.out
}

#[test]
fn of_the_program() {
    insta::assert_snapshot!(help(&[]));
}

#[test]
fn of_the_manager() {
    insta::assert_snapshot!(help(&["manager"]));
}

#[test]
fn of_the_operators_commands() {
    insta::assert_snapshot!(help(&["admin"]));
}

#[test]
fn of_the_check_of_a_player() {
    insta::assert_snapshot!(help(&["check", "player"]));
}

#[test]
fn of_the_check_of_a_referee() {
    insta::assert_snapshot!(help(&["check", "referee"]));
}

#[test]
fn of_the_check_of_a_manager() {
    insta::assert_snapshot!(help(&["check", "manager"]));
}

#[test]
fn of_the_service() {
    insta::assert_snapshot!(help(&["serve"]));
}

#[test]
fn of_the_leagues_of_a_service() {
    insta::assert_snapshot!(help(&["league"]));
}

#[test]
fn of_the_seasons_of_a_service() {
    insta::assert_snapshot!(help(&["season"]));
}

#[test]
fn of_the_simulation() {
    insta::assert_snapshot!(help(&["simulate"]));
}

#[test]
fn of_the_seat() {
    insta::assert_snapshot!(help(&["seat"]));
}

#[test]
fn of_the_experiment() {
    insta::assert_snapshot!(help(&["experiment"]));
}

#[test]
fn of_the_program_fits_on_a_screen_however_it_is_asked_for() {
    let cli = Cli::new(crate::MATCHDAY);
    for args in [&["--help"][..], &["-h"], &[]] {
        let mut command = cli.command(args);
        command.env("COLUMNS", "80");
        let done = output(command);
        let page = done.out + &done.err;
        assert!(page.lines().count() <= 24, "{args:?}: {page}");
        assert!(
            page.lines().all(|line| line.chars().count() <= 80),
            "{args:?}: {page}"
        );
        let first = page.split_once("Examples:\n").unwrap().1.trim_start();
        assert!(first.starts_with("matchday run"), "{page}");
    }
}

#[test]
fn of_a_topic_is_its_page_and_of_a_command_its_options() {
    let cli = Cli::new(crate::MATCHDAY);
    let page = cli.run(&["help", "glossary"]);
    assert_eq!(page.code, 0, "{page:?}");
    assert!(page.out.starts_with("Glossary\n\n"), "{}", page.out);
    assert!(
        page.out
            .contains("\n  technical loss\n      A match lost without play"),
        "{}",
        page.out
    );
    assert!(!page.out.contains("| ---"), "{}", page.out);
    assert_eq!(
        cli.run(&["help", "run"]).out,
        cli.run(&["run", "--help"]).out
    );
    // A command and a page have this name.
    assert!(
        cli.run(&["help", "games"])
            .out
            .contains("Usage: matchday games")
    );
    assert!(cli.run(&["help", "games.md"]).out.starts_with("Games\n"));

    let topics = cli.run(&["help"]).out;
    assert!(
        topics.contains("glossary") && topics.contains("games.md"),
        "{topics}"
    );
    assert!(topics.lines().all(|line| line.len() <= 80), "{topics}");
    assert_eq!(
        cli.run(&["help", "glosary"]).failed(2),
        "there is no command or topic \"glosary\" - did you mean \"glossary\"?"
    );
}

#[test]
fn of_the_program_with_a_line_for_each_command() {
    let cli = Cli::new(crate::MATCHDAY);
    insta::assert_snapshot!(output(cli.command(&["--help-all"])).out);
}

#[test]
fn of_a_command_shows_flags_of_every_day_and_all_of_them_on_demand() {
    let all = output(Cli::new(crate::MATCHDAY).command(&["league", "--help-all"])).out;
    let everyday = help(&["league"]);
    assert!(
        all.contains("--tls-ca") && !everyday.contains("--tls-ca"),
        "{everyday}"
    );
    assert!(everyday.contains("--help-all lists all"), "{everyday}");
}

#[test]
fn every_command_shows_an_example() {
    for command in [
        "run",
        "manager",
        "referee",
        "player",
        "seat",
        "start",
        "status",
        "standings",
        "schedule",
        "watch",
        "stats",
        "admin",
        "new",
        "games",
        "check",
        "practice",
        "config",
        "schema",
        "simulate",
        "experiment",
        "verify",
        "replay",
        "report",
        "export",
    ] {
        assert!(help(&[command]).contains("Example:"), "{command}");
    }
}
