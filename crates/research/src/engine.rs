//! Plays matches of built-in strategies with the core's fast engine, and others turn by turn in JSON.

use crate::any_game::Players;
use crate::ending::{Ending, Played};
use crate::entrant::{Entrant, ExternalRules, StrategySource};
use crate::game_log::GameLog;
use matchday_core::entropy::Entropy;
use matchday_core::game::fast::FastPlayers;
use matchday_core::game::{GameEntry, Payoff, Seat};

#[derive(Debug)]
pub(crate) struct Engine<'a> {
    payoff: Option<Payoff>,
    /// Whether it is written down what happens in a match.
    records: bool,
    players: AnyPlayers<'a>,
    entropy: Entropy,
}

#[derive(Debug)]
enum AnyPlayers<'a> {
    Fast(Box<dyn FastPlayers>),
    Json(Players<'a>),
}

impl<'a> Engine<'a> {
    pub(crate) fn new(
        game: &'static GameEntry,
        rules: Option<&'a dyn ExternalRules>,
        entrants: impl Iterator<Item = &'a Entrant> + Clone,
        records: bool,
    ) -> Self {
        let names: Option<Vec<&str>> = entrants.clone().map(built_in).collect();
        let players = match (game.built_in, names) {
            (Some(built_in), Some(names)) => AnyPlayers::Fast((built_in.players)(&names)),
            _ => AnyPlayers::Json(Players::new(game, rules, entrants)),
        };
        Self {
            payoff: game.payoff,
            records,
            players,
            entropy: Entropy::numbered(0),
        }
    }

    /// Everyone forgets, and entropy is replaced.
    pub(crate) fn begin(&mut self, entropy: Entropy) {
        self.entropy = entropy;
        match &mut self.players {
            AnyPlayers::Fast(players) => players.forget(),
            AnyPlayers::Json(players) => players.forget(),
        }
    }

    /// Every match begins with this opening, until this is called again.
    pub(crate) fn open(&mut self, opening: &[u32]) {
        match &mut self.players {
            AnyPlayers::Fast(players) => players.open(opening),
            AnyPlayers::Json(players) => players.open(opening),
        }
    }

    /// Whether a match takes microseconds at most.
    pub(crate) fn is_fast(&self) -> bool {
        matches!(self.players, AnyPlayers::Fast(_))
    }

    #[inline]
    pub(crate) fn play(&mut self, a: usize, b: usize) -> Played {
        match &mut self.players {
            AnyPlayers::Fast(players) => {
                let (played, log) = if self.records {
                    let (played, plies) = players.play_recorded(a, b, &mut self.entropy);
                    (played, Some(GameLog::of(&plies)))
                } else {
                    (players.play(a, b, &mut self.entropy), None)
                };
                Played {
                    ending: played.outcome.into(),
                    payoffs: played.totals,
                    moves: played.moves,
                    failures: [None; 2],
                    voided: 0,
                    log,
                }
            }
            AnyPlayers::Json(players) => {
                let played = players.play(a, b, &mut self.entropy);
                let payoffs = self.payoff.zip(played.payoffs);
                let payoffs = payoffs.map(|(payoff, totals)| paid(payoff, played.ending, totals));
                Played { payoffs, ..played }
            }
        }
    }
}

/// What a match pays, as leagues have it: who forfeits gets nothing, and the other one a walkover.
fn paid(payoff: Payoff, ending: Ending, totals: [u32; 2]) -> [u32; 2] {
    match ending {
        Ending::Won(_) | Ending::Drawn => totals,
        Ending::Forfeited(Seat::A) => [0, payoff.walkover],
        Ending::Forfeited(Seat::B) => [payoff.walkover, 0],
        Ending::ForfeitedByBoth | Ending::NotPlayed => [0, 0],
    }
}

fn built_in(entrant: &Entrant) -> Option<&'static str> {
    match &entrant.strategy {
        StrategySource::BuiltIn(entry) => Some(entry.name),
        StrategySource::External(_) => None,
    }
}
