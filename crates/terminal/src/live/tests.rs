//! Snapshots of the live view at several terminal sizes.

use super::*;
use matchday_audit::league_view::PlayerName;
use matchday_core::game::view::{Grid, Marks};
use matchday_core::protocol::messages::query_data::{MatchProgress, ScheduledResult};
use matchday_core::protocol::messages::{ByPlayer, GameStatus};
use matchday_core::protocol::{GameType, RoundId};

fn progress(decided: u32, matches: usize) -> Progress {
    let (rounds, each) = if matches == 6 { (3, 2) } else { (99, 49) };
    let phase = if decided as usize == matches {
        Phase::Completed
    } else {
        Phase::Running
    };
    Progress {
        round: (decided / each + 1).min(rounds),
        rounds: Some(rounds),
        decided,
        matches,
        phase,
    }
}

fn league(players: u32, decided: u32) -> LiveLeague {
    let row = |rank: u32| Standing {
        rank,
        who: PlayerName {
            id: format!("P{rank:02}"),
            name: ["Ada", "Blaise", "Carl", "Dorothy"]
                .get(rank as usize - 1)
                .map_or_else(|| format!("Player {rank}"), ToString::to_string),
            ..PlayerName::default()
        },
        played: decided / 2,
        wins: decided / 4,
        draws: decided / 8,
        losses: decided / 2 - decided / 4 - decided / 8,
        points: (decided / 4) * 3 + decided / 8,
        ..Standing::default()
    };
    let matches = (players * (players - 1) / 2) as usize;
    let Progress {
        round,
        rounds,
        phase,
        ..
    } = progress(decided, matches);
    let round_now = current_round(round, players, decided);
    let is_decided = |game: &&ScheduledMatch| game.result.is_some();
    LiveLeague {
        recent: round_now
            .matches
            .iter()
            .filter(is_decided)
            .cloned()
            .collect(),
        status: LeagueStatus {
            league_id: "league".to_owned(),
            status: phase,
            current_round: round,
            total_rounds: rounds.unwrap_or(0),
            ladder: false,
            round_title: None,
            matches_completed: decided,
        },
        matches,
        standings: (1..=players).map(row).collect(),
        round: Some(round_now),
        board: (decided > 0).then(board),
    }
}

/// A round of which the first matches are decided.
fn current_round(round: u32, players: u32, decided: u32) -> ScheduledRound {
    let game = |number: u32| {
        let a = PlayerId::numbered(2 * number - 1);
        let b = PlayerId::numbered(2 * number);
        let score = ByPlayer::pair((a.clone(), 3), (b.clone(), 0));
        let reason = "it was better".into();
        let result = ScheduledResult {
            status: GameStatus::Win,
            winner: Some(a.clone()),
            score,
            reason,
        };
        ScheduledMatch {
            match_id: MatchId::numbered(RoundId(round), number),
            game_type: GameType::new("tic_tac_toe"),
            player_a_id: a,
            player_b_id: b,
            referee_id: None,
            referee_endpoint: None,
            state: if number <= decided {
                MatchProgress::Decided
            } else {
                MatchProgress::Playing
            },
            result: (number <= decided).then_some(result),
        }
    };
    let matches = (1..=players / 2).map(game).collect();
    ScheduledRound {
        round_id: RoundId(round),
        title: None,
        matches,
        bye: None,
        byes: Vec::new(),
    }
}

fn board() -> Board {
    let marks = Marks {
        a: vec!["X".into()],
        b: vec!["O".into()],
    };
    let cells = ["X", "O", "", "", "X", "O", "", "", "X"]
        .map(Into::into)
        .to_vec();
    let position = Position::Grid(Grid {
        columns: 3,
        cells,
        marks,
        line: vec![0, 4, 8],
        ..Grid::default()
    });
    let players = [PlayerId::numbered(1), PlayerId::numbered(2)];
    Board {
        match_id: MatchId::new("R1M1"),
        players,
        position,
        outlook: None,
    }
}

