//! Repeats whole leagues, and counts how often each entrant reaches each rank.

use crate::ending::{Ending, Meeting, Tally};
use crate::engine::Engine;
use crate::entrant::{Entrant, ExternalRules};
use crate::match_row::Row;
use crate::parallel::Run;
use crate::seeds::{Purpose, stream};
use matchday_core::entropy::Entropy;
use matchday_core::game::{GameEntry, Seat};
use matchday_core::league::format::{Competition, Draw, Impossible, Seeding};
use matchday_core::league::standings::{self, Basis, IndexedMatch, PAYOFF, Verdict};
use matchday_core::league::{LeagueSettings, TieBreak};
use matchday_core::protocol::PlayerId;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

#[derive(Debug, Clone, Copy)]
pub struct Leagues<'a> {
    pub game: &'static GameEntry,
    pub entrants: &'a [Entrant],
    /// Of a game whose rules are in an external program.
    pub rules: Option<&'a dyn ExternalRules>,
    pub competition: &'a Competition,
    pub leagues: u64,
    pub seed: u64,
    /// Whether what happened in each match is shown, too.
    pub records: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seasons {
    pub leagues: u64,
    pub matches: u64,
    /// For each entrant, how often it reached each rank, best first.
    pub places: Vec<Vec<u64>>,
    /// For each entrant, the results of all its matches.
    pub tallies: Vec<Tally>,
}

/// How many fast leagues make a block.
const FAST_LEAGUES: u64 = 64;

impl Seasons {
    pub fn none(entrants: usize) -> Self {
        let places = vec![vec![0; entrants]; entrants];
        Self {
            leagues: 0,
            matches: 0,
            places,
            tallies: vec![Tally::default(); entrants],
        }
    }

    fn add(&mut self, other: &Self) {
        self.leagues += other.leagues;
        self.matches += other.matches;
        for (mine, theirs) in self.places.iter_mut().zip(&other.places) {
            mine.iter_mut()
                .zip(theirs)
                .for_each(|(mine, theirs)| *mine += theirs);
        }
        self.tallies
            .iter_mut()
            .zip(&other.tallies)
            .for_each(|(mine, theirs)| mine.add(theirs));
    }
}

/// What all leagues share.
struct LeagueFormat {
    /// What a bye pays, if the table goes by payoffs.
    walkover: Option<u32>,
    ids: Vec<PlayerId>,
    tie_breaks: Vec<TieBreak>,
    /// The pairings in order, by index, if the format fixes them in advance.
    meetings: Option<Vec<(usize, usize)>>,
}

impl LeagueFormat {
    fn of(game: &GameEntry, competition: &Competition, players: usize) -> Result<Self, Impossible> {
        let ids: Vec<PlayerId> = (1..).map(PlayerId::numbered).take(players).collect();
        let tie_breaks = LeagueSettings::default().tie_breaks;
        let draw = Draw::begin(competition, &ids, &tie_breaks, 0)?;
        // A random seeding changes the pairings in every league.
        let fixed = competition.format.is_fixed() && competition.seeding == Seeding::Registration;
        let meetings = fixed.then(|| {
            let pairs = draw
                .next(&[], &BTreeSet::new())
                .into_iter()
                .flat_map(|round| round.pairs);
            pairs
                .map(|(a, b)| (place(&ids, &a), place(&ids, &b)))
                .collect()
        });
        let payoff = game.payoff.filter(|payoff| payoff.ranks);
        Ok(Self {
            walkover: payoff.map(|payoff| payoff.walkover),
            ids,
            tie_breaks,
            meetings,
        })
    }
}

/// The index of a player; the ids are sorted.
fn place(ids: &[PlayerId], id: &PlayerId) -> usize {
    ids.binary_search(id).unwrap_or(0)
}

