//! Tests the fast engines against the core: with the same entropy both must give the same result in every match, and the
//! engine for even/odd must make the same calls as the real agents in a league.

use crate::any_game::Players;
use crate::ending::Ending;
use crate::entrant::Entrant;
use crate::even_odd::{Chance, FastPlayers, judge};
use crate::openings;
use matchday_benchmark_league::BenchmarkLeague;
use matchday_core::entropy::Entropy;
use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::game::{self, GameEntry, Seat, strategy};
use matchday_core::protocol::messages::{GameDetails, GameOver, Parity};
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, Body, GameType, LeagueId, MatchId, PlayerId, RoundId};
use std::collections::{BTreeMap, BTreeSet};

fn even_odd() -> &'static GameEntry {
    game::find(&GameType::new("even_odd")).unwrap()
}

fn every_strategy() -> Vec<Entrant> {
    strategy::of(even_odd()).map(Entrant::built_in).collect()
}

/// Draws from the entropy in the same order as the core.
struct Core {
    entropy: Entropy,
    match_id: MatchId,
    seats: [PlayerId; 2],
}

impl Chance for Core {
    fn call(&mut self) -> Parity {
        if self.entropy.below(2) == 0 { Parity::Even } else { Parity::Odd }
    }

    fn draw(&mut self) -> Parity {
        let secret = Secret::draw(&mut self.entropy);
        let [a, b] = self.seats.each_ref().map(Nonce::absent);
        let (league_id, match_id) = (&LeagueId::new(""), &self.match_id);
        let draw = MatchDraw { league_id, match_id, attempt: Attempt::FIRST };
        let mut dice = draw.dice(&secret, [&a, &b]);
        Parity::of(u8::try_from(dice.uniform(1..=10)).unwrap())
    }
}

fn agree_on(first: &Entrant, second: &Entrant, matches: u32) {
    let pair = [first, second];
    let mut fast = FastPlayers::of(pair.into_iter()).unwrap();
    let mut whole = Players::new(even_odd(), None, pair.into_iter());
    let mut entropy = Entropy::numbered(u64::from(matches));
    let mut chance =
        Core { entropy: entropy.clone(), match_id: MatchId::new(""), seats: [1, 2].map(PlayerId::numbered) };
    for number in 0..matches {
        let (a, b) = if number % 2 == 0 { (0, 1) } else { (1, 0) };
        chance.match_id = MatchId::numbered(RoundId(number + 1), 1);
        chance.seats = [a, b].map(|place: usize| PlayerId::numbered(u32::try_from(place).unwrap() + 1));
        let expected = whole.play(a, b, &mut entropy);
        let names = (&first.name, &second.name);
        assert_eq!(fast.play(a, b, &mut chance), expected.ending, "match {number} of {names:?}");
    }
    assert_eq!(chance.entropy.next_u64(), entropy.next_u64(), "both ways take as much entropy");
}

#[test]
fn every_pair_of_strategies_ends_every_match_as_by_the_rules_of_the_core() {
    let entrants = every_strategy();
    for first in &entrants {
        for second in &entrants {
            agree_on(first, second, 60);
        }
    }
}

/// By the fast engine of a game and by the core's rules and strategies, with the same entropy: the same results, totals
/// and amount of entropy in every match, and the same number of different games.
fn agree_on_game(game: &'static GameEntry, pair: [&'static str; 2], opening: &[u32], matches: u32) {
    let entrants = pair.map(|name| Entrant::built_in(strategy::named(name).unwrap()));
    let mut fast = game.fast.unwrap()(&pair);
    let mut whole = Players::new(game, None, entrants.iter());
    fast.open(opening);
    whole.open(opening);
    let (mut entropy, mut same) = (Entropy::numbered(1), Entropy::numbered(1));
    let mut different = [BTreeSet::new(), BTreeSet::new()];
    for number in 0..matches {
        let (a, b) = if number % 2 == 0 { (0, 1) } else { (1, 0) };
        let (found, expected) = (fast.play(a, b, &mut entropy), whole.play(a, b, &mut same));
        let what = format!("match {number} of {pair:?} from {opening:?} in {}", game.name);
        assert_eq!(Ending::from(found.outcome), expected.ending, "{what}");
        assert_eq!(found.totals, expected.totals, "{what}");
        different[0].insert(found.moves);
        different[1].insert(expected.moves.unwrap());
    }
    assert_eq!(entropy.next_u64(), same.next_u64(), "{pair:?} in {} take as much entropy", game.name);
    assert_eq!(different[0].len(), different[1].len(), "{pair:?} in {}", game.name);
}

#[test]
fn every_pair_of_every_game_ends_every_match_as_by_the_rules_of_the_core() {
    for game in game::GAMES.iter().filter(|game| game.name != "even_odd") {
        for first in strategy::of(game) {
            for second in strategy::of(game) {
                let matches = if first.name == "lookahead" { 4 } else { 40 };
                agree_on_game(game, [first.name, second.name], &[], matches);
            }
        }
    }
}

