//! Circles in who beats whom: A beats B, B beats C, C beats A. Where there is one, no rating can order these strategies.
//! Pure.

/// More are not listed.
const CYCLES_MAX: usize = 50;

/// The circles of three, or else those of four, as indices; each begins with its smallest. `beats` says whether the first
/// beats the second.
pub(super) fn cycles(players: usize, beats: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let of = |length: usize| {
        let mut found = Vec::new();
        for first in 0..players {
            extend(&mut vec![first], length, players, &beats, &mut found);
        }
        found
    };
    let threes = of(3);
    if threes.is_empty() { of(4) } else { threes }
}

fn extend(
    path: &mut Vec<usize>,
    length: usize,
    players: usize,
    beats: &impl Fn(usize, usize) -> bool,
    found: &mut Vec<Vec<usize>>,
) {
    let (Some(&first), Some(&last)) = (path.first(), path.last()) else {
        return;
    };
    if path.len() == length {
        if beats(last, first) && found.len() < CYCLES_MAX {
            found.push(path.clone());
        }
        return;
    }
    for next in first + 1..players {
        if !path.contains(&next) && beats(last, next) {
            path.push(next);
            extend(path, length, players, beats, found);
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_once_and_orders_have_none() {
        let edges =
            |edges: &'static [(usize, usize)]| move |a: usize, b: usize| edges.contains(&(a, b));
        assert_eq!(cycles(3, edges(&[(0, 1), (1, 2), (2, 0)])), [[0, 1, 2]]);
        assert_eq!(
            cycles(3, edges(&[(0, 1), (1, 2), (0, 2)])),
            Vec::<Vec<usize>>::new()
        );
        assert_eq!(
            cycles(4, edges(&[(0, 1), (1, 2), (2, 3), (3, 0)])),
            [[0, 1, 2, 3]]
        );
        assert_eq!(
            cycles(4, edges(&[(1, 3), (3, 2), (2, 1), (0, 1)])),
            [[1, 3, 2]]
        );
    }
}
