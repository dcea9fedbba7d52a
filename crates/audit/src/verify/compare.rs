//! The events of all agents at hand, by themselves and side by side with the manager's; and what is missing for more. Pure.

use super::agents::{self, ManagerRecord};
use super::audit::Auditor;
use super::contradiction::{self, AllegedSilence};
use super::notes::KeptByPlayers;
use super::{AgentFindings, Source, Verification};
use super::{claims, own_signatures};
use crate::agent_log::{AgentEvent, AgentLog};

/// Gives back where a player is said to have been silent, and seems not to have been; and what players keep of the manager.
pub(super) fn all(
    sources: &[Source],
    auditor: &Auditor,
    found: &mut Verification,
) -> (Vec<AllegedSilence>, KeptByPlayers) {
    let league = sources.iter().find(|source| source.is_league());
    let file = league.and_then(|source| source.file.as_ref());
    let manager = auditor.league().created.then(|| ManagerRecord {
        file,
        league: auditor.league(),
        recorded: &auditor.recorded,
    });
    let mut claims = manager
        .zip(league)
        .map_or_else(Vec::new, |(manager, log)| claims::recorded(manager, log));
    let mut silences = Vec::new();
    let mut kept = KeptByPlayers::default();
    for source in sources
        .iter()
        .filter(|source| source.stream.role() == "referee")
    {
        let mut findings = std::mem::take(&mut found.referees);
        for log in parts(source, manager, &mut findings, &mut found.not_checked) {
            let outcome = agents::referee(&log, &mut findings).and_then(|()| match manager {
                Some(manager) => agents::compare_referee(&log, manager, &mut findings),
                None => Ok(()),
            });
            found.fault = found.fault.take().or(outcome.err());
            claims.extend(claims::decided(&log));
        }
        found.referees = findings;
    }
    for source in sources
        .iter()
        .filter(|source| source.stream.role() == "player")
    {
        let mut findings = std::mem::take(&mut found.players);
        for log in parts(source, manager, &mut findings, &mut found.not_checked) {
            found.fault = found
                .fault
                .take()
                .or(agents::player(&log, &mut findings).err());
            let registered = manager.and_then(|manager| agents::registered_key(manager, log.id()));
            found.fault = found
                .fault
                .take()
                .or(own_signatures::check(&log, registered).err());
            kept.add(&log);
            let (fault, silent) = contradiction::find(&log, source, &claims);
            found.fault = found.fault.take().or(fault);
            silences.extend(silent);
            if let Some(manager) = manager {
                found
                    .not_checked
                    .extend(agents::compare_player(&log, manager, &mut findings));
            }
        }
        found.players = findings;
    }
    found.referees.agents.sort_unstable();
    found.players.agents.sort_unstable();
    if manager.is_none() {
        found.not_checked.push(
            "whether the manager recorded these results, and the table: name the manager's store as well"
                .into(),
        );
    }
    (silences, kept)
}

/// The part of an agent's events that belongs to the league, or all if there is none.
fn parts<E: AgentEvent>(
    source: &Source,
    manager: Option<ManagerRecord<'_>>,
    findings: &mut AgentFindings,
    not_checked: &mut Vec<String>,
) -> Vec<AgentLog<E>> {
    // Each event has been read before, when its hash was checked.
    let mut parts: Vec<AgentLog<E>> =
        AgentLog::decode(source.file.as_ref(), &source.stream, &source.events).unwrap_or_default();
    let id = parts
        .last()
        .map_or_else(String::new, |log| log.id().to_owned());
    if let Some(manager) = manager {
        parts.retain(|log| agents::can_compare(log, manager));
        if parts.is_empty() {
            not_checked.push(format!(
                "{} of {id}: it is not of this league",
                source.stream
            ));
            return parts;
        }
    }
    findings.agents.push(id);
    parts
}
