//! The cheapest way to pair all of an even number of points: Edmonds' blossom algorithm with dual variables (1965), in
//! the dense form that takes time in the third power of the number of points. Pure arithmetic.
//!
//! A *node* is a point or a *blossom*: an odd circle of nodes that the search treats as one. Each phase grows alternating
//! trees from all unmatched nodes over edges whose slack is zero, until a path joins two of them and makes one pair more.
//! Where the trees cannot grow, the dual variables change until another edge has no slack. Nodes of a tree are *outer*
//! (their root's side) or *inner*.

use std::collections::VecDeque;

/// No point, no node.
const NONE: usize = usize::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Free,
    Outer,
    Inner,
}

/// A list of values that has one for every index.
struct Row<T>(Vec<T>, T);

impl<T: Copy> Row<T> {
    fn new(len: usize, none: T) -> Self {
        Self(vec![none; len], none)
    }

    fn at(&self, place: usize) -> T {
        self.0.get(place).copied().unwrap_or(self.1)
    }

    fn set(&mut self, place: usize, value: T) {
        if let Some(slot) = self.0.get_mut(place) {
            *slot = value;
        }
    }
}

/// The partner of each point, such that all are paired and the sum of the costs is as low as can be. `points` is even; a
/// cost is the same both ways, and below 2^106.
pub(super) fn partners(points: usize, cost: impl Fn(usize, usize) -> i128) -> Vec<usize> {
    if points == 0 || !points.is_multiple_of(2) {
        return Vec::new();
    }
    let mut search = Search::new(points, cost);
    while search.has_unmatched() {
        search.phase();
    }
    search.mate.0.into_iter().take(points).collect()
}

struct Search {
    points: usize,
    /// Points and blossoms.
    nodes: usize,
    /// Twice the negative cost, point by point.
    weight: Row<i128>,
    /// For two nodes, the end points of the edge with the least slack between them.
    edge: Row<(usize, usize)>,
    dual: Row<i128>,
    /// The point outside of a node that it is paired with.
    mate: Row<usize>,
    /// The outermost node that a node is in; none for a blossom that does not exist.
    outermost: Row<usize>,
    mark: Row<Mark>,
    /// From which point an inner node was reached.
    parent: Row<usize>,
    /// The outer point with the least slack to a node.
    nearest: Row<usize>,
    /// The nodes of a blossom, around the circle from its base.
    circle: Vec<Vec<usize>>,
    queue: VecDeque<usize>,
}

impl Search {
    fn new(points: usize, cost: impl Fn(usize, usize) -> i128) -> Self {
        let nodes = points + points / 2 + 1;
        let mut weight = Row::new(points * points, 0);
        let mut dual = Row::new(nodes, 0);
        for a in 0..points {
            let own = |b: usize| if a == b { i128::MIN } else { -2 * cost(a, b) };
            for b in (0..points).filter(|b| *b != a) {
                weight.set(a * points + b, own(b));
            }
            // Feasible, and the edge to the cheapest partner has no slack if that is mutual.
            dual.set(a, (0..points).map(own).max().unwrap_or(0));
        }
        let mut edge = Row::new(nodes * nodes, (NONE, NONE));
        let mut outermost = Row::new(nodes, NONE);
        for a in 0..points {
            outermost.set(a, a);
            (0..points)
                .filter(|b| *b != a)
                .for_each(|b| edge.set(a * nodes + b, (a, b)));
        }
        Self {
            points,
            nodes,
            weight,
            edge,
            dual,
            mate: Row::new(nodes, NONE),
            outermost,
            mark: Row::new(nodes, Mark::Free),
            parent: Row::new(nodes, NONE),
            nearest: Row::new(nodes, NONE),
            circle: vec![Vec::new(); nodes],
            queue: VecDeque::new(),
        }
    }

    fn has_unmatched(&self) -> bool {
        (0..self.points).any(|point| self.mate.at(point) == NONE)
    }

    fn outer_nodes(&self) -> impl Iterator<Item = usize> {
        (0..self.nodes).filter(|node| self.outermost.at(*node) == *node)
    }

    /// None from no node.
    fn edge(&self, from: usize, to: usize) -> (usize, usize) {
        if from == NONE {
            (NONE, NONE)
        } else {
            self.edge.at(from * self.nodes + to)
        }
    }

    /// How far the dual variables are from allowing an edge; none where there is no edge.
    fn slack(&self, (a, b): (usize, usize)) -> Option<i128> {
        (a != NONE)
            .then(|| self.dual.at(a) + self.dual.at(b) - 2 * self.weight.at(a * self.points + b))
    }

