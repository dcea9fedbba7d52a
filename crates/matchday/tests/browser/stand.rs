//! The league as something to watch: live boards, the end as a show, wall mode, charts, why a match was lost.

use crate::league::League;
use crate::script::{Script, can_be_run, plays, shows};
use matchday_testkit::cli::Cli;
use matchday_testkit::mcp_client::call;
use serde_json::{Value, json};

#[test]
fn the_end_is_a_show_and_a_stopped_league_is_not_to_be_started_again() {
    if !can_be_run() {
        return;
    }
    let mut league = League::played(&["Ada", "Basho", "Clio", "Dag"]);
    let mut script = Script::start("podium", &league.cli.manager, &[]);
    script.until("ready");
    league.kill_manager();
    script.succeeds();
}

#[test]
fn all_who_share_the_title_are_shown() {
    shows(
        "champions",
        || League::of_strategies("tic_tac_toe", &[], &["perfect"; 4]),
        &[],
    );
}

#[test]
fn boards_and_names_are_whole_on_a_phone() {
    shows(
        "phone",
        || League::played(&["Ada", "Basho", "Clio", "Dorothy"]),
        &[],
    );
}

#[test]
fn wall_mode_fits_every_player_on_the_screen() {
    // One of them has a long name.
    let mut names: Vec<String> = (1..=20).map(|number| format!("Player {number}")).collect();
    names[7] = "The Department of Theoretical Ludology".to_owned();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    shows("wall", || League::played(&names), &[]);
}

#[test]
fn the_wall_goes_round() {
    shows(
        "wall_scenes",
        || League::played(&["Ada", "Basho", "Clio", "Dag"]),
        &[],
    );
}

#[test]
fn one_board_is_large_and_the_viewer_picks_which() {
    shows(
        "stage",
        || League::of_strategies("connect_four", &[], &["random"; 4]),
        &[],
    );
}

/// Where every player is the program's own, nobody profits from what a solver says.
#[test]
fn a_run_shows_who_can_force_a_win_while_it_is_played() {
    if !can_be_run() {
        return;
    }
    let cli = Cli::new(crate::MATCHDAY);
    let run = [
        "run",
        "tic_tac_toe",
        "--players",
        "2",
        "--strategies",
        "perfect",
        "--pace",
        "2",
        "--port-base",
        "0",
    ];
    let run = cli.start(&[&run[..], &["--store", "run.db"]].concat());
    run.until("see it at http://");
    let said = format!("{}{}", run.out(), run.err());
    let address = said.split("see it at ").nth(1).unwrap();
    let address = address.split_whitespace().next().unwrap();
    plays("outlook", address, &[]);
}

#[test]
fn a_player_is_told_by_which_move_it_lost() {
    shows(
        "why_lost",
        || {
            League::of_strategies(
                "tic_tac_toe",
                &["--format", "double_round_robin"],
                &["perfect", "random"],
            )
        },
        &[],
    );
}

#[test]
fn players_are_searched_sorted_followed_and_saved() {
    shows(
        "find",
        || League::played(&["=1+1", "Basho", "Clio", "Dag"]),
        &[],
    );
}

#[test]
fn the_first_view_is_light() {
    shows(
        "weight",
        || League::played(&["Ada", "Basho", "Clio", "Dag"]),
        &[],
    );
}

#[test]
fn a_knockout_is_drawn_as_a_bracket() {
    shows(
        "bracket",
        || League::of_strategies("nim", &["--format", "knockout"], &["optimal"; 4]),
        &[],
    );
}

#[test]
fn rows_glide_unless_the_reader_wants_no_motion() {
    shows("motion", || League::played(&["Ada", "Basho"]), &[]);
}

#[test]
fn pages_show_no_defect_that_was_seen_once() {
    shows(
        "page_defects",
        || League::of_strategies("connect_four", &[], &["random", "random", "random"]),
        &[],
    );
}

#[test]
fn a_technical_loss_has_the_colour_of_its_legend() {
    shows("technical_colour", League::with_a_technical_loss, &[]);
}

/// Waits for a turn at a seat; `None` when the league is over.
async fn turn(to: std::net::SocketAddr, seat: &Value) -> Option<Value> {
    loop {
        let told =
            call(to, "wait_for_turn", json!({ "seat": seat })).await["structuredContent"].clone();
        match told["happened"].as_str().unwrap() {
            "your_turn" => return Some(told["turn"].clone()),
            "league_over" => return None,
            _ => {}
        }
    }
}

#[test]
fn a_board_is_shown_move_by_move_while_it_is_played() {
    if !can_be_run() {
        return;
    }
    let league = League::with_seats_of("tic_tac_toe", &["Ada"]);
    let to = league
        .cli
        .manager
        .trim_start_matches("http://")
        .trim_end_matches("/mcp")
        .parse()
        .unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let joined = call(to, "join_league", json!({ "name": "Ann" })).await;
        let seat = joined["structuredContent"]["seat"].clone();
        league.start();
        // The league waits for the seat, so that the board stands still until it moves.
        let first = turn(to, &seat).await.unwrap();
        let mut script = Script::start("live_board", &league.cli.manager, &[]);
        script.until("moving");
        let choice = &first["options"][0];
        call(
            to,
            "make_move",
            json!({ "seat": seat, "turn": first["turn"], "choice": choice }),
        )
        .await;
        script.until("moved");
        script.succeeds();
    });
}

#[test]
fn a_swiss_league_shows_its_tie_breaks() {
    let settings = [
        "--format",
        "swiss",
        "--tie-breaks",
        "buchholz,sonneborn_berger",
    ];
    shows(
        "swiss",
        || League::of_strategies("nim", &settings, &["random"; 4]),
        &[],
    );
}

#[test]
fn folded_sections_of_a_report_are_printed() {
    shows("print", || League::played(&["Ada", "Basho"]), &[]);
}
