//! `docs/games.md` is what `matchday games` tells. To write it anew: `UPDATE_DOCS=1 cargo test -p matchday --test docs games`

use crate::{MATCHDAY, read, root};
use matchday_testkit::cli::Cli;

const HEAD: &str = "# Games\n\nThe games that are built in, as `matchday games NAME` tells them: rules, moves, and strategies. A game of your own, in any language, is\n\
                    described in [adding a game](adding-a-game.md). This page is generated.\n";

fn generated() -> String {
    let cli = Cli::new(MATCHDAY);
    let listed = cli.run(&["games", "--json"]).json();
    let mut page = HEAD.to_owned();
    for game in listed["games"].as_array().unwrap() {
        let told = cli.run(&["games", game["game_type"].as_str().unwrap()]);
        assert_eq!(told.code, 0, "{told:?}");
        let (rules, strategies) = told.out.split_once("Built-in strategies:\n").unwrap();
        page.push_str(&format!(
            "\n#{rules}Built-in strategies:\n```text\n{}\n```\n",
            strategies.trim_end()
        ));
    }
    page
}

#[test]
fn the_page_of_games_is_what_the_program_tells() {
    let page = generated();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join("docs/games.md"), page).unwrap();
        return;
    }
    assert_eq!(
        read("docs/games.md"),
        page,
        "UPDATE_DOCS=1 cargo test -p matchday --test docs games"
    );
}
