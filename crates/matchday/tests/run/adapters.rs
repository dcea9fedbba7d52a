//! The adapters in `examples/adapters`: a league each of games of OpenSpiel, PettingZoo and TextArena.

use crate::program::Program;
use matchday_testkit::tools;
use std::path::Path;

/// The command of an adapter, run by the Python that has the libraries.
fn adapter(words: &str) -> Option<String> {
    let folder =
        tools::require_installed("adapters", "crates/matchday/tests/run/adapters/install")?;
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/adapters")
        .canonicalize()
        .unwrap();
    Some(format!(
        "{} {}/{words}",
        folder.join("python/bin/python").display(),
        adapters.display()
    ))
}

/// Two players, one match, played to its end by the rules of the library.
fn plays_a_league(words: &str) {
    let Some(command) = adapter(words) else {
        return;
    };
    let program = Program::new();
    let ran = program
        .league(&[
            "--json",
            "--players",
            "2",
            "--referees",
            "1",
            "--game-command",
            &command,
        ])
        .json();
    assert_eq!(
        (&ran["matches_decided"], &ran["technical_losses"]),
        (&1.into(), &0.into()),
        "{ran}"
    );
    assert!(ran.get("unplayed").is_none(), "{ran}");
}

macro_rules! leagues {
    ($($name:ident: $words:literal;)*) => {$(
        #[test]
        fn $name() {
            plays_a_league($words);
        }
    )*};
}

leagues! {
    openspiel_breakthrough: "openspiel.py breakthrough(rows=6,columns=4)";
    openspiel_chess: "openspiel.py chess";
    openspiel_go: "openspiel.py go(board_size=5)";
    openspiel_hex: "openspiel.py hex(board_size=4)";
    openspiel_othello: "openspiel.py othello";
    openspiel_chance_and_hidden_cards: "openspiel.py kuhn_poker";
    openspiel_simultaneous_moves: "openspiel.py goofspiel(num_cards=4)";
    petting_zoo_connect_four: "petting_zoo.py connect_four";
    petting_zoo_tic_tac_toe: "petting_zoo.py tictactoe";
    petting_zoo_leduc_holdem: "petting_zoo.py leduc_holdem";
    petting_zoo_go: "petting_zoo.py go board_size=5";
    petting_zoo_rock_paper_scissors: "petting_zoo.py rps";
    text_arena_tic_tac_toe: "text_arena.py TicTacToe-v0";
    text_arena_nim: "text_arena.py Nim-v0";
    text_arena_kuhn_poker: "text_arena.py KuhnPoker-v0";
    text_arena_othello: "text_arena.py Othello-v0-tiny";
}

#[test]
fn a_game_that_cannot_be_played_is_refused_in_one_line() {
    for (words, says) in [
        (
            "openspiel.py bridge",
            "bridge has 4 players: Matchday plays games of two",
        ),
        (
            "openspiel.py negotiation",
            "negotiation draws its own random numbers",
        ),
        (
            "openspiel.py no_such_game",
            "OpenSpiel has no game no_such_game",
        ),
        (
            "petting_zoo.py no_such_game",
            "PettingZoo's classic set has no no_such_game; it has: chess, connect_four",
        ),
        (
            "text_arena.py SecretMafia-v0",
            "SecretMafia-v0 cannot be played by two",
        ),
    ] {
        let Some(command) = adapter(words) else {
            return;
        };
        let ran = Program::new().run(&["run", "--port-base", "0", "--game-command", &command]);
        assert_eq!(ran.code, 1, "{words}: {}", ran.err);
        assert!(
            ran.err.contains(says) && ran.err.trim().lines().count() == 1,
            "{words}: {}",
            ran.err
        );
    }
}