struct Season<'a, 'p> {
    run: &'a Run<'a>,
    format: &'a LeagueFormat,
    engine: &'a mut Engine<'p>,
    /// Maps positions in the draw to entrants.
    seated: Vec<usize>,
    tallies: Vec<Tally>,
    /// What each place has been paid.
    payoffs: Vec<i64>,
    games: Vec<IndexedMatch>,
    /// If matches are recorded.
    recorded: Option<Vec<Meeting>>,
}

impl Season<'_, '_> {
    fn who(&self, place: usize) -> usize {
        self.seated.get(place).copied().unwrap_or(place)
    }

    /// `None` if the run was stopped.
    fn meet(&mut self, a: usize, b: usize) -> Option<Verdict> {
        if self.run.is_stopped() {
            return None;
        }
        let players = [a, b].map(|place| self.who(place));
        let played = self.engine.play(self.who(a), self.who(b));
        if self.run.is_stopped() {
            return None;
        }
        let is_paid = self.format.walkover.is_some() && played.ending != Ending::NotPlayed;
        let payoffs = played.payoffs.filter(|_| is_paid);
        for (place, seat) in [(a, Seat::A), (b, Seat::B)] {
            let who = self.who(place);
            let Some((tally, total)) = self.tallies.get_mut(who).zip(self.payoffs.get_mut(place))
            else {
                continue;
            };
            tally.count(played.ending, seat);
            if let Some(payoffs) = payoffs {
                tally.pay(payoffs, seat);
                *total += i64::from(*seat.of(&payoffs));
            }
        }
        let game = game(a, b, played.ending);
        self.games.push(game);
        if let Some(recorded) = &mut self.recorded {
            recorded.push(Meeting { players, played });
        }
        Some(game.verdict)
    }

    /// The positions by rank.
    fn ranked(self, mut basis: Basis) -> Vec<usize> {
        let ids: Vec<&PlayerId> = self.format.ids.iter().collect();
        if let Some(walkover) = self.format.walkover {
            let byes = basis.byes.iter().copied().chain(std::iter::repeat(0));
            let payoffs = self.payoffs.iter().zip(byes);
            let payoffs = payoffs.map(|(payoff, byes)| payoff + i64::from(byes * walkover));
            basis.levels.push((PAYOFF, payoffs.collect()));
        }
        let table = standings::rank_by(&ids, self.games, &self.format.tie_breaks, &basis);
        table.iter().map(|row| row.player).collect()
    }

    /// Plays a league with fixed pairings.
    fn play_fixed(&mut self, meetings: &[(usize, usize)]) -> Option<Basis> {
        for &(a, b) in meetings {
            self.meet(a, b)?;
        }
        Some(Basis::default())
    }

    /// Plays a league whose rounds depend on earlier results.
    fn play_drawn(&mut self, draw: &Draw) -> Option<Basis> {
        let ids = &self.format.ids;
        let course = draw.play_out(|a, b| self.meet(place(ids, a), place(ids, b)))?;
        let ids: Vec<&PlayerId> = ids.iter().collect();
        Some(draw.basis(&ids, &course.played()))
    }
}

