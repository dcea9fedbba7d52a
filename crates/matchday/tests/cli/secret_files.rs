//! Secrets can be given in files, which others on the machine need not be able to read.

use matchday_testkit::cli::{Cli, Process, TOKEN, free_address, output};
use std::fs;

#[test]
fn a_manager_and_its_operator_take_the_token_from_a_file() {
    let cli = Cli::new(crate::MATCHDAY);
    let file = cli.path().join("operator-token");
    fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let listen = free_address();
    let manager = Process::start(cli.command(&[
        "manager",
        "--listen",
        &listen,
        "--operator-token-file",
        "operator-token",
    ]));
    manager.until("listening on");
    assert!(
        !manager.err().contains("operator token, shown only once"),
        "it has one"
    );
    let manager = format!("http://{listen}/mcp");
    let roster = cli.run(&[
        "roster",
        "--manager",
        &manager,
        "--operator-token-file",
        "operator-token",
    ]);
    assert_eq!(roster.code, 0, "{roster:?}");
    let mut command = cli.command(&["roster", "--manager", &manager]);
    command.env("MATCHDAY_OPERATOR_TOKEN_FILE", &file);
    let roster = output(command);
    assert_eq!(roster.code, 0, "{roster:?}");
}

#[test]
fn a_file_that_is_missing_and_a_secret_that_is_given_twice_are_refused() {
    let cli = Cli::new(crate::MATCHDAY);
    let listen = free_address();
    let missing = cli.run(&[
        "manager",
        "--listen",
        &listen,
        "--operator-token-file",
        "nowhere",
    ]);
    assert!(
        missing
            .failed(2)
            .starts_with("--operator-token-file: nowhere cannot be read"),
        "{missing:?}"
    );
    let mut command = cli.command(&["manager", "--listen", &listen]);
    command
        .env("MATCHDAY_OPERATOR_TOKEN_FILE", "nowhere")
        .env("MATCHDAY_OPERATOR_TOKEN", TOKEN);
    let twice = output(command);
    assert!(
        twice
            .failed(2)
            .contains("MATCHDAY_OPERATOR_TOKEN is set too: keep one of them"),
        "{twice:?}"
    );
    let mut command = cli.command(&["manager", "--listen", &listen]);
    command.env("MATCHDAY_OPERATOR_TOKEN_FIEL", "nowhere");
    let misspelt = output(command);
    assert!(
        misspelt
            .failed(2)
            .contains("did you mean MATCHDAY_OPERATOR_TOKEN_FILE?"),
        "{misspelt:?}"
    );
}
