//! `matchday new`: a starter agent, or a refusal that leaves everything as it was.

use matchday_testkit::cli::Cli;
use std::fs;

#[test]
fn a_starter_is_written_and_told_how_to_go_on() {
    let cli = Cli::new(crate::MATCHDAY);
    let done = cli.run(&[
        "new",
        "player",
        "--lang",
        "python",
        "agents/ada",
        "--name",
        "Ada",
    ]);
    assert_eq!(done.code, 0, "{done:?}");
    insta::assert_snapshot!(done.out);
    let agent = fs::read_to_string(cli.path().join("agents/ada/agent.py")).unwrap();
    assert!(agent.contains("\nNAME = \"Ada\"\n"), "{agent}");
}

#[test]
fn an_empty_folder_is_as_good_as_none() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::create_dir(cli.path().join("ada")).unwrap();
    let done = cli.run(&["new", "player", "--lang", "rust", "ada", "--name", "Ada"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(cli.path().join("ada/src/main.rs").exists());
}

#[test]
fn a_folder_with_something_in_it_is_left_as_it_is() {
    let cli = Cli::new(crate::MATCHDAY);
    let folder = cli.path().join("ada");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("strategy.py"), "mine").unwrap();
    let done = cli.run(&["new", "player", "--lang", "python", "ada", "--name", "Ada"]);
    let line = done.failed(2);
    assert!(line.contains("cannot use ada: it is not empty"), "{line}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(
        fs::read_to_string(folder.join("strategy.py")).unwrap(),
        "mine"
    );
}

#[test]
fn a_file_is_no_folder() {
    let cli = Cli::new(crate::MATCHDAY);
    fs::write(cli.path().join("ada"), "mine").unwrap();
    let done = cli.run(&["new", "player", "--lang", "go", "ada", "--name", "Ada"]);
    let line = done.failed(2);
    assert!(line.contains("cannot use ada: it is a file"), "{line}");
}

#[test]
fn a_name_that_no_league_would_take_is_refused_before_anything_is_written() {
    let cli = Cli::new(crate::MATCHDAY);
    for name in ["", &"a".repeat(51)] {
        let done = cli.run(&["new", "player", "--lang", "python", "ada", "--name", name]);
        let line = done.failed(2);
        assert!(
            line.contains("--name: expected a name of 1 to 50 characters"),
            "{line}"
        );
        assert!(!cli.path().join("ada").exists());
    }
}
