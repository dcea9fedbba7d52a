//! The findings, for people. Pure.

use super::{AgentFindings, Fault, PlacedNote, Verdict, Verification};
use matchday_core::protocol::MatchId;
use matchday_core::protocol::Untrusted;
use matchday_core::protocol::messages::StandingRow;
use std::fmt;

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = many(self.events, "event");
        let streams = many(self.streams, "stream");
        match &self.league_id {
            None => writeln!(f, "no league: {events} in {streams}")?,
            Some(league_id) => {
                writeln!(f, "{league_id}: {events} in {streams}")?;
                let early = if self.ended_early {
                    "; the operator has ended the league early"
                } else {
                    ""
                };
                writeln!(
                    f,
                    "matches  {} of {} decided{early}",
                    self.matches, self.matches_scheduled
                )?;
                let proven = self.draws_proven;
                let unproven = self.draws_unproven;
                writeln!(f, "numbers  {proven} recomputed, {unproven} without proof")?;
                let proven = self.results_proven;
                let unproven = self.unproven.len();
                if proven > 0 || unproven > 0 {
                    writeln!(
                        f,
                        "results  {proven} proven, {unproven} unproven{}",
                        self.named_unproven()
                    )?;
                }
                if self.tokens_optional {
                    writeln!(
                        f,
                        "tokens   optional: anyone on the machine could act as an agent, so results are unproven"
                    )?;
                }
                let replayed = self.matches_replayed;
                let untold = self.matches_untold;
                if replayed + untold > 0 {
                    writeln!(
                        f,
                        "moves    {} played over, {untold} not told",
                        many_matches(replayed)
                    )?;
                }
            }
        }
        self.told(f, "referees", "decided", &self.referees)?;
        self.told(f, "players ", "heard", &self.players)?;
        if let Some(head) = &self.head {
            writeln!(f, "chain    ends in {head}")?;
        }
        match &self.last_checkpoint {
            Some(last) => writeln!(
                f,
                "signed   {}, the last over {}, with {}",
                many(self.checkpoints, "checkpoint"),
                many(last.size, "event"),
                last.verifier_key
            )?,
            None if self.league_id.is_some() => writeln!(f, "signed   no checkpoint")?,
            None => {}
        }
        for what in &self.kept_checkpoints {
            writeln!(f, "kept     {}", Untrusted::new(what).escaped())?;
        }
        if self.players_checkpoints > 0 {
            let kept = many(self.players_checkpoints, "checkpoint");
            writeln!(
                f,
                "kept     {kept} in the stores of players, all of this log"
            )?;
        }
        if self.messages > 0 {
            let kept = many(self.messages, "message");
            writeln!(
                f,
                "kept     {kept} for replay, outside the chain: a change to one of them is not found"
            )?;
        }
        if !self.table.is_empty() {
            writeln!(f, "\n{}", standings(&self.table))?;
        }
        if let (Some(champion), None) = (self.champions(), &self.fault) {
            writeln!(f, "{champion}")?;
        }
        for other in &self.others {
            writeln!(f, "also {}", other.brief())?;
        }
        for what in self.not_checked.iter().chain(&self.unconfirmed) {
            writeln!(f, "not checked: {}", Untrusted::new(what).escaped())?;
        }
        if let Some([one, other]) = &self.equivocation {
            writeln!(
                f,
                "EQUIVOCATION: the manager has signed two logs of one league."
            )?;
            for PlacedNote { place, note } in [one, other] {
                writeln!(f, "{}:", Untrusted::new(place).escaped())?;
                note.lines()
                    .try_for_each(|line| writeln!(f, "    {}", Untrusted::new(line).escaped()))?;
            }
        }
        if let (Some(why), None) = (&self.checkpoint_fault, &self.fault) {
            return write!(
                f,
                "CONTRADICTION: a kept checkpoint: {}",
                Untrusted::new(why).escaped()
            );
        }
        match &self.fault {
            None if self.equivocation.is_some() => {
                write!(f, "CONTRADICTION: see the two checkpoints above")
            }
            None if self.verdict() == Verdict::NotAllProven => {
                write!(f, "No contradictions, but not everything is proven.")
            }
            None if !self.not_checked.is_empty() => {
                write!(f, "No contradictions, but some checks could not be made.")
            }
            None => write!(f, "Verified: no contradictions."),
            Some(fault) => write!(
                f,
                "CONTRADICTION: {}",
                Untrusted::new(&fault.to_string()).escaped()
            ),
        }
    }
}

