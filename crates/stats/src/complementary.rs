//! Tests whether two players collude by calling opposite parities: in even/odd, opposite calls give both 1.5 points
//! on average, and equal calls only 1. Pure.
//!
//! The null hypothesis: given all that both have seen, the two calls of a match are independent of each other, and each
//! player is explained by one of `explanations`. The test is a likelihood ratio that stays valid whenever it is
//! looked at (universal inference, Wasserman, Ramdas and Balakrishnan 2020): how likely an agreement makes the calls,
//! divided by the most that any two explanations make of them. Under the null hypothesis it exceeds 1/p with probability
//! of at most p.

pub use crate::agreement::{Complementary, Question};
use crate::explanations::{CELLS, EXPLANATIONS, Seen, cells};
use crate::holm;
use crate::results::{Calls, Parity, Results};
use crate::sentences;
use std::collections::BTreeMap;

/// The significance level for pairs, with p-values corrected for the number of pairs.
pub const ASK_BELOW: f64 = 0.04;
/// The probability that a coin of any explanation lies outside of the range that matches with others leave it. With
/// [`ASK_BELOW`] that makes 5 %.
const RANGE_ERROR: f64 = 0.01;

/// Examines leagues in the order in which they were played, with a key for each of their players that is the same in all
/// leagues. `None` unless they are of even/odd.
pub fn examine(leagues: &[(&Results, Vec<String>)]) -> Option<Complementary> {
    let leagues: Vec<_> = leagues.iter().filter(|(results, _)| results.game == "even_odd").collect();
    if leagues.is_empty() {
        return None;
    }
    let mut names: Vec<String> = leagues.iter().flat_map(|(_, keys)| keys.clone()).collect();
    names.sort();
    names.dedup();
    let mut seen: Vec<Vec<Seen>> = vec![Vec::new(); names.len()];
    for (number, (results, keys)) in leagues.iter().enumerate() {
        note(number, results, keys, &names, &mut seen);
    }
    let mut judged = Examination::new(seen, leagues.len() > 1).judge(&names);
    if judged.pairs == 0 && leagues.iter().any(|(results, _)| !results.games().is_empty()) {
        judged.sentence = sentences::CALLS_UNKNOWN.to_owned();
    }
    Some(judged)
}

/// Notes every match of a league with both of its players, in the order of rounds.
fn note(league: usize, results: &Results, keys: &[String], names: &[String], seen: &mut [Vec<Seen>]) {
    let ids = results.players.iter().map(|player| player.id.as_str());
    let places: BTreeMap<&str, usize> =
        ids.zip(keys).filter_map(|(id, key)| Some((id, names.binary_search(key).ok()?))).collect();
    let mut matches: Vec<_> = results.matches.iter().collect();
    matches.sort_by_key(|played| played.round);
    for played in matches {
        let [a, b] = [&played.a, &played.b].map(|id| places.get(id.as_str()).copied());
        let (Some(a), Some(b)) = (a, b) else { continue };
        let Calls { a: call_a, b: call_b, drawn } = played.calls.unwrap_or_default();
        for (own, opponent, calls) in [(a, b, call_a.zip(call_b)), (b, a, call_b.zip(call_a))] {
            let calls = calls.filter(|_| !played.forfeited).map(|(own, other)| [own, other]);
            if let Some(seen) = seen.get_mut(own).filter(|_| a != b) {
                seen.push(Seen { league, opponent, calls, drawn });
            }
        }
    }
}

/// How often each parity was called in each cell of each explanation.
type Counts = [[[u32; 2]; CELLS]; EXPLANATIONS];

struct Examination {
    seen: Vec<Vec<Seen>>,
    /// For each player, the cells of its matches, with memories of either kind.
    cells: Vec<Vec<Vec<[usize; EXPLANATIONS]>>>,
    /// The meetings of each pair: for both players, the indices of these matches among their own.
    meetings: BTreeMap<[usize; 2], Vec<[usize; 2]>>,
}

