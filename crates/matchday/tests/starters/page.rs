//! What docs/writing-an-agent.md and docs/programs.md show, put together as their readers would.

use crate::MATCHDAY;
use matchday_testkit::cli::{Cli, Process, command, free_address};
use matchday_testkit::tools;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const PAGE: &str = include_str!("../../../../docs/writing-an-agent.md");
const PROGRAMS: &str = include_str!("../../../../docs/programs.md");

/// All blocks of code of a page that begin with this fence, one after the other.
fn blocks(page: &'static str, fence: &str) -> Vec<&'static str> {
    let opening = format!("\n```{fence}\n");
    let blocks = page.split(&opening).skip(1);
    blocks
        .map(|block| block.split("\n```").next().unwrap())
        .collect()
}

#[test]
fn the_player_of_the_page_passes_the_check() {
    if !tools::require("python3") {
        return;
    }
    let cli = Cli::new(MATCHDAY);
    let parts = blocks(PAGE, "python player.py");
    assert!(parts.len() > 4, "the page has the parts of a player");
    for game in ["even_odd", "tic_tac_toe"] {
        let source = parts
            .join("\n\n\n")
            .replace("\"even_odd\"\n", &format!("\"{game}\"\n"));
        fs::write(cli.path().join("player.py"), source).unwrap();
        let manager = free_address();
        let own = free_address();
        let mut player = command("python3");
        player.current_dir(cli.path());
        player.args([
            "player.py",
            own.rsplit(':').next().unwrap(),
            &format!("http://{manager}/mcp"),
        ]);
        let player = Process::start(player);
        let done = cli.run(&[
            "check",
            "player",
            "--wait",
            "--listen",
            &manager,
            "--game",
            game,
            "--conformance",
            "strict",
        ]);
        assert_eq!(done.code, 0, "{game}: {}\n{}", done.out, player.err());
        let failed = done
            .out
            .lines()
            .any(|line| line.trim_start().starts_with("FAIL "));
        assert!(!failed, "{}", done.out);
    }
}

#[test]
fn the_six_lines_of_the_page_play_without_falling_back() {
    if !tools::require("python3") {
        return;
    }
    let cli = Cli::new(MATCHDAY);
    let program = cli.path().join("six_lines.py");
    fs::write(&program, blocks(PROGRAMS, "python")[0]).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let league = [
        "run",
        "--port-base",
        "0",
        "--players",
        "2",
        "--game",
        "connect_four",
        "--store",
        "six.db",
    ];
    let strategies = ["--strategies", "command:./six_lines.py,random", "--json"];
    let ran = cli.run(&[&league[..], &strategies].concat());
    assert_eq!(
        (ran.code, &ran.json()["technical_losses"]),
        (0, &0.into()),
        "{ran:?}"
    );
    let told = cli.run(&["replay", "six.db", "--match", "R1M1"]).out;
    assert!(
        told.contains("chooses") && !told.contains("by its fallback"),
        "{told}"
    );
}
