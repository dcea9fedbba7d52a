//! A match as a line of a table, written and read back: the matches of an experiment or a simulation. Pure.

use crate::ending::{Ending, Played};
use crate::game_log::{self, GameLog};
use matchday_core::game::{Outcome, Seat};
use matchday_runtime::decider::FailureKind;

pub(crate) const HEADER: &str = "game,format,seed,repetition,match,a,b,result,forfeit_a,forfeit_b,voided,payoff_a,payoff_b,\
    rank_a,rank_b,check,moves";

/// The format in which every pair meets, beside those of leagues.
pub(crate) const DUELS: &str = "duels";

/// How forfeits are written.
const FAILURES: [(FailureKind, &str); 5] = [
    (FailureKind::Illegal, "illegal"),
    (FailureKind::Unreadable, "unreadable"),
    (FailureKind::Late, "late"),
    (FailureKind::Refused, "refused"),
    (FailureKind::Server, "server"),
];
/// Of a game whose rules failed.
const BY_RULES: &str = "rules";

/// A hash of all rows so far. Each row holds it, so that one that was changed is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Check(u64);

impl Check {
    pub(crate) const FIRST: Self = Self(0xCBF2_9CE4_8422_2325);

    fn after(self, row: &str) -> Self {
        Self(game_log::hash(self.0, row.as_bytes()))
    }
}

/// What the rows of a cell of a plan, or of a simulation, have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSource<'a> {
    pub(crate) game: &'a str,
    pub(crate) format: &'a str,
    pub(crate) seed: u64,
    /// Of the entrants.
    pub(crate) names: &'a [String],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Counted from 0, within the plan; a simulation has one.
    pub cell: usize,
    /// Counted from 0: the number of the series, or of the league.
    pub repetition: u64,
    /// Counted from 1, within the repetition.
    pub number: u64,
    /// The entrants in the seats A and B.
    pub players: [usize; 2],
    pub ending: Ending,
    /// What each scored within the match, or else league points.
    pub payoffs: [u32; 2],
    /// Of the league, once it was over.
    pub ranks: Option<[u32; 2]>,
    /// Why A and B forfeited, if they did.
    pub failures: [Option<FailureKind>; 2],
    /// How many attempts a model's server failed.
    pub voided: u32,
    pub log: GameLog,
}

/// League points of A and B.
fn points(ending: Ending) -> [u32; 2] {
    match ending.winner() {
        Some(Seat::A) => [3, 0],
        Some(Seat::B) => [0, 3],
        None if ending == Ending::Drawn => [1, 1],
        None => [0, 0],
    }
}

impl Row {
    pub(crate) fn of(repetition: u64, number: u64, players: [usize; 2], played: Played) -> Self {
        let payoffs = played.payoffs.unwrap_or_else(|| points(played.ending));
        Self {
            cell: 0,
            repetition,
            number,
            players,
            ending: played.ending,
            payoffs,
            ranks: None,
            failures: played.failures,
            voided: played.voided,
            log: played.log.unwrap_or_default(),
        }
    }