impl Examination {
    fn new(seen: Vec<Vec<Seen>>, several: bool) -> Self {
        let kinds: &[bool] = if several { &[false, true] } else { &[false] };
        let of_player = |seen: &Vec<Seen>| kinds.iter().map(|goes_on| cells(seen, *goes_on)).collect();
        let cells = seen.iter().map(of_player).collect();
        let indices = |one: usize, other: usize| {
            let own = seen.get(one).into_iter().flatten().enumerate();
            own.filter(move |(_, seen)| seen.opponent == other && seen.calls.is_some())
                .map(|(index, _)| index)
        };
        let mut meetings = BTreeMap::new();
        for a in 0..seen.len() {
            for b in a + 1..seen.len() {
                let both: Vec<[usize; 2]> = indices(a, b).zip(indices(b, a)).map(|(a, b)| [a, b]).collect();
                if !both.is_empty() {
                    meetings.insert([a, b], both);
                }
            }
        }
        Self { seen, cells, meetings }
    }

    fn judge(&self, names: &[String]) -> Complementary {
        let pairs = u32::try_from(self.meetings.len()).unwrap_or(u32::MAX);
        let found: Vec<Evidence> = self.meetings.keys().map(|pair| self.evidence(*pair, pairs)).collect();
        let p_values: Vec<f64> = found.iter().map(Evidence::p).collect();
        let corrected = holm::adjusted(&p_values);
        let name = |player: usize| names.get(player).cloned().unwrap_or_default();
        let asked = self.meetings.keys().zip(&found).zip(p_values.iter().zip(&corrected));
        let mut questions: Vec<Question> = asked
            .filter(|(_, (_, corrected))| **corrected < ASK_BELOW)
            .map(|((pair, evidence), (p, corrected))| {
                let Evidence { met, opposite, expected, .. } = *evidence;
                let (players, sentence) = (pair.map(name), String::new());
                Question { players, met, opposite, expected, p: *p, p_corrected: *corrected, sentence }
            })
            .collect();
        questions.sort_by(|one, other| one.p.total_cmp(&other.p));
        questions.iter_mut().for_each(|question| question.sentence = sentences::of_question(question, pairs));
        let meetings_most = found.iter().map(|evidence| evidence.met).max().unwrap_or(0);
        let meetings_needed = meetings_needed(pairs);
        let mut judged = Complementary {
            pairs,
            can_be_told: !questions.is_empty() || meetings_most >= meetings_needed,
            meetings_most,
            meetings_needed,
            p_smallest: p_values.iter().copied().min_by(f64::total_cmp),
            questions,
            sentence: String::new(),
        };
        judged.sentence = sentences::of_pairs(&judged);
        judged
    }

    fn evidence(&self, pair: [usize; 2], pairs: u32) -> Evidence {
        let meetings = self.meetings.get(&pair).map_or(&[][..], Vec::as_slice);
        let [a, b] = pair;
        let of = |place: usize| meetings.iter().filter_map(move |both| both.get(place).copied());
        let one = self.explained(a, b, &of(0).collect::<Vec<_>>(), pairs);
        let other = self.explained(b, a, &of(1).collect::<Vec<_>>(), pairs);
        let own = self.seen.get(a).map_or(&[][..], Vec::as_slice);
        let calls: Vec<[Parity; 2]> = of(0).filter_map(|index| own.get(index)?.calls).collect();
        let both = one.evens.iter().zip(&other.evens);
        Evidence {
            met: u32::try_from(calls.len()).unwrap_or(u32::MAX),
            opposite: calls.iter().map(|[a, b]| u32::from(a != b)).sum(),
            expected: both.map(|(a, b)| a * (1.0 - b) + b * (1.0 - a)).sum(),
            ln_ratio: ln_agreed(&calls) - one.ln_likelihood - other.ln_likelihood,
        }
    }