#[test]
fn matches_go_on_from_an_opening_as_by_the_rules_of_the_core() {
    for game in game::GAMES.iter().filter(|game| game.name != "even_odd") {
        let last = strategy::of(game).last().unwrap().name;
        for opening in openings::random(game, 5, 2, 3).unwrap() {
            agree_on_game(game, ["random", last], &opening, 6);
        }
    }
}

#[test]
fn what_a_player_no_longer_remembers_is_forgotten_both_ways() {
    let entrants = every_strategy();
    let named = |name: &str| entrants.iter().find(|entrant| entrant.name == name).unwrap();
    agree_on(named("pattern"), named("frequency"), 2_300);
}

#[test]
fn players_who_begin_anew_play_as_they_did_at_first() {
    let entrants = every_strategy();
    let mut fast = FastPlayers::of(entrants.iter()).unwrap();
    let mut season = || {
        fast.forget();
        let mut coins = crate::even_odd::Coins::new(Entropy::numbered(7));
        let meetings = (0..entrants.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        meetings.cycle().take(500).map(|(a, b)| fast.play(a, b, &mut coins)).collect::<Vec<Ending>>()
    };
    assert_eq!(season(), season());
}

/// Plays a league of real agents. Returns GAME_OVER of every match.
fn told_by_the_machines(players: u32) -> BTreeMap<MatchId, GameOver> {
    let mut told = BTreeMap::new();
    BenchmarkLeague::gather(players, 2).unwrap().play_showing(|said| {
        if let Body::GameOver(over) = &said.message.body {
            told.insert(over.match_id.clone(), GameOver::clone(over));
        }
    });
    told
}

#[test]
fn a_league_of_the_real_machines_is_told_call_by_call() {
    let players = 24;
    let told = told_by_the_machines(players);
    assert_eq!(told.len(), 24 * 23 / 2);
    // The league deals the strategies to the players in turn, beginning with the second.
    let strategies: Vec<_> = strategy::of(even_odd()).collect();
    let entrants: Vec<Entrant> = (1..=players)
        .map(|number| Entrant::built_in(strategies[number as usize % strategies.len()]))
        .collect();
    let mut players = FastPlayers::of(entrants.iter()).unwrap();
    let (mut preferences, mut in_order) = (0, told.values().collect::<Vec<_>>());
    in_order.sort_by_key(|over| over.round_id);
    for over in in_order {
        let GameDetails::Parity(details) = &over.game_result.details else { panic!("{over:?}") };
        let calls: Vec<(&PlayerId, Parity)> =
            details.choices.iter().map(|(id, call)| (id, call.unwrap())).collect();
        let place = |id: &PlayerId| id.as_str()[1..].parse::<usize>().unwrap() - 1;
        let [(id_a, call_a), (id_b, call_b)] = calls[..] else { panic!("{calls:?}") };
        let (a, b) = (place(id_a), place(id_b));
        for (player, opponent, made) in [(a, b, call_a), (b, a, call_b)] {
            let preference = players.preference(player, opponent);
            preferences += usize::from(preference.is_some());
            assert!(
                preference.is_none_or(|call| call == made),
                "{} in {}",
                entrants[player].name,
                over.match_id
            );
        }
        let drawn = details.number_parity.unwrap();
        let winner = match judge([call_a, call_b], drawn) {
            Ending::Won(seat) => Some(*seat.of(&[id_a, id_b])),
            _ => None,
        };
        assert_eq!(winner, over.game_result.winner_player_id.as_ref(), "{}", over.match_id);
        players.remember([a, b], [call_a, call_b], drawn);
    }
    assert!(preferences > 300, "only {preferences} calls were not left to chance");
}

#[test]
fn coins_fall_either_way_as_often_as_numbers_do() {
    let entrants = every_strategy();
    let random = entrants.iter().find(|entrant| entrant.name == "random").unwrap();
    let matches = 20_000_u32;
    let share = |endings: Vec<Ending>, wanted: Ending| {
        endings.iter().filter(|ending| **ending == wanted).count() as f64 / f64::from(matches)
    };
    let mut players = FastPlayers::of([random, random].into_iter()).unwrap();
    let mut coins = crate::even_odd::Coins::new(Entropy::numbered(1));
    let fast: Vec<Ending> = (0..matches).map(|_| players.play(0, 1, &mut coins)).collect();
    let mut players = Players::new(even_odd(), None, [random, random].into_iter());
    let mut entropy = Entropy::numbered(2);
    let whole: Vec<Ending> = (0..matches).map(|_| players.play(0, 1, &mut entropy).ending).collect();
    for (wanted, expected) in
        [(Ending::Drawn, 0.5), (Ending::Won(Seat::A), 0.25), (Ending::Won(Seat::B), 0.25)]
    {
        // Five standard deviations of a share.
        for share in [share(fast.clone(), wanted), share(whole.clone(), wanted)] {
            assert!((share - expected).abs() < 5.0 * 0.5 / f64::from(matches).sqrt(), "{wanted:?}: {share}");
        }
    }
}
