//! Whole leagues, many times: who ends up in which place?

use crate::blocks::Run;
use crate::ending::{Ending, Tally};
use crate::entrant::Entrant;
use crate::pitch::Pitch;
use crate::seeds::{Purpose, stream};
use matchday_core::entropy::Entropy;
use matchday_core::game::{GameEntry, Seat};
use matchday_core::league::schedule::round_robin;
use matchday_core::league::standings::{self, Game, Verdict};
use matchday_core::league::{Settings, TieBreak};
use matchday_core::protocol::PlayerId;
use std::ops::ControlFlow;

/// What is to be played.
#[derive(Debug, Clone, Copy)]
pub struct Leagues<'a> {
    pub game: &'static GameEntry,
    pub entrants: &'a [Entrant],
    pub leagues: u64,
    pub seed: u64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seasons {
    pub leagues: u64,
    pub matches: u64,
    /// For each entrant, how often it came in first, second and so on.
    pub places: Vec<Vec<u64>>,
    /// For each entrant, all of its matches; the other side is everyone else.
    pub tallies: Vec<Tally>,
}

/// How many quick leagues are one piece of work.
const QUICK_LEAGUES: u64 = 64;

impl Seasons {
    fn none(entrants: usize) -> Self {
        let places = vec![vec![0; entrants]; entrants];
        Self { leagues: 0, matches: 0, places, tallies: vec![Tally::default(); entrants] }
    }

    fn add(&mut self, other: &Self) {
        self.leagues += other.leagues;
        self.matches += other.matches;
        for (mine, theirs) in self.places.iter_mut().zip(&other.places) {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
        }
        self.tallies.iter_mut().zip(&other.tallies).for_each(|(mine, theirs)| mine.add(theirs));
    }
}

/// What all leagues have in common.
struct Programme {
    ids: Vec<PlayerId>,
    /// Who meets whom, by place, in the order of the rounds.
    meetings: Vec<(usize, usize)>,
    tie_breaks: Vec<TieBreak>,
}

impl Programme {
    fn of(players: usize) -> Self {
        let ids: Vec<PlayerId> = (1..).map(PlayerId::numbered).take(players).collect();
        let place = |id: &PlayerId| ids.binary_search(id).unwrap_or(0);
        let rounds = round_robin(&ids);
        let pairs = rounds.iter().flat_map(|round| &round.pairs);
        let meetings = pairs.map(|(a, b)| (place(a), place(b))).collect();
        Self { meetings, tie_breaks: Settings::default().tie_breaks, ids }
    }
}

impl Leagues<'_> {
    /// How many matches one league has.
    pub fn matches_each(&self) -> u64 {
        Programme::of(self.entrants.len()).meetings.len() as u64
    }

    /// Plays, and shows what there is after each block until `watch` breaks.
    pub fn play(&self, run: &Run<'_>, mut watch: impl FnMut(&Seasons) -> ControlFlow<()>) -> Seasons {
        let programme = Programme::of(self.entrants.len());
        let pitch = || Pitch::new(self.game, self.entrants.iter(), stream(self.seed, Purpose::League, 0));
        let together = if pitch().is_quick() { QUICK_LEAGUES } else { 1 };
        let work = |block: u64| {
            let mut pitch = pitch();
            let mut seasons = Seasons::none(self.entrants.len());
            for league in block * together..((block + 1) * together).min(self.leagues) {
                self.league(run, &programme, &mut pitch, league, &mut seasons);
            }
            seasons
        };
        let mut all = Seasons::none(self.entrants.len());
        run.in_order(self.leagues.div_ceil(together), work, |seasons| {
            all.add(&seasons);
            watch(&all)
        });
        all
    }

    /// One league. If it is stopped half way it does not count.
    fn league(
        &self,
        run: &Run<'_>,
        programme: &Programme,
        pitch: &mut Pitch<'_>,
        number: u64,
        seasons: &mut Seasons,
    ) {
        let mut chance = stream(self.seed, Purpose::League, number);
        // Which entrant has which place in the list: where nothing else decides, the table goes by that.
        let seated = shuffled(self.entrants.len(), &mut chance);
        let who = |place: usize| seated.get(place).copied().unwrap_or(place);
        pitch.begin(chance);
        let mut tallies = vec![Tally::default(); self.entrants.len()];
        let mut games = Vec::with_capacity(programme.meetings.len());
        for &(a, b) in &programme.meetings {
            if run.is_stopped() {
                return;
            }
            let ending = pitch.play(who(a), who(b));
            for (place, seat) in [(a, Seat::A), (b, Seat::B)] {
                tallies.get_mut(who(place)).into_iter().for_each(|tally| tally.count(ending, seat));
            }
            games.push(game(a, b, ending));
        }
        seasons.leagues += 1;
        seasons.matches += games.len() as u64;
        seasons.tallies.iter_mut().zip(&tallies).for_each(|(all, tally)| all.add(tally));
        let ids: Vec<&PlayerId> = programme.ids.iter().collect();
        for (rank, row) in standings::rank(&ids, games, &programme.tie_breaks).iter().enumerate() {
            let place = seasons.places.get_mut(who(row.player)).and_then(|places| places.get_mut(rank));
            place.into_iter().for_each(|count| *count += 1);
        }
    }
}

fn game(a: usize, b: usize, ending: Ending) -> Game {
    let verdict = match ending.winner() {
        Some(Seat::A) => Verdict::WonByA,
        Some(Seat::B) => Verdict::WonByB,
        None if ending == Ending::Drawn => Verdict::Drawn,
        None => Verdict::LostByBoth,
    };
    Game { a, b, verdict, technical: matches!(ending, Ending::Forfeited(_) | Ending::ForfeitedByBoth) }
}

/// The numbers below `count` in an order that is drawn: Fisher and Yates.
fn shuffled(count: usize, entropy: &mut Entropy) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let other = usize::try_from(entropy.below(last as u64 + 1)).unwrap_or(last);
        order.swap(last, other);
    }
    order
}
