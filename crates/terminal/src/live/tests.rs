//! Snapshots of the live view at several terminal sizes.

use super::*;
use matchday_core::protocol::messages::StandingRow;
use matchday_core::protocol::{DisplayName, PlayerId};

fn progress(decided: u32, matches: usize) -> Progress {
    let (rounds, each) = if matches == 6 { (3, 2) } else { (99, 49) };
    let round = (decided / each + 1).min(rounds);
    Progress {
        round,
        rounds: rounds as usize,
        rounds_completed: round.saturating_sub(1) as usize,
        decided,
        matches,
        paused: false,
        completed: decided as usize == matches,
    }
}

fn state(players: u32, decided: u32) -> LiveState {
    let row = |place: u32| StandingRow {
        rank: place,
        player_id: PlayerId::new(format!("P{place:02}")),
        display_name: DisplayName::parse(&format!("Player {place}")).unwrap(),
        played: decided / 2,
        wins: decided / 4,
        draws: decided / 8,
        losses: decided / 2 - decided / 4 - decided / 8,
        points: (decided / 4) * 3 + decided / 8,
        technical_losses: Some(0),
        rating: None,
        rating_deviation: None,
        rank_reason: None,
    };
    let latest = (0..decided.min(6)).map(|n| format!("R1M{} P01 beat P{:02}", decided - n, n + 2));
    let top = (1..=players).map(row).collect();
    LiveState { top, players: players as usize, latest: latest.collect(), title: None }
}

/// The frame in a box, to show its edges and height.
fn boxed(progress: &Progress, state: &LiveState, size: Size) -> String {
    let lines = frame(progress, state, Duration::from_secs(4), size, (&RankChanges::default(), Paint::Plain));
    assert!(lines.len() < size.rows, "room for the cursor: {} of {}", lines.len(), size.rows);
    assert!(lines.iter().all(|line| width(line) <= size.columns), "{lines:#?}");
    let edge = format!("+{}+\n", "-".repeat(size.columns));
    let blank = String::new();
    let rows = lines.iter().chain(std::iter::repeat(&blank)).take(size.rows);
    let rows: String = rows.map(|line| format!("|{line:columns$}|\n", columns = size.columns)).collect();
    format!("{edge}{rows}{edge}")
}

const SIZES: [(usize, usize); 3] = [(80, 24), (40, 15), (200, 60)];

#[test]
fn a_league_of_four_at_every_size() {
    for (columns, rows) in SIZES {
        let size = Size { columns, rows };
        for (stage, decided) in [("start", 0), ("middle", 4), ("end", 6)] {
            let frame = boxed(&progress(decided, 6), &state(4, decided), size);
            insta::assert_snapshot!(format!("four_{columns}x{rows}_{stage}"), frame);
        }
    }
}

#[test]
fn a_league_of_99_at_every_size() {
    for (columns, rows) in SIZES {
        let frame = boxed(&progress(1700, 4851), &state(99, 1700), Size { columns, rows });
        insta::assert_snapshot!(format!("ninety_nine_{columns}x{rows}"), frame);
    }
}

#[test]
fn a_paused_league_says_so_instead_of_the_time_left() {
    let paused = Progress { paused: true, ..progress(4, 6) };
    let size = Size { columns: 80, rows: 24 };
    insta::assert_snapshot!(boxed(&paused, &state(4, 4), size));
}

#[test]
fn a_frame_fits_into_any_terminal() {
    for columns in 1..130 {
        for rows in 2..40 {
            let (progress, state) = (progress(1700, 4851), state(99, 1700));
            let lines = frame(
                &progress,
                &state,
                Duration::from_secs(400),
                Size { columns, rows },
                (&RankChanges::default(), Paint::Plain),
            );
            assert!(lines.len() < rows, "{columns}x{rows}: {}", lines.len());
        }
    }
}

#[test]
fn time_left_goes_by_the_pace_so_far() {
    assert_eq!(time_left(&progress(0, 6), Duration::from_secs(4)), None);
    assert_eq!(time_left(&progress(2, 6), Duration::from_secs(4)), Some(Duration::from_secs(8)));
    assert_eq!(time_left(&progress(6, 6), Duration::from_secs(4)), Some(Duration::ZERO));
}

#[test]
fn durations_are_said_in_their_unit() {
    assert_eq!(seconds(Duration::from_millis(440)), "0.4 s");
    assert_eq!(seconds(Duration::from_secs(130)), "2 min 10 s");
}

#[test]
fn a_round_that_has_a_name_is_called_by_it_where_there_is_room() {
    let final_of_four =
        |columns| headline(&progress(4, 6), Some("Final"), Some(Duration::from_secs(4)), columns);
    assert!(final_of_four(80).contains("round 3 of 3 (Final), "), "{}", final_of_four(80));
    assert!(!final_of_four(40).contains("Final"), "{}", final_of_four(40));
}