    fn circle(&self, blossom: usize) -> &[usize] {
        self.circle.get(blossom).map_or(&[], Vec::as_slice)
    }

    fn turn_circle(&mut self, blossom: usize, change: impl FnOnce(&mut Vec<usize>)) {
        if let Some(circle) = self.circle.get_mut(blossom) {
            change(circle);
        }
    }

    /// All points of a node.
    fn points_of(&self, node: usize) -> Vec<usize> {
        if node < self.points {
            return vec![node];
        }
        self.circle(node)
            .iter()
            .flat_map(|part| self.points_of(*part))
            .collect()
    }

    /// Which part of a blossom a point is in.
    fn part_with(&self, blossom: usize, point: usize) -> usize {
        let parts = self.circle(blossom).iter().copied();
        parts
            .into_iter()
            .find(|part| self.points_of(*part).contains(&point))
            .unwrap_or(NONE)
    }

    fn enqueue(&mut self, node: usize) {
        let points = self.points_of(node);
        self.queue.extend(points);
    }

    fn set_outermost(&mut self, node: usize, to: usize) {
        self.outermost.set(node, to);
        for part in self.circle(node).to_vec() {
            self.set_outermost(part, to);
        }
    }

    fn note_nearest(&mut self, point: usize, node: usize) {
        let known = self.slack(self.edge(self.nearest.at(node), node));
        let slack = self.slack(self.edge(point, node));
        if self.nearest.at(node) == NONE || slack < known {
            self.nearest.set(node, point);
        }
    }

    fn find_nearest(&mut self, node: usize) {
        self.nearest.set(node, NONE);
        for point in 0..self.points {
            let own = self.outermost.at(point);
            if own != node && self.mark.at(own) == Mark::Outer && self.edge(point, node).0 != NONE {
                self.note_nearest(point, node);
            }
        }
    }

    /// One augmentation: there is one pair more afterwards.
    fn phase(&mut self) {
        for node in 0..self.nodes {
            self.mark.set(node, Mark::Free);
            self.nearest.set(node, NONE);
        }
        self.queue.clear();
        let roots: Vec<usize> = self
            .outer_nodes()
            .filter(|node| self.mate.at(*node) == NONE)
            .collect();
        for root in roots {
            self.parent.set(root, NONE);
            self.mark.set(root, Mark::Outer);
            self.enqueue(root);
        }
        while !self.grow() && !self.change_duals() {}
    }

    /// Grows the trees over edges without slack. Whether a pair was made.
    fn grow(&mut self) -> bool {
        while let Some(point) = self.queue.pop_front() {
            if self.mark.at(self.outermost.at(point)) == Mark::Inner {
                continue;
            }
            for other in 0..self.points {
                let own = self.outermost.at(point);
                let node = self.outermost.at(other);
                if own == node {
                    continue;
                }
                if self.slack((point, other)) == Some(0) {
                    if self.reach(point, other) {
                        return true;
                    }
                } else {
                    self.note_nearest(point, node);
                }
            }
        }
        false
    }

    /// Changes the dual variables by as much as they can be, and follows the edges that have no slack then. Whether a pair
    /// was made.
    fn change_duals(&mut self) -> bool {
        let blossoms =
            || (self.points..self.nodes).filter(|node| self.outermost.at(*node) == *node);
        let inner = blossoms().filter(|node| self.mark.at(*node) == Mark::Inner);
        let shrinking = inner.map(|node| self.dual.at(node) / 2);
        let edges = self.outer_nodes().filter_map(|node| {
            let slack = self.slack(self.edge(self.nearest.at(node), node))?;
            match self.mark.at(node) {
                Mark::Free => Some(slack),
                Mark::Outer => Some(slack / 2),
                Mark::Inner => None,
            }
        });
        let Some(by) = shrinking.chain(edges).min() else {
            return true;
        };
        for point in 0..self.points {
            let change = match self.mark.at(self.outermost.at(point)) {
                Mark::Free => 0,
                Mark::Outer => -by,
                Mark::Inner => by,
            };
            self.dual.set(point, self.dual.at(point) + change);
        }
        for node in self.points..self.nodes {
            let change = match self.mark.at(node) {
                _ if self.outermost.at(node) != node => 0,
                Mark::Free => 0,
                Mark::Outer => 2 * by,
                Mark::Inner => -2 * by,
            };
            self.dual.set(node, self.dual.at(node) + change);
        }
        for node in 0..self.nodes {
            let nearest = self.nearest.at(node);
            let (a, b) = self.edge(nearest, node);
            if self.outermost.at(node) == node
                && nearest != NONE
                && self.outermost.at(nearest) != node
                && self.slack((a, b)) == Some(0)
                && self.reach(a, b)
            {
                return true;
            }
        }
        for node in self.points..self.nodes {
            if self.outermost.at(node) == node
                && self.mark.at(node) == Mark::Inner
                && self.dual.at(node) == 0
            {
                self.expand(node);
            }
        }
        false
    }

