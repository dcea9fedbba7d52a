//! The statistics in plain sentences, for readers without a background in statistics. Pure.

use crate::bradley_terry::Superiority;
use crate::luck::{Meter, StandingsByChance};
use crate::null_model::Basis;
use crate::results::Wdl;
use crate::sample_size::SETTLED;

/// `12 %`, `3.1 %`, `less than 0.1 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        few if few < 0.1 => "less than 0.1 %".to_owned(),
        few if few < 9.95 => format!("{few:.1} %"),
        most if most > 99.9 => "more than 99.9 %".to_owned(),
        most if most >= 99.0 => format!("{most:.1} %"),
        some => format!("{some:.0} %"),
    }
}

/// The luck meter of a league.
pub fn of_table(
    meter: Meter,
    table: Option<&StandingsByChance>,
    basis: Basis,
    players: usize,
) -> String {
    let Some(StandingsByChance {
        spread,
        best_points,
        best,
        ..
    }) = table
    else {
        return "No match has been played out yet, so there is nothing to tell.".to_owned();
    };
    let verdict = match meter {
        Meter::NothingYet | Meter::Luck => "This table says little",
        Meter::Hint => "This table is a hint, no more",
        Meter::ProbablyMore => "This table is probably more than luck",
        Meter::HardlyLuck => "This table is hardly luck alone",
    };
    let spread = percent(*spread);
    let best = percent(*best);
    let who = match basis {
        Basis::RandomMoves => "players who move at random",
        Basis::EqualStrength => "players of equal strength",
    };
    format!(
        "{verdict}: {who} end at least this far apart in {spread} of such leagues, and the best of {players} has at \
         least {} in {best}.",
        points(u64::from(*best_points))
    )
}

pub fn of_game(game: &str) -> Option<String> {
    is_pure_luck(game).then(|| {
        "In even/odd the number is drawn after both calls, so nobody can be better at winning than the other; what can \
         be sought is only to call the opposite, which brings both 1.5 points on average instead of 1."
            .to_owned()
    })
}

fn points(count: u64) -> String {
    format!("{count} point{}", if count == 1 { "" } else { "s" })
}

/// The luck meter of a player. It uses the probability that any player has such a record, because among many players
/// a rare record is likely.
pub fn of_record(
    id: &str,
    record: Wdl,
    chances: [f64; 2],
    basis: Basis,
    players: usize,
) -> (Meter, String) {
    let matches = record.total();
    if matches == 0 {
        return (
            Meter::NothingYet,
            format!("{id} has not played a match out yet."),
        );
    }
    let [as_good, as_bad] = chances;
    let (chance, direction) = if as_good <= as_bad {
        (as_good, "well")
    } else {
        (as_bad, "badly")
    };
    let anybody = -libm::expm1(players as f64 * libm::log1p(-chance));
    let points = points(record.points());
    let from = if matches == 1 {
        "1 match".to_owned()
    } else {
        format!("{matches} matches")
    };
    let is = if record.points() == 1 { "is" } else { "are" };
    let who = match basis {
        Basis::RandomMoves => "a player who moves at random",
        Basis::EqualStrength => "a player of equal strength",
    };
    let one = percent(chance);
    let does = format!("{who} does at least as {direction} in {one}");
    let meter = Meter::of(anybody);
    let sentence = match meter {
        Meter::NothingYet | Meter::Luck => {
            format!("{points} from {from} {is} well within luck: {does}")
        }
        Meter::Hint => format!("{points} from {from} {is} a hint, no more: {does}"),
        Meter::ProbablyMore => format!("{points} from {from} {is} probably more than luck: {does}"),
        Meter::HardlyLuck => format!("{points} from {from} {is} hardly luck alone: {does}"),
    };
    (
        meter,
        format!(
            "{sentence}, and of {players} such players somebody does in {}.",
            percent(anybody)
        ),
    )
}

/// Which of the first two is better, and how many matches would show it. In a game of pure luck the sentence must not
/// promise an answer.
pub fn of_top_two(superiority: &Superiority, more_matches: Option<u64>, pure_luck: bool) -> String {
    let Superiority {
        ahead,
        behind,
        likelihood,
    } = superiority;
    let (better, other, likelihood) = if *likelihood >= 0.5 {
        (ahead, behind, *likelihood)
    } else {
        (behind, ahead, 1.0 - likelihood)
    };
    if likelihood < 0.505 {
        return format!("Nothing tells {ahead} and {behind} apart so far.");
    }
    let (by, would) = if pure_luck {
        ("By the results alone, ", "would in a game of skill")
    } else {
        ("", "would")
    };
    let says = format!(
        "{by}{better} is better than {other} with a likelihood of {}",
        percent(likelihood)
    );
    let more = match more_matches {
        Some(1) => "1 more match".to_owned(),
        Some(more) => format!("about {more} more matches"),
        None => {
            return format!("{says}; they are too close for any number of matches to settle it.");
        }
    };
    match likelihood >= SETTLED {
        true if pure_luck => format!("{says}, which {would} settle it."),
        true => format!("{says}, which settles it."),
        false => format!(
            "{says}; if they go on as they have, {more} between them {would} settle it (95 %)."
        ),
    }
}

pub fn is_pure_luck(game: &str) -> bool {
    game == "even_odd"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_written_as_precisely_as_they_matter() {
        for (share, text) in [
            (0.0, "less than 0.1 %"),
            (0.0312, "3.1 %"),
            (0.0994, "9.9 %"),
            (0.0996, "10 %"),
            (0.634, "63 %"),
            (0.9912, "99.1 %"),
            (0.999_95, "more than 99.9 %"),
        ] {
            assert_eq!(percent(share), text);
        }
    }

    #[test]
    fn one_point_is_singular() {
        let table = StandingsByChance {
            spread: 0.5,
            best_points: 1,
            best: 0.6,
            leagues: 100,
        };
        let sentence = of_table(Meter::Luck, Some(&table), Basis::EqualStrength, 2);
        assert!(
            sentence.ends_with("has at least 1 point in 60 %."),
            "{sentence}"
        );
    }

    #[test]
    fn a_record_is_judged_by_what_any_of_so_many_would_have() {
        let perfect = Wdl {
            wins: 5,
            draws: 0,
            losses: 0,
        };
        let meter = |players| {
            of_record(
                "P01",
                perfect,
                [0.000_976, 1.0],
                Basis::RandomMoves,
                players,
            )
            .0
        };
        assert_eq!(
            [2, 20, 100, 1000].map(meter),
            [
                Meter::HardlyLuck,
                Meter::ProbablyMore,
                Meter::Hint,
                Meter::Luck
            ]
        );
    }
}
