//! As many disjoint pairs as can be among points of which some may be joined: Edmonds' blossom algorithm.
//!
//! Pure arithmetic on small graphs: it takes time in the third power of their size, so callers ask it only where a
//! count of neighbours does not give the answer already.

use std::collections::VecDeque;

/// No point.
const NONE: usize = usize::MAX;

/// A number for each point.
struct Row(Vec<usize>);

impl Row {
    fn at(&self, point: usize) -> usize {
        self.0.get(point).copied().unwrap_or(NONE)
    }

    fn set(&mut self, point: usize, value: usize) {
        if let Some(place) = self.0.get_mut(point) {
            *place = value;
        }
    }
}

/// How many pairs there are at the most.
pub(super) fn size(points: usize, joined: impl Fn(usize, usize) -> bool) -> usize {
    let mut search = Search {
        points,
        joined,
        mate: Row(vec![NONE; points]),
        parent: Row(Vec::new()),
        base: Row(Vec::new()),
        reached: Vec::new(),
    };
    search.begin_greedily();
    for point in 0..points {
        if search.mate.at(point) == NONE
            && let Some(end) = search.path_from(point)
        {
            search.augment(end);
        }
    }
    search.mate.0.iter().filter(|mate| **mate != NONE).count() / 2
}

struct Search<F> {
    points: usize,
    joined: F,
    mate: Row,
    /// In the tree that is searched: from where an outer point's partner was reached.
    parent: Row,
    /// The point that stands for the blossom a point is in.
    base: Row,
    reached: Vec<bool>,
}

impl<F: Fn(usize, usize) -> bool> Search<F> {
    fn begin_greedily(&mut self) {
        for one in 0..self.points {
            if self.mate.at(one) != NONE {
                continue;
            }
            let free = |other: &usize| self.mate.at(*other) == NONE && (self.joined)(one, *other);
            if let Some(other) = (one + 1..self.points).find(free) {
                self.mate.set(one, other);
                self.mate.set(other, one);
            }
        }
    }

    /// An alternating path from a free point to another, by which there is one pair more; gives its far end.
    fn path_from(&mut self, root: usize) -> Option<usize> {
        self.parent = Row(vec![NONE; self.points]);
        self.base = Row((0..self.points).collect());
        self.reached = vec![false; self.points];
        let mut queue = VecDeque::new();
        self.reach(root, &mut queue);
        while let Some(from) = queue.pop_front() {
            for to in 0..self.points {
                if !(self.joined)(from, to)
                    || self.base.at(from) == self.base.at(to)
                    || self.mate.at(from) == to
                {
                    continue;
                }
                let mate = self.mate.at(to);
                if to == root || (mate != NONE && self.parent.at(mate) != NONE) {
                    self.shrink(from, to, &mut queue);
                } else if self.parent.at(to) == NONE {
                    self.parent.set(to, from);
                    if mate == NONE {
                        return Some(to);
                    }
                    self.reach(mate, &mut queue);
                }
            }
        }
        None
    }

    fn reach(&mut self, point: usize, queue: &mut VecDeque<usize>) {
        if let Some(reached) = self.reached.get_mut(point)
            && !*reached
        {
            *reached = true;
            queue.push_back(point);
        }
    }

    /// Two outer points that are joined close a circle of odd length: from now on it counts as one point.
    fn shrink(&mut self, one: usize, other: usize, queue: &mut VecDeque<usize>) {
        let top = self.common_base(one, other);
        let mut inside = vec![false; self.points];
        self.mark(one, top, other, &mut inside);
        self.mark(other, top, one, &mut inside);
        for point in 0..self.points {
            if inside.get(self.base.at(point)).copied().unwrap_or(false) {
                self.base.set(point, top);
                self.reach(point, queue);
            }
        }
    }

    fn common_base(&self, one: usize, other: usize) -> usize {
        let mut seen = vec![false; self.points];
        let mut at = one;
        loop {
            at = self.base.at(at);
            if let Some(seen) = seen.get_mut(at) {
                *seen = true;
            }
            if self.mate.at(at) == NONE {
                break;
            }
            at = self.parent.at(self.mate.at(at));
        }
        let mut at = self.base.at(other);
        while !seen.get(at).copied().unwrap_or(true) {
            at = self.base.at(self.parent.at(self.mate.at(at)));
        }
        at
    }

    fn mark(&mut self, from: usize, top: usize, child: usize, inside: &mut [bool]) {
        let (mut at, mut child) = (from, child);
        while self.base.at(at) != top {
            let mate = self.mate.at(at);
            for base in [self.base.at(at), self.base.at(mate)] {
                if let Some(inside) = inside.get_mut(base) {
                    *inside = true;
                }
            }
            self.parent.set(at, child);
            child = mate;
            at = self.parent.at(mate);
        }
    }

    fn augment(&mut self, end: usize) {
        let mut at = end;
        while at != NONE {
            let before = self.parent.at(at);
            let next = self.mate.at(before);
            self.mate.set(at, before);
            self.mate.set(before, at);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    /// Tries everything.
    fn by_trying(points: &[usize], joined: &impl Fn(usize, usize) -> bool) -> usize {
        let Some((first, rest)) = points.split_first() else { return 0 };
        let alone = by_trying(rest, joined);
        let paired = rest.iter().filter(|other| joined(*first, **other)).map(|other| {
            let left: Vec<usize> = rest.iter().copied().filter(|point| point != other).collect();
            1 + by_trying(&left, joined)
        });
        paired.max().unwrap_or(0).max(alone)
    }

    #[test]
    fn it_finds_as_many_pairs_as_trying_everything_does() {
        let mut chance = crate::entropy::Entropy::numbered(7);
        for round in 0..600 {
            let points = 1 + round % 9;
            let percent = 15 + chance.below(70);
            let mut joins = vec![false; points * points];
            for one in 0..points {
                for other in 0..one {
                    let joined = chance.chance(percent);
                    joins[one * points + other] = joined;
                    joins[other * points + one] = joined;
                }
            }
            let joined = |one: usize, other: usize| joins[one * points + other];
            let everyone: Vec<usize> = (0..points).collect();
            assert_eq!(size(points, joined), by_trying(&everyone, &joined), "{points} points: {joins:?}");
        }
    }

    #[test]
    fn odd_circles_joined_by_a_bridge_are_matched_across_it() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)];
        let joined = |a: usize, b: usize| edges.contains(&(a, b)) || edges.contains(&(b, a));
        assert_eq!(size(6, joined), 3);
    }
}
