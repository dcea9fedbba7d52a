//! Whole leagues, many times: who ends up in which place?

use crate::blocks::Run;
use crate::ending::{Ending, Tally};
use crate::entrant::Entrant;
use crate::pitch::Pitch;
use crate::seeds::{Purpose, stream};
use matchday_core::entropy::Entropy;
use matchday_core::game::{GameEntry, Seat};
use matchday_core::league::format::{Competition, Draw, Drawn, Impossible, Played, Seeding};
use matchday_core::league::standings::{self, Game, Verdict};
use matchday_core::league::{Settings, TieBreak};
use matchday_core::protocol::PlayerId;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// What is to be played.
#[derive(Debug, Clone, Copy)]
pub struct Leagues<'a> {
    pub game: &'static GameEntry,
    pub entrants: &'a [Entrant],
    pub competition: &'a Competition,
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
    /// Before the first league.
    pub fn none(entrants: usize) -> Self {
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
    tie_breaks: Vec<TieBreak>,
    /// Who meets whom, by place, in the order of the rounds; of a format whose rounds all are known when it begins.
    meetings: Option<Vec<(usize, usize)>>,
}

impl Programme {
    fn of(competition: &Competition, players: usize) -> Result<Self, Impossible> {
        let ids: Vec<PlayerId> = (1..).map(PlayerId::numbered).take(players).collect();
        let tie_breaks = Settings::default().tie_breaks;
        let draw = Draw::begin(competition, &ids, &tie_breaks, 0)?;
        // Places that are drawn anew would change the rounds too, and these are made once for all.
        let fixed = competition.format.is_fixed() && competition.seeding == Seeding::Registration;
        let meetings = fixed.then(|| {
            let pairs = draw.next(&[], &BTreeSet::new()).into_iter().flat_map(|round| round.pairs);
            pairs.map(|(a, b)| (place(&ids, &a), place(&ids, &b))).collect()
        });
        Ok(Self { ids, tie_breaks, meetings })
    }
}

/// Where a player stands among the ids, which are in order.
fn place(ids: &[PlayerId], id: &PlayerId) -> usize {
    ids.binary_search(id).unwrap_or(0)
}

/// One league as it is played.
struct Season<'a, 'p> {
    run: &'a Run<'a>,
    programme: &'a Programme,
    pitch: &'a mut Pitch<'p>,
    /// Which entrant has which place in the list.
    seated: Vec<usize>,
    tallies: Vec<Tally>,
    matches: u64,
}

impl Season<'_, '_> {
    fn who(&self, place: usize) -> usize {
        self.seated.get(place).copied().unwrap_or(place)
    }

    /// `None` if it is to stop.
    fn meet(&mut self, a: usize, b: usize) -> Option<Game> {
        if self.run.is_stopped() {
            return None;
        }
        let ending = self.pitch.play(self.who(a), self.who(b));
        for (place, seat) in [(a, Seat::A), (b, Seat::B)] {
            let who = self.who(place);
            self.tallies.get_mut(who).into_iter().for_each(|tally| tally.count(ending, seat));
        }
        self.matches += 1;
        Some(game(a, b, ending))
    }

    /// Everyone's place in the list, the champion's first, when all rounds were known beforehand.
    fn play_fixed(&mut self, meetings: &[(usize, usize)]) -> Option<Vec<usize>> {
        let games: Option<Vec<Game>> = meetings.iter().map(|&(a, b)| self.meet(a, b)).collect();
        let ids: Vec<&PlayerId> = self.programme.ids.iter().collect();
        let table = standings::rank(&ids, games?, &self.programme.tie_breaks);
        Some(table.iter().map(|row| row.player).collect())
    }

    /// The same, with rounds that follow from the results of those before.
    fn play_drawn(&mut self, draw: &Draw) -> Option<Vec<usize>> {
        let (ids, nobody) = (&self.programme.ids, BTreeSet::new());
        let mut rounds: Vec<(Drawn, Vec<Option<Verdict>>)> = Vec::new();
        loop {
            let next = draw.next(&told(&rounds), &nobody);
            if next.is_empty() {
                break;
            }
            for round in next {
                let meetings = round.pairs.iter().map(|(a, b)| (place(ids, a), place(ids, b)));
                let verdicts: Option<Vec<_>> =
                    meetings.map(|(a, b)| Some(Some(self.meet(a, b)?.verdict))).collect();
                rounds.push((round, verdicts?));
            }
        }
        Some(draw.table(&told(&rounds)).iter().map(|row| place(ids, &row.player)).collect())
    }
}

fn told(rounds: &[(Drawn, Vec<Option<Verdict>>)]) -> Vec<Played<'_>> {
    rounds.iter().map(|(drawn, verdicts)| Played { drawn, verdicts: verdicts.clone() }).collect()
}

impl Leagues<'_> {
    /// Plays, and shows what there is after each block until `watch` breaks. Fails if so many cannot play such a league.
    pub fn play(
        &self,
        run: &Run<'_>,
        mut watch: impl FnMut(&Seasons) -> ControlFlow<()>,
    ) -> Result<Seasons, Impossible> {
        let programme = Programme::of(self.competition, self.entrants.len())?;
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
        Ok(all)
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
        // Whoever has the better place is ahead where nothing else decides, and may be seeded higher.
        let seated = shuffled(self.entrants.len(), &mut chance);
        let seed = chance.next_u64();
        pitch.begin(chance);
        let tallies = vec![Tally::default(); self.entrants.len()];
        let mut season = Season { run, programme, pitch, seated, tallies, matches: 0 };
        let order = match &programme.meetings {
            Some(meetings) => season.play_fixed(meetings),
            None => Draw::begin(self.competition, &programme.ids, &programme.tie_breaks, seed)
                .ok()
                .and_then(|draw| season.play_drawn(&draw)),
        };
        let Some(order) = order else { return };
        seasons.leagues += 1;
        seasons.matches += season.matches;
        seasons.tallies.iter_mut().zip(&season.tallies).for_each(|(all, tally)| all.add_series(tally));
        for (rank, &player) in order.iter().enumerate() {
            let places = seasons.places.get_mut(season.who(player));
            places.and_then(|places| places.get_mut(rank)).into_iter().for_each(|count| *count += 1);
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