    /// The explanation of a player that makes its calls against an opponent likeliest. Its coins are within the range
    /// that the player's calls against all others allow.
    fn explained(&self, player: usize, opponent: usize, meetings: &[usize], pairs: u32) -> Explained {
        let seen = self.seen.get(player).map_or(&[][..], Vec::as_slice);
        // Both players, with up to so many cells each, in every pair.
        let range_error = RANGE_ERROR / (2.0 * CELLS as f64 * f64::from(pairs.max(1)));
        let mut best = Explained { ln_likelihood: f64::NEG_INFINITY, evens: Vec::new() };
        for cells in self.cells.get(player).into_iter().flatten() {
            let [against, others] = counts(seen, cells, opponent);
            for (number, (against, others)) in against.iter().zip(&others).enumerate() {
                let coins: Vec<f64> = against
                    .iter()
                    .zip(others)
                    .map(|(own, others)| coin(*own, *others, range_error))
                    .collect();
                let ln_likelihood =
                    against.iter().zip(&coins).map(|(calls, coin)| ln_chance(*calls, *coin)).sum();
                if ln_likelihood > best.ln_likelihood {
                    let cell = |index: &usize| cells.get(*index)?.get(number).copied();
                    let even = |index: &usize| coins.get(cell(index)?).copied();
                    best = Explained { ln_likelihood, evens: meetings.iter().filter_map(even).collect() };
                }
            }
        }
        best
    }
}

struct Explained {
    ln_likelihood: f64,
    /// The probability of even in each meeting.
    evens: Vec<f64>,
}

struct Evidence {
    met: u32,
    opposite: u32,
    expected: f64,
    ln_ratio: f64,
}

impl Evidence {
    fn p(&self) -> f64 {
        (-self.ln_ratio).exp().min(1.0)
    }
}

/// A player's calls in each cell: against one opponent, and against all others.
fn counts(seen: &[Seen], cells: &[[usize; EXPLANATIONS]], opponent: usize) -> [Counts; 2] {
    let [mut against, mut others] = [[[[0; 2]; CELLS]; EXPLANATIONS]; 2];
    for (seen, cells) in seen.iter().zip(cells) {
        let Some([own, _]) = seen.calls else { continue };
        let counts = if seen.opponent == opponent { &mut against } else { &mut others };
        for (explanation, cell) in counts.iter_mut().zip(cells) {
            let called = explanation.get_mut(*cell).and_then(|called| called.get_mut(own.index()));
            if let Some(count) = called {
                *count += 1;
            }
        }
    }
    [against, others]
}

/// The probability of even that makes `own` calls likeliest, within the confidence range that `others` leave.
fn coin(own: [u32; 2], others: [u32; 2], error: f64) -> f64 {
    let share = |[even, odd]: [u32; 2]| match even + odd {
        0 => 0.5,
        all => f64::from(even) / f64::from(all),
    };
    let (best, centre) = (share(own), share(others));
    let all = f64::from(others.iter().sum::<u32>());
    let allowed = |at: f64| all * divergence(centre, at) <= (2.0 / error).ln();
    if allowed(best) {
        return best;
    }
    // Between the centre, which is allowed, and the best, which is not.
    let (mut inside, mut outside) = (centre, best);
    for _ in 0..40 {
        let middle = (inside + outside) / 2.0;
        *(if allowed(middle) { &mut inside } else { &mut outside }) = middle;
    }
    outside
}

/// The Kullback-Leibler divergence between two coins, by which Chernoff's bound goes.
fn divergence(of: f64, from: f64) -> f64 {
    let part = |of: f64, from: f64| if of == 0.0 { 0.0 } else { of * (of / from).ln() };
    part(of, from) + part(1.0 - of, 1.0 - from)
}

fn ln_chance([even, odd]: [u32; 2], coin: f64) -> f64 {
    let part = |count: u32, chance: f64| if count == 0 { 0.0 } else { f64::from(count) * chance.ln() };
    part(even, coin) + part(odd, 1.0 - coin)
}

/// How soon an agreement to call opposite is taken to be kept: as if it had been so often before.
const KEPT: f64 = 4.0;
const BROKEN: f64 = 0.5;