    /// The line and its check. `before` is the check of the row before.
    pub(crate) fn write(&self, source: RowSource<'_>, before: Check) -> (String, Check) {
        let name = |place: usize| source.names.get(place).map_or("", String::as_str);
        let ([a, b], [payoff_a, payoff_b]) = (self.players, self.payoffs);
        let result = match (self.ending, self.ending.winner()) {
            (_, Some(Seat::A)) => "a",
            (_, Some(Seat::B)) => "b",
            (Ending::Drawn, None) => "draw",
            (Ending::NotPlayed, None) => "not_played",
            (_, None) => "none",
        };
        let failed = |seat: Seat| match self.ending {
            Ending::Forfeited(of) => of == seat,
            Ending::ForfeitedByBoth => true,
            Ending::NotPlayed => *seat.of(&self.failures) == Some(FailureKind::Server),
            _ => false,
        };
        let why = |seat: Seat| {
            let kind = *seat.of(&self.failures);
            let known = FAILURES.iter().find(|(known, _)| Some(*known) == kind);
            let name = known.map_or(BY_RULES, |(_, name)| *name);
            if failed(seat) { name } else { "" }
        };
        let [rank_a, rank_b] = self
            .ranks
            .map_or_else(Default::default, |ranks| ranks.map(|rank| rank.to_string()));
        let start = format!(
            "{},{},{},{},{},{},{},{result},{},{},{},{payoff_a},{payoff_b},{rank_a},{rank_b}",
            source.game,
            source.format,
            source.seed,
            self.repetition + 1,
            self.number,
            name(a),
            name(b),
            why(Seat::A),
            why(Seat::B),
            self.voided,
        );
        let moves = quoted(self.log.as_str());
        let check = before.after(&start).after(&moves);
        (format!("{start},{:016x},{moves}\n", check.0), check)
    }

    /// `None` if it is no line of this plan. `from` is the cell of the line before: cells follow each other.
    pub(crate) fn read(
        line: &str,
        cells: &[RowSource<'_>],
        from: usize,
        before: Check,
    ) -> Option<(Self, Check)> {
        let fields: Vec<&str> = line.splitn(17, ',').collect();
        let &[
            game,
            format,
            seed,
            repetition,
            number,
            a,
            b,
            result,
            forfeit_a,
            forfeit_b,
            voided,
            payoff_a,
            payoff_b,
            rank_a,
            rank_b,
            _,
            moves,
        ] = fields.as_slice()
        else {
            return None;
        };
        let of_row = |cell: &RowSource<'_>| {
            cell.game == game && cell.format == format && seed.parse() == Ok(cell.seed)
        };
        let number_of_cell = from + cells.get(from..)?.iter().position(of_row)?;
        let cell = *cells.get(number_of_cell)?;
        let place = |name: &str| cell.names.iter().position(|known| known == name);
        let ending = match (result, forfeit_a.is_empty(), forfeit_b.is_empty()) {
            ("a", true, true) => Outcome::Win(Seat::A).into(),
            ("b", true, true) => Outcome::Win(Seat::B).into(),
            ("draw", true, true) => Ending::Drawn,
            ("not_played", ..) => Ending::NotPlayed,
            ("b", false, true) => Ending::Forfeited(Seat::A),
            ("a", true, false) => Ending::Forfeited(Seat::B),
            ("none", false, false) => Ending::ForfeitedByBoth,
            _ => return None,
        };
        let ranks = match (rank_a, rank_b) {
            ("", "") => None,
            (rank_a, rank_b) => Some([rank_a.parse().ok()?, rank_b.parse().ok()?]),
        };
        let failure = |text: &str| {
            let known = FAILURES.iter().find(|(_, name)| *name == text);
            known.map(|(kind, _)| *kind)
        };
        let row = Self {
            cell: number_of_cell,
            repetition: repetition.parse::<u64>().ok()?.checked_sub(1)?,
            number: number.parse().ok()?,
            players: [place(a)?, place(b)?],
            ending,
            payoffs: [payoff_a.parse().ok()?, payoff_b.parse().ok()?],
            ranks,
            failures: [failure(forfeit_a), failure(forfeit_b)],
            voided: voided.parse().ok()?,
            log: GameLog::read(&unquoted(moves)?)?,
        };
        let (written, check) = row.write(cell, before);
        (written.strip_suffix('\n') == Some(line)).then_some((row, check))
    }

    /// Whether it counts.
    pub(crate) fn was_played(&self) -> bool {
        self.ending != Ending::NotPlayed
    }
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

fn unquoted(field: &str) -> Option<String> {
    match field.strip_prefix('"') {
        Some(rest) => Some(rest.strip_suffix('"')?.replace("\"\"", "\"")),
        None => Some(field.to_owned()),
    }
}