    /// Follows an edge without slack from an outer point. Whether that made a pair.
    fn reach(&mut self, from: usize, to: usize) -> bool {
        let own = self.outermost.at(from);
        let node = self.outermost.at(to);
        match self.mark.at(node) {
            Mark::Free => {
                self.parent.set(node, from);
                self.mark.set(node, Mark::Inner);
                let next = self.outermost.at(self.mate.at(node));
                self.nearest.set(node, NONE);
                self.nearest.set(next, NONE);
                self.mark.set(next, Mark::Outer);
                self.enqueue(next);
                false
            }
            Mark::Inner => false,
            Mark::Outer => match self.common_ancestor(own, node) {
                Some(base) => {
                    self.contract(own, base, node);
                    false
                }
                None => {
                    self.augment(own, node);
                    self.augment(node, own);
                    true
                }
            },
        }
    }

    /// The outer nodes from here to the root of the tree.
    fn ancestors(&self, from: usize) -> Vec<usize> {
        let mut path = vec![from];
        let mut node = from;
        while let inner = self.outermost.at(self.mate.at(node))
            && inner != NONE
        {
            node = self.outermost.at(self.parent.at(inner));
            path.push(node);
        }
        path
    }

    fn common_ancestor(&self, one: usize, other: usize) -> Option<usize> {
        let path = self.ancestors(other);
        self.ancestors(one)
            .into_iter()
            .find(|node| path.contains(node))
    }

    /// Pairs a node with another across their edge, and rearranges the pairs within it.
    fn pair(&mut self, node: usize, with: usize) {
        let (own, other) = self.edge(node, with);
        self.mate.set(node, other);
        if node < self.points {
            return;
        }
        let part = self.part_with(node, own);
        let place = self.even_place(node, part);
        for pairs in self
            .circle(node)
            .get(..place)
            .unwrap_or_default()
            .to_vec()
            .chunks(2)
        {
            if let [one, two] = pairs {
                self.pair(*one, *two);
                self.pair(*two, *one);
            }
        }
        self.pair(part, with);
        self.turn_circle(node, |circle| circle.rotate_left(place));
    }

    /// The place of a part in a blossom's circle, which is turned round if that makes the way from the base even.
    fn even_place(&mut self, blossom: usize, part: usize) -> usize {
        let circle = self.circle(blossom);
        let is_part = |one: &usize| *one == part;
        let place = circle.iter().position(is_part).unwrap_or(0);
        let len = circle.len();
        if place.is_multiple_of(2) {
            return place;
        }
        self.turn_circle(blossom, |circle| {
            if let Some(rest) = circle.get_mut(1..) {
                rest.reverse();
            }
        });
        len - place
    }

    /// Swaps the pairs along the path from an outer node to its root, after it was paired with another.
    fn augment(&mut self, node: usize, with: usize) {
        let mut node = node;
        let mut with = with;
        loop {
            let next = self.outermost.at(self.mate.at(node));
            self.pair(node, with);
            if next == NONE {
                return;
            }
            let above = self.outermost.at(self.parent.at(next));
            self.pair(next, above);
            (node, with) = (above, next);
        }
    }

    /// Makes a blossom of the circle that an edge between two outer nodes closes.
    fn contract(&mut self, one: usize, base: usize, other: usize) {
        let unused = (self.points..self.nodes).find(|node| self.outermost.at(*node) == NONE);
        let Some(blossom) = unused else { return };
        let mut circle = vec![base];
        let arm = |search: &mut Self, from: usize| {
            let mut arm = Vec::new();
            let mut node = from;
            while node != base {
                let inner = search.outermost.at(search.mate.at(node));
                search.enqueue(inner);
                arm.extend([node, inner]);
                node = search.outermost.at(search.parent.at(inner));
            }
            arm
        };
        let first = arm(self, one);
        let second = arm(self, other);
        circle.extend(first.into_iter().rev());
        circle.extend(second);
        self.dual.set(blossom, 0);
        self.mark.set(blossom, Mark::Outer);
        self.mate.set(blossom, self.mate.at(base));
        for node in 0..self.nodes {
            self.edge.set(blossom * self.nodes + node, (NONE, NONE));
            self.edge.set(node * self.nodes + blossom, (NONE, NONE));
        }
        for part in &circle {
            for node in 0..self.nodes {
                let (known, found) = (
                    self.slack(self.edge(blossom, node)),
                    self.slack(self.edge(*part, node)),
                );
                if found.is_some() && (known.is_none() || found < known) {
                    let there = self.edge(*part, node);
                    let back = self.edge(node, *part);
                    self.edge.set(blossom * self.nodes + node, there);
                    self.edge.set(node * self.nodes + blossom, back);
                }
            }
        }
        self.turn_circle(blossom, |parts| *parts = circle);
        self.set_outermost(blossom, blossom);
        self.find_nearest(blossom);
    }

