//! `deploy/backup`, as its timer runs it, and `deploy/restore`: a league whose store is lost goes on from its copy.

use crate::page::tool;
use matchday_testkit::cli::Cli;
use matchday_testkit::tamper::{spoil_page_with, tamper};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn script(name: &str) -> Command {
    let mut command = Command::new(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../deploy")
            .join(name),
    );
    command.env("MATCHDAY", crate::MATCHDAY);
    command
}

fn copies(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut copies: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == "db"))
        .collect();
    copies.sort();
    copies
}

#[test]
fn a_league_whose_store_is_lost_goes_on_from_its_scheduled_copy() {
    let cli = Cli::new(crate::MATCHDAY);
    let stores = cli.path().join("stores");
    let backups = cli.path().join("backups");
    fs::create_dir(&stores).unwrap();
    let store = stores.join("league.db");
    // Rounds are announced long before they begin: the copy is made in the middle of the league.
    let settings = ["--store", store.to_str().unwrap(), "--lead", "1"];
    let manager = cli.manager(&settings);
    let _agents = cli.agents(1, 4);
    assert_eq!(cli.ask(&["start"]).code, 0);
    cli.until_status("running");
    let (copied, said) = tool(script("backup").arg(&stores).arg(&backups), "");
    assert!(copied, "{said}");
    let copy = copies(&backups).pop().unwrap();
    assert!(
        backups
            .join(format!(
                "{}.checkpoint-keys",
                copy.file_name().unwrap().to_str().unwrap()
            ))
            .exists()
    );
    let (restored, said) = tool(script("restore").arg(&copy).arg(&store), "");
    assert!(
        !restored && said.contains("is in use: stop its agent first"),
        "{said}"
    );

    drop(manager);
    for file in ["league.db", "league.db-wal", "league.db-shm"] {
        let _ = fs::write(stores.join(file), "lost");
    }
    let (restored, said) = tool(script("restore").arg(&copy).arg(&store), "");
    assert!(restored, "{said}");
    assert!(fs::read_dir(&stores).unwrap().any(|entry| {
        entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains(".lost-")
    }));
    let _manager = cli.manager(&settings);
    cli.until_status("completed");
    let verified = cli.run(&["verify", store.to_str().unwrap()]);
    assert!(
        verified.code == 0 && verified.out.contains("Verified: no contradictions."),
        "{verified:?}"
    );
}

#[test]
fn a_store_that_is_damaged_costs_no_good_copy_and_its_own_is_not_restored() {
    let cli = Cli::new(crate::MATCHDAY);
    let stores = cli.path().join("stores");
    let backups = cli.path().join("backups");
    fs::create_dir(&stores).unwrap();
    let store = stores.join("league.db");
    let path = store.to_str().unwrap();
    let played = cli.run(&["run", "--quiet", "--port-base", "0", "--store", path]);
    assert_eq!(played.code, 0, "{played:?}");
    let back_up = || tool(script("backup").arg(&stores).arg(&backups).arg("1"), "");
    assert!(back_up().0);
    let good = copies(&backups);
    let of_damaged = cli.path().join("of-damaged.db");
    spoil_page_with(&store, "GAME_INVITATION");
    fs::copy(&store, &of_damaged).unwrap();
    let (copied, said) = back_up();
    assert!(!copied && said.contains("is damaged ("), "{said}");
    let verified = cli.run(&["verify", path]);
    assert!(verified.failed(1).contains("is damaged ("), "{verified:?}");
    let (restored, said) = tool(script("restore").arg(&of_damaged).arg(&store), "");
    assert!(
        !restored && said.contains("does not verify: take an earlier one"),
        "{said}"
    );
    // One whose content is wrong is copied, beside the good ones.
    fs::copy(&good[0], &store).unwrap();
    tamper(
        &store,
        "UPDATE events SET hash = zeroblob(32) WHERE seq = 3",
    );
    assert!(!back_up().0);
    assert!(backups.join("league.unverified").exists());
    assert_eq!(copies(&backups), good);
}

#[test]
fn only_the_newest_copies_are_kept_and_one_that_does_not_verify_is_not_restored() {
    let cli = Cli::new(crate::MATCHDAY);
    let stores = cli.path().join("stores");
    let backups = cli.path().join("backups");
    fs::create_dir(&stores).unwrap();
    fs::create_dir(&backups).unwrap();
    let store = stores.join("league.db");
    let played = cli.run(&[
        "run",
        "--quiet",
        "--port-base",
        "0",
        "--store",
        store.to_str().unwrap(),
    ]);
    assert_eq!(played.code, 0, "{played:?}");
    for older in ["20260301T000000Z", "20260302T000000Z", "20260303T000000Z"] {
        fs::write(backups.join(format!("league-{older}.db")), "an older copy").unwrap();
    }
    fs::write(
        backups.join("other-20260301T000000Z.db"),
        "of another store",
    )
    .unwrap();
    let (copied, said) = tool(script("backup").arg(&stores).arg(&backups).arg("2"), "");
    assert!(copied, "{said}");
    let names: Vec<String> = copies(&backups)
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(
        (names[0].as_str(), names[2].as_str()),
        ("league-20260303T000000Z.db", "other-20260301T000000Z.db")
    );
    let (restored, said) = tool(
        script("restore").arg(backups.join(&names[0])).arg(&store),
        "",
    );
    assert!(
        !restored && said.contains("does not verify: take an earlier one"),
        "{said}"
    );
    assert_eq!(
        cli.run(&["verify", store.to_str().unwrap()]).code,
        0,
        "the store is as it was"
    );
}