/// The logarithm of the likelihood of calls if two players agreed. Who calls even is either drawn each time, or goes by
/// whether it was the same one last time; both are predicted from the meetings before.
fn ln_agreed(calls: &[[Parity; 2]]) -> f64 {
    let (mut kept, mut broken) = (KEPT, BROKEN);
    let (mut by_lot, mut by_turns) = (0.0, 0.0);
    let mut roles = Roles { last: None, same: 0.5, changed: 0.5 };
    for [a, b] in calls {
        let opposite = kept / (kept + broken);
        if a == b {
            let chance = (0.5 * (1.0 - opposite)).ln();
            (by_lot, by_turns) = (by_lot + chance, by_turns + chance);
            broken += 1.0;
        } else {
            by_lot += (0.5 * opposite).ln();
            by_turns += (roles.predict(*a) * opposite).ln();
            kept += 1.0;
        }
    }
    let most = f64::max(by_lot, by_turns);
    most + (0.5 * (by_lot - most).exp() + 0.5 * (by_turns - most).exp()).ln()
}

/// Predicts which call of a pair is even by how often that changed (Krichevsky and Trofimov 1981).
struct Roles {
    last: Option<Parity>,
    same: f64,
    changed: f64,
}

impl Roles {
    /// The probability that was given to this call of the first player, before it is learnt from.
    fn predict(&mut self, call: Parity) -> f64 {
        let all = self.same + self.changed;
        match self.last.replace(call) {
            None => 0.5,
            Some(last) if last == call => {
                self.same += 1.0;
                (self.same - 1.0) / all
            }
            Some(_) => {
                self.changed += 1.0;
                (self.changed - 1.0) / all
            }
        }
    }
}

/// The fewest meetings of a pair that can show an agreement among so many pairs: who calls even is drawn each time, all
/// calls are opposite, and no explanation fits better than a fair coin.
fn meetings_needed(pairs: u32) -> u32 {
    let wanted = (f64::from(pairs.max(1)) / ASK_BELOW).ln();
    let mut ln_ratio = -(2.0_f64.ln());
    let mut meetings = 0;
    while ln_ratio < wanted {
        let kept = KEPT + f64::from(meetings);
        ln_ratio += (2.0 * kept / (kept + BROKEN)).ln();
        meetings += 1;
    }
    meetings
}

#[cfg(test)]
mod tests {
    use super::*;
    use Parity::{Even, Odd};

    #[test]
    fn a_coin_stays_within_what_other_matches_allow() {
        // Nothing is known from others: whatever fits.
        assert_eq!(coin([5, 0], [0, 0], 1e-4), 1.0);
        // 50 of 100 against others: Chernoff's bound at 1e-4 is where 100 times the divergence is ln 20000.
        let found = coin([5, 0], [50, 50], 1e-4);
        assert!((100.0 * divergence(0.5, found) - 20_000_f64.ln()).abs() < 1e-6, "{found}");
        assert_eq!(coin([3, 2], [50, 50], 1e-4), 0.6);
        assert_eq!(coin([0, 4], [0, 90], 1e-4), 0.0);
    }

    /// All ways to call in four meetings have probabilities that add up to 1: otherwise the ratio would promise too much.
    #[test]
    fn the_likelihood_of_an_agreement_is_a_probability() {
        let ways = (0..1_u32 << 8).map(|way| {
            let call = |bit: u32| if way >> bit & 1 == 0 { Even } else { Odd };
            let calls: Vec<[Parity; 2]> =
                (0..4).map(|meeting| [call(2 * meeting), call(2 * meeting + 1)]).collect();
            ln_agreed(&calls).exp()
        });
        let all: f64 = ways.sum();
        assert!((all - 1.0).abs() < 1e-12, "{all}");
    }

    #[test]
    fn the_more_pairs_the_more_meetings_it_takes() {
        assert_eq!([1, 6, 28, 1225].map(meetings_needed), [7, 10, 12, 18]);
    }
}