    /// Takes an inner blossom apart: the even way from where it was reached to its base stays in the tree.
    fn expand(&mut self, blossom: usize) {
        let parts = self.circle(blossom).to_vec();
        parts
            .iter()
            .for_each(|part| self.set_outermost(*part, *part));
        let (reached, _) = self.edge(blossom, self.parent.at(blossom));
        let entry = self.part_with(blossom, reached);
        let place = self.even_place(blossom, entry);
        let circle = self.circle(blossom).to_vec();
        for pairs in circle.get(..place).unwrap_or_default().chunks(2) {
            if let [inner, outer] = pairs {
                self.parent.set(*inner, self.edge(*outer, *inner).0);
                self.mark.set(*inner, Mark::Inner);
                self.mark.set(*outer, Mark::Outer);
                self.nearest.set(*inner, NONE);
                self.find_nearest(*outer);
                self.enqueue(*outer);
            }
        }
        self.mark.set(entry, Mark::Inner);
        self.parent.set(entry, self.parent.at(blossom));
        self.nearest.set(entry, NONE);
        for rest in circle.get(place + 1..).unwrap_or_default() {
            self.mark.set(*rest, Mark::Free);
            self.find_nearest(*rest);
        }
        self.outermost.set(blossom, NONE);
        self.turn_circle(blossom, Vec::clear);
    }
}

#[cfg(test)]
#[allow(
    clippy::indexing_slicing,
    reason = "test code: a failure here is the point"
)]
mod tests {
    use super::*;
    use crate::entropy::Entropy;

    fn total(partners: &[usize], cost: &impl Fn(usize, usize) -> i128) -> i128 {
        let pairs = partners
            .iter()
            .enumerate()
            .filter(|(point, partner)| point < partner);
        pairs.map(|(point, partner)| cost(point, *partner)).sum()
    }

    /// Tries everything.
    fn cheapest(left: &[usize], cost: &impl Fn(usize, usize) -> i128) -> i128 {
        let Some((first, rest)) = left.split_first() else {
            return 0;
        };
        let ways = rest.iter().map(|other| {
            let others: Vec<usize> = rest.iter().copied().filter(|one| one != other).collect();
            cost(*first, *other) + cheapest(&others, cost)
        });
        ways.min().unwrap_or(i128::MAX)
    }

    #[test]
    fn no_other_way_is_cheaper() {
        let mut chance = Entropy::numbered(11);
        for trial in 0..600 {
            let points = [2, 4, 6, 8][trial % 4];
            // Few different costs make many edges without slack, and so many blossoms.
            let most = [2, 3, 10, 1 << 50][trial / 4 % 4];
            let costs: Vec<i128> = (0..points * points)
                .map(|_| chance.below(most).into())
                .collect();
            let cost = |a: usize, b: usize| costs[a.min(b) * points + a.max(b)];
            let found = partners(points, cost);
            assert!(
                (0..points).all(|point| found[point] != point && found[found[point]] == point),
                "{found:?}"
            );
            let everyone: Vec<usize> = (0..points).collect();
            assert_eq!(
                total(&found, &cost),
                cheapest(&everyone, &cost),
                "trial {trial}"
            );
        }
    }

    /// Too many to try everything: no two pairs can be exchanged for the better, and every point has a partner.
    #[test]
    fn large_fields_are_paired_whole() {
        let mut chance = Entropy::numbered(12);
        for (points, most) in [(40, 3), (60, 2), (80, 1000)] {
            let costs: Vec<i128> = (0..points * points)
                .map(|_| chance.below(most).into())
                .collect();
            let cost = |a: usize, b: usize| costs[a.min(b) * points + a.max(b)];
            let found = partners(points, cost);
            for (one, other) in
                (0..points).flat_map(|one| (0..points).map(move |other| (one, other)))
            {
                let a = found[one];
                let b = found[other];
                assert_eq!(found[a], one);
                if other != one && other != a {
                    assert!(cost(one, a) + cost(other, b) <= cost(one, other) + cost(a, b));
                }
            }
        }
    }

    #[test]
    fn an_odd_number_cannot_be_paired() {
        assert!(partners(3, |_, _| 0).is_empty() && partners(0, |_, _| 0).is_empty());
    }
}