/// The frame in a box, to show its edges and height.
fn boxed(seen: &LiveLeague, size: Size) -> String {
    let lines = frame(seen, PACE, size, Paint::Plain);
    assert!(
        lines.len() < size.rows,
        "room for the cursor: {} of {}",
        lines.len(),
        size.rows
    );
    assert!(
        lines.iter().all(|line| width(line) <= size.columns),
        "{lines:#?}"
    );
    let edge = format!("+{}+\n", "-".repeat(size.columns));
    let blank = String::new();
    let rows = lines
        .iter()
        .chain(std::iter::repeat(&blank))
        .take(size.rows);
    let rows: String = rows
        .map(|line| format!("|{line:columns$}|\n", columns = size.columns))
        .collect();
    format!("{edge}{rows}{edge}")
}

const PACE: (Duration, u32) = (Duration::from_secs(4), 0);
const SIZES: [(usize, usize); 3] = [(80, 24), (40, 15), (200, 60)];

#[test]
fn a_league_of_four_at_every_size() {
    for (columns, rows) in SIZES {
        let size = Size { columns, rows };
        for (stage, decided) in [("start", 0), ("middle", 4), ("end", 6)] {
            let frame = boxed(&league(4, decided), size);
            insta::assert_snapshot!(format!("four_{columns}x{rows}_{stage}"), frame);
        }
    }
}

#[test]
fn a_league_of_99_at_every_size() {
    for (columns, rows) in SIZES {
        let frame = boxed(&league(99, 1700), Size { columns, rows });
        insta::assert_snapshot!(format!("ninety_nine_{columns}x{rows}"), frame);
    }
}

#[test]
fn a_paused_league_says_so_instead_of_the_time_left() {
    let mut paused = league(4, 4);
    paused.status.status = Phase::Paused;
    insta::assert_snapshot!(boxed(
        &paused,
        Size {
            columns: 80,
            rows: 24
        }
    ));
}

#[test]
fn a_league_in_registration_counts_its_players() {
    let mut seen = league(4, 0);
    seen.status.status = Phase::Registration;
    seen.round = None;
    let lines = frame(
        &seen,
        PACE,
        Size {
            columns: 80,
            rows: 24,
        },
        Paint::Plain,
    );
    assert_eq!(
        lines[0],
        "league  4 players have registered: `matchday start` begins it"
    );
}

#[test]
fn a_frame_fits_into_any_terminal() {
    let seen = league(99, 1700);
    for columns in 1..130 {
        for rows in 4..40 {
            let lines = frame(&seen, PACE, Size { columns, rows }, Paint::Plain);
            assert!(lines.len() < rows, "{columns}x{rows}: {}", lines.len());
        }
    }
}

#[test]
fn time_left_goes_by_the_pace_since_the_view_began() {
    let four_seconds = |decided| (Duration::from_secs(4), decided);
    assert_eq!(time_left(&progress(0, 6), four_seconds(0)), None);
    assert_eq!(
        time_left(&progress(2, 6), four_seconds(0)),
        Some(Duration::from_secs(8))
    );
    assert_eq!(
        time_left(&progress(4, 6), four_seconds(2)),
        Some(Duration::from_secs(4))
    );
    assert_eq!(
        time_left(&progress(6, 6), four_seconds(0)),
        Some(Duration::ZERO)
    );
}

#[test]
fn durations_are_said_in_their_unit() {
    assert_eq!(seconds(Duration::from_millis(440)), "0.4 s");
    assert_eq!(seconds(Duration::from_secs(130)), "2 min 10 s");
}

#[test]
fn a_round_that_has_a_name_is_called_by_it_where_there_is_room() {
    let final_of_four =
        |columns| headline(&progress(4, 6), Some("Final"), Some(PACE), Some(columns));
    assert!(
        final_of_four(80).contains("round 3 of 3 (Final), "),
        "{}",
        final_of_four(80)
    );
    assert!(
        !final_of_four(40).contains("Final"),
        "{}",
        final_of_four(40)
    );
}

#[test]
fn a_ladder_has_no_last_round() {
    let ladder = Progress {
        rounds: None,
        ..progress(4, 6)
    };
    assert_eq!(
        headline(&ladder, Some("Pairing 3"), Some(PACE), Some(80)),
        "4 matches, round 3"
    );
}

#[test]
fn a_board_says_who_can_force_a_win() {
    let mut seen = league(4, 2);
    let board = seen.board.as_mut().unwrap();
    board.outlook = Some(Outlook::B);
    let lines = board_lines(&seen, seen.board.as_ref().unwrap(), Paint::Plain);
    assert_eq!(
        lines[0],
        "R1M1: Ada (A) against Blaise (B), B can force a win"
    );
}