impl Leagues<'_> {
    /// Plays, and reports the results after each block until `watch` breaks, with the block's matches if they are
    /// recorded. Fails if the format does not allow so many players.
    pub fn play(
        &self,
        run: &Run<'_>,
        mut watch: impl FnMut(&Seasons, Vec<Row>) -> ControlFlow<()>,
    ) -> Result<Seasons, Impossible> {
        let format = LeagueFormat::of(self.game, self.competition, self.entrants.len())?;
        let together = if self.engine().is_fast() {
            FAST_LEAGUES
        } else {
            1
        };
        let work = |block: u64| {
            let mut engine = self.engine();
            let mut seasons = Seasons::none(self.entrants.len());
            let mut rows = Vec::new();
            for league in block * together..((block + 1) * together).min(self.leagues) {
                rows.extend(self.league(run, &format, &mut engine, league, &mut seasons));
            }
            (seasons, rows)
        };
        let mut all = Seasons::none(self.entrants.len());
        let wide = || self.entrants.iter().any(Entrant::takes_batches);
        let blocks = self.leagues.div_ceil(together);
        run.in_order(blocks, wide, work, |(seasons, rows)| {
            all.add(&seasons);
            watch(&all, rows)
        });
        Ok(all)
    }

    /// Plays the league of this number. Fails if the format does not allow so many players.
    pub fn play_one(&self, run: &Run<'_>, number: u64) -> Result<Vec<Row>, Impossible> {
        let format = LeagueFormat::of(self.game, self.competition, self.entrants.len())?;
        let mut season = Seasons::none(self.entrants.len());
        Ok(self.league(run, &format, &mut self.engine(), number, &mut season))
    }

    fn engine(&self) -> Engine<'_> {
        Engine::new(self.game, self.rules, self.entrants.iter(), self.records)
    }

    /// Plays one league, and gives its matches if they are recorded. If it is stopped it does not count.
    fn league(
        &self,
        run: &Run<'_>,
        format: &LeagueFormat,
        engine: &mut Engine<'_>,
        number: u64,
        seasons: &mut Seasons,
    ) -> Vec<Row> {
        let mut chance = stream(self.seed, Purpose::League, number);
        // Positions are shuffled, because the last tie-break and the seeding favour earlier ones.
        let seated = shuffled(self.entrants.len(), &mut chance);
        let seed = chance.next_u64();
        engine.begin(chance);
        let mut season = Season {
            run,
            format,
            engine,
            seated,
            tallies: vec![Tally::default(); self.entrants.len()],
            payoffs: vec![0; self.entrants.len()],
            games: Vec::new(),
            recorded: self.records.then(Vec::new),
        };
        let basis = match &format.meetings {
            Some(meetings) => season.play_fixed(meetings),
            None => Draw::begin(self.competition, &format.ids, &format.tie_breaks, seed)
                .ok()
                .and_then(|draw| season.play_drawn(&draw)),
        };
        let Some(basis) = basis else {
            return Vec::new();
        };
        seasons.leagues += 1;
        seasons.matches += season.games.len() as u64;
        seasons
            .tallies
            .iter_mut()
            .zip(&season.tallies)
            .for_each(|(all, tally)| all.add_series(tally));
        let recorded = season.recorded.take().unwrap_or_default();
        let seated = season.seated.clone();
        let mut ranks = vec![None; self.entrants.len()];
        for (rank, player) in (1..).zip(season.ranked(basis)) {
            let who = seated.get(player).copied().unwrap_or(player);
            let places = seasons.places.get_mut(who);
            places
                .and_then(|places| places.get_mut(rank - 1))
                .into_iter()
                .for_each(|count| *count += 1);
            if let Some(own) = ranks.get_mut(who) {
                *own = u32::try_from(rank).ok();
            }
        }
        let row = |(place, meeting): (u64, Meeting)| {
            let [a, b] = meeting
                .players
                .map(|player| ranks.get(player).copied().flatten());
            Row {
                ranks: a.zip(b).map(|(a, b)| [a, b]),
                ..Row::of(number, place, meeting.players, meeting.played)
            }
        };
        (1..).zip(recorded).map(row).collect()
    }
}

fn game(a: usize, b: usize, ending: Ending) -> IndexedMatch {
    let verdict = match ending.winner() {
        Some(Seat::A) => Verdict::WonByA,
        Some(Seat::B) => Verdict::WonByB,
        // The round has to go on: a match that was not played is a draw for the table, and counts nowhere else.
        None if matches!(ending, Ending::Drawn | Ending::NotPlayed) => Verdict::Drawn,
        None => Verdict::LostByBoth,
    };
    IndexedMatch {
        a,
        b,
        verdict,
        technical: matches!(ending, Ending::Forfeited(_) | Ending::ForfeitedByBoth),
    }
}

/// Fisher-Yates shuffle of the numbers below `count`.
fn shuffled(count: usize, entropy: &mut Entropy) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        let other = usize::try_from(entropy.below(last as u64 + 1)).unwrap_or(last);
        order.swap(last, other);
    }
    order
}