impl Verification {
    /// Every league of the store in a line of its own, and the verdict.
    pub fn leagues_in_brief(&self) -> String {
        let is_of_another = |fault: &Fault| {
            self.others
                .iter()
                .any(|other| other.fault.as_ref() == Some(fault))
        };
        let own = self.fault.clone().filter(|fault| !is_of_another(fault));
        let mut lines = Vec::new();
        let leagues = [(self, &own)]
            .into_iter()
            .chain(self.others.iter().map(|other| (other, &other.fault)));
        for (league, fault) in leagues {
            let fault = fault.as_ref().map(|fault| {
                format!(
                    "; CONTRADICTION: {}",
                    Untrusted::new(&fault.to_string()).escaped()
                )
            });
            lines.push(format!("{}{}", league.brief(), fault.unwrap_or_default()));
        }
        let bad = lines
            .iter()
            .filter(|line| line.contains("; CONTRADICTION: "))
            .count();
        lines.push(match (bad, lines.len()) {
            (0, all) if self.verdict() == Verdict::NotAllProven => {
                format!(
                    "No contradictions in {}, but not everything is proven.",
                    many(all as u64, "league")
                )
            }
            (0, all) => format!(
                "Verified: no contradictions in {}.",
                many(all as u64, "league")
            ),
            (bad, all) => format!(
                "{bad} of {} have contradictions.",
                many(all as u64, "league")
            ),
        });
        lines.join("\n")
    }

    /// `: R1M1, R1M2`, of the first ones; empty if all are proven.
    fn named_unproven(&self) -> String {
        let named: Vec<&str> = self
            .unproven
            .iter()
            .take(UNPROVEN_NAMED_MAX)
            .map(MatchId::as_str)
            .collect();
        match self.unproven.len().saturating_sub(named.len()) {
            _ if named.is_empty() => String::new(),
            0 => format!(": {}", named.join(", ")),
            more => format!(": {} and {more} more", named.join(", ")),
        }
    }

    /// `champion P01`, `joint champions P01, P03`; `None` before the end.
    fn champions(&self) -> Option<String> {
        let champion = self.champion.as_ref()?;
        let level = self
            .table
            .iter()
            .filter(|row| row.shown_rank() == 1)
            .map(|row| row.player_id.to_string());
        let level: Vec<String> = level.collect();
        Some(match level.len() {
            0 | 1 => format!("champion {champion}"),
            _ => format!("joint champions {}", level.join(", ")),
        })
    }

    /// `spring_1: 120 events, 6 of 6 matches decided, 6 numbers recomputed, champion P01`
    fn brief(&self) -> String {
        let name = self
            .league_id
            .as_ref()
            .map_or_else(|| "a league without a name".to_owned(), ToString::to_string);
        let events = many(self.events, "event");
        let numbers = many(self.draws_proven, "number");
        let matches = format!(
            "{} of {} matches decided",
            self.matches, self.matches_scheduled
        );
        let champion = self.champions().filter(|_| self.fault.is_none());
        let champion = champion
            .map(|champion| format!(", {champion}"))
            .unwrap_or_default();
        let unproven = match self.unproven.len() {
            0 => String::new(),
            unproven => format!(
                ", {} unproven{}",
                many(unproven as u64, "result"),
                self.named_unproven()
            ),
        };
        format!("{name}: {events}, {matches}, {numbers} recomputed{unproven}{champion}")
    }

    /// `referees REF01, REF02: 6 results decided, 6 numbers recomputed, 6 as the manager has them`
    fn told(
        &self,
        f: &mut fmt::Formatter<'_>,
        kind: &str,
        verb: &str,
        told: &AgentFindings,
    ) -> fmt::Result {
        if told.agents.is_empty() {
            return Ok(());
        }
        let names = match told.agents.as_slice() {
            few @ [_, ..] if few.len() <= NAMED_MAX => {
                Untrusted::new(&few.join(", ")).escaped().to_string()
            }
            many => many.len().to_string(),
        };
        let results = many(told.results, "result");
        let numbers = many(told.draws_proven, "number");
        write!(f, "{kind} {names}: {results} {verb}, {numbers} recomputed")?;
        if told.draws_unproven > 0 {
            write!(f, ", {} without proof", told.draws_unproven)?;
        }
        match &self.league_id {
            Some(_) => writeln!(f, ", {} as the manager has them", told.agreeing),
            None => writeln!(f),
        }
    }
}

/// How many matches are named one by one.
const UNPROVEN_NAMED_MAX: usize = 12;
/// How many agents are named one by one.
const NAMED_MAX: usize = 4;

fn many_matches(count: u64) -> String {
    format!("{count} match{}", if count == 1 { "" } else { "es" })
}

fn many(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The table in aligned columns.
pub(super) fn standings(rows: &[StandingRow]) -> String {
    let chars = |row: &StandingRow| row.display_name.escaped().to_string().chars().count();
    let width = rows.iter().map(chars).max().unwrap_or(0).max(4);
    let mut text = format!(
        "rank  id    {:width$}  played  won  drawn  lost  points\n",
        "name"
    );
    for row in rows {
        let StandingRow {
            player_id,
            played,
            wins,
            draws,
            losses,
            points,
            ..
        } = row;
        let rank = row.shown_rank();
        let id = player_id;
        let name = row.display_name.escaped();
        text.push_str(&format!(
            "{rank:>4}  {id:<4}  {name:width$}  {played:>6}  {wins:>3}  {draws:>5}  {losses:>4}  {points:>6}"
        ));
        if let Some(reason) = &row.rank_reason {
            text.push_str("  ");
            text.push_str(&reason.escaped().to_string());
        }
        text.push('\n');
    }
    text
}
