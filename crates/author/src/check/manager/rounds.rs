//! A league from its start to its end: announcements, assignments, pairings, notices.

use super::members::{Member, Role, is_type};
use super::results::TAMPERED;
use super::rules;
use super::suite::{Suite, set_field};
use crate::check::exchange::Exchange;
use crate::check::reply::ReplyKind;
use matchday_core::league::schedule::round_robin;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{Body, PlayerId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long to wait for a manager to start by itself, once it did not take START_LEAGUE.
const STARTS_BY_ITSELF: Duration = Duration::from_secs(30);
/// How long to wait for a notice where an earlier one did not come.
const NOTICE_MISSED: Duration = Duration::from_millis(300);
/// The time allowed for the next assignment. A league announces rounds 60 s ahead by default.
const ASSIGNED_WITHIN: Duration = Duration::from_secs(75);

/// A match that was assigned to one of our referees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assignment {
    pub(super) referee: usize,
    pub(super) round_id: u32,
    pub(super) match_id: String,
    pub(super) conversation_id: String,
    pub(super) a: String,
    pub(super) b: String,
}

impl Suite {
    pub(super) async fn start(&mut self) -> bool {
        if self.players.len() < 2 || self.referees.is_empty() {
            let players = self.players.len();
            let referees = self.referees.len();
            self.unreached = Some(format!(
                "no league can be played: it accepted {players} players and {referees} referees of the check"
            ));
            return false;
        }
        let start = |suite: &Self, league: &str| {
            let mut request = suite.unsigned(
                "START_LEAGUE",
                "launcher",
                "conv-start-league",
                json!({"league_id": league}),
            );
            if let Some(token) = &suite.operator_token {
                set_field(&mut request, "auth_token", json!(token));
            }
            request
        };
        let mut request = start(self, &self.league_id);
        if let Some(player) = self.players.first() {
            set_field(&mut request, "auth_token", player.token_json());
        }
        let reply = self.ask(&request).await;
        // One that starts by itself refuses every START_LEAGUE, with whatever code.
        self.refused(
            &rules::START_TRUST,
            "START_LEAGUE with a player's token",
            "E008",
            reply.as_ref(),
        );
        let request = start(self, "league_of_nobody");
        let reply = self.ask(&request).await;
        self.refused(
            &rules::START_LEAGUE_ID,
            "START_LEAGUE for another league",
            "E007",
            reply.as_ref(),
        );
        let request = start(self, &self.league_id);
        let mut started = false;
        let mut came = String::new();
        for rule in [&rules::START, &rules::START_TWICE] {
            let reply = self.ask(&request).await;
            if let Some(reply) = &reply {
                came = ReplyKind::of(reply).describe(&reply.exchange);
            }
            match (self.answer(rule, &request, reply.as_ref()), reply) {
                (Some(Body::LeagueStatus(status)), _) if status.status == Phase::Running => {
                    started = true;
                    self.findings.pass(rule, "");
                }
                (Some(_), Some(reply)) => {
                    self.findings.violated(
                        rule,
                        "expected LEAGUE_STATUS with status running",
                        &reply.exchange,
                    );
                }
                _ => {}
            }
        }
        // Some managers start by themselves when all have registered.
        let by_itself = |suite: &Self| !suite.assignments().is_empty();
        self.has_begun = true;
        if started || self.wait_until(STARTS_BY_ITSELF, by_itself).await {
            return true;
        }
        let waited = STARTS_BY_ITSELF.as_secs();
        self.unreached = Some(format!(
            "no league was played: to START_LEAGUE {came}, and no match was given to a referee within {waited} s. If it \
             knows one referee only, or another number of players, say so with --referees and --players"
        ));
        false
    }

    pub(super) fn assignments(&self) -> Vec<Assignment> {
        let mut assignments: Vec<Assignment> = Vec::new();
        for (number, referee) in self.referees.iter().enumerate() {
            for (message, _) in &referee.received {
                for one in assigned(message, number, referee) {
                    // A repeated announcement is not another match.
                    if !assignments
                        .iter()
                        .any(|known| known.match_id == one.match_id && known.referee == number)
                    {
                        assignments.push(one);
                    }
                }
            }
        }
        assignments
    }

    /// Plays the whole league: reports each match as soon as it is assigned.
    pub(super) async fn play(&mut self) {
        let all = self.players.len() * self.players.len().saturating_sub(1) / 2;
        let mut played: Vec<Assignment> = Vec::new();
        while played.len() < all {
            let done = played.len();
            if !self
                .wait_until(ASSIGNED_WITHIN, |suite| suite.assignments().len() > done)
                .await
            {
                let note = format!(
                    "{done} of {all} matches were given to a referee, and then no more came"
                );
                self.unreached = Some(format!("the league did not end: {note}"));
                self.findings
                    .violated(&rules::GIVEN, note, &Exchange::none("nothing more came"));
                break;
            }
            let fresh = self
                .assignments()
                .into_iter()
                .filter(|one| !played.contains(one))
                .collect::<Vec<_>>();
            for one in fresh {
                let is_last = played.len() + 1 == all;
                self.report_match(played.len(), is_last, &one).await;
                played.push(one);
            }
        }
        if played.len() >= all {
            self.findings.pass(&rules::GIVEN, "");
            let everyone = |suite: &Self| {
                suite
                    .members()
                    .all(|member| member.of_type("LEAGUE_COMPLETED").next().is_some())
            };
            self.wait_until(self.notice_timeout, everyone).await;
            self.check_pairs(&played);
            self.check_end();
        }
        self.check_announcements(&played);
        self.check_briefings();
        self.check_rounds(&played);
        self.check_tokens();
    }

    /// Waits for the notices of a result, so that they are checked before the next result changes the standings.
    pub(super) async fn wait_until_notified(&mut self, kind: &'static str, before: usize) -> bool {
        let notified = move |suite: &Self| {
            suite
                .players
                .iter()
                .all(|player| player.of_type(kind).count() > before)
        };
        let came = self.wait_until(self.notice_timeout, notified).await;
        if !came {
            self.notice_timeout = NOTICE_MISSED;
        }
        came
    }

    fn check_pairs(&mut self, played: &[Assignment]) {
        let mut pairs: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut busy: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        for one in played {
            let pair = if one.a < one.b {
                (one.a.as_str(), one.b.as_str())
            } else {
                (one.b.as_str(), one.a.as_str())
            };
            *pairs.entry(pair).or_default() += 1;
            for side in [one.a.as_str(), one.b.as_str()] {
                *busy.entry((one.round_id, side)).or_default() += 1;
            }
        }
        let twice = pairs.iter().find(|(_, times)| **times > 1);
        let crowded = busy.iter().find(|(_, times)| **times > 1);
        match (twice, crowded) {
            (None, None) => self.findings.pass(&rules::ONCE, ""),
            (Some(((a, b), times)), _) => {
                let note = format!("{a} and {b} met {times} times");
                self.findings
                    .violated(&rules::ONCE, note, &Exchange::none("seen over all rounds"));
            }
            (_, Some(((round, player), times))) => {
                let note = format!("{player} plays {times} matches in round {round}");
                self.findings
                    .violated(&rules::ONCE, note, &Exchange::none("seen over all rounds"));
            }
        }
        let ids: Vec<_> = self
            .players
            .iter()
            .map(|player| PlayerId::new(&player.id))
            .collect();
        let mut wanted: Vec<(u32, String, String)> = Vec::new();
        for (number, round) in (1..).zip(round_robin(&ids)) {
            wanted.extend(
                round
                    .pairs
                    .iter()
                    .map(|(a, b)| (number, a.to_string(), b.to_string())),
            );
        }
        let mut came: Vec<_> = played
            .iter()
            .map(|one| (one.round_id, one.a.clone(), one.b.clone()))
            .collect();
        wanted.sort();
        came.sort();
        match wanted
            .iter()
            .zip(&came)
            .find(|(wanted, came)| wanted != came)
        {
            None => self.findings.pass(&rules::TABLE, ""),
            Some(((round, a, b), (other, c, d))) => {
                let note =
                    format!("expected {a} - {b} in round {round}, got {c} - {d} in round {other}");
                self.findings.warn_unseen(&rules::TABLE, note);
            }
        }
    }

    /// Every player must be sent every round's announcement, without the endpoints of players.
    fn check_announcements(&mut self, played: &[Assignment]) {
        let rounds: Vec<u32> = {
            let mut rounds: Vec<_> = played.iter().map(|one| one.round_id).collect();
            rounds.sort_unstable();
            rounds.dedup();
            rounds
        };
        let mut came: Vec<(String, Value, Exchange)> = Vec::new();
        for player in &self.players {
            for (message, exchange) in player.of_type("ROUND_ANNOUNCEMENT") {
                came.push((player.id.clone(), message.clone(), exchange.clone()));
            }
        }
        for (_, message, exchange) in &came {
            let text = message
                .get("matches")
                .map(ToString::to_string)
                .unwrap_or_default();
            if text.contains("player_A_endpoint") || text.contains("player_B_endpoint") {
                self.findings
                    .violated(&rules::PRIVATE, "it names a player's endpoint", exchange)
            } else {
                self.findings.pass(&rules::PRIVATE, "")
            }
            self.read(&rules::ANNOUNCED, message, exchange);
        }
        for round in rounds {
            for player in &self.players {
                let notified = came.iter().any(|(id, message, _)| {
                    *id == player.id && message.get("round_id").is_some_and(|id| id == round)
                });
                if !notified {
                    let note = format!("{} was not told of round {round}", player.id);
                    return self.findings.violated(
                        &rules::ANNOUNCED,
                        note,
                        &Exchange::none("nothing came"),
                    );
                }
            }
        }
        if !came.is_empty() {
            self.findings.pass(&rules::ANNOUNCED, "");
        }
    }

    fn check_briefings(&mut self) {
        let matches = self.referees.iter().flat_map(|referee| {
            referee
                .of_type("ROUND_ANNOUNCEMENT")
                .flat_map(|(message, exchange)| {
                    let own = message
                        .get("matches")
                        .and_then(Value::as_array)
                        .cloned()
                        .unwrap_or_default();
                    own.into_iter()
                        .filter(|one| is_own(one, referee))
                        .map(move |one| (one, exchange.clone()))
                })
        });
        let bare = matches.collect::<Vec<_>>();
        for (one, exchange) in bare {
            self.findings.check(
                &rules::BRIEFED,
                one.get("player_A_endpoint").is_some() && one.get("player_B_endpoint").is_some(),
                "the match names no player's endpoint",
                &exchange,
            );
        }
    }

    /// ROUND_COMPLETED must be sent to every member after each round.
    fn check_rounds(&mut self, played: &[Assignment]) {
        let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
        for one in played {
            *sizes.entry(one.round_id).or_default() += 1;
        }
        // A round whose matches were not all assigned has not ended.
        let all = u32::try_from(self.players.len() / 2).unwrap_or(0);
        for (round, size) in sizes.into_iter().filter(|(_, size)| *size == all) {
            let received: Vec<_> = self
                .members()
                .map(|member| {
                    let of_round = |(message, _): &&(Value, Exchange)| {
                        message.get("round_id").is_some_and(|id| id == round)
                    };
                    (
                        member.id.clone(),
                        member.of_type("ROUND_COMPLETED").find(of_round).cloned(),
                    )
                })
                .collect();
            for (id, came) in received {
                let Some((message, exchange)) = came else {
                    let note = format!("{id} was not told that round {round} is over");
                    self.findings.violated(
                        &rules::ROUND_COMPLETED,
                        note,
                        &Exchange::none("nothing came"),
                    );
                    continue;
                };
                match self.read(&rules::ROUND_COMPLETED, &message, &exchange) {
                    Some(Body::RoundCompleted(body))
                        if body.matches_completed == size && body.summary.total_matches == size =>
                    {
                        self.findings.pass(&rules::ROUND_COMPLETED, "");
                    }
                    Some(_) => {
                        let note = format!("round {round} had {size} matches");
                        self.findings
                            .violated(&rules::ROUND_COMPLETED, note, &exchange);
                    }
                    None => {}
                }
            }
        }
    }

    fn check_end(&mut self) {
        if self.is_tampered {
            return self.findings.skip(&rules::LEAGUE_COMPLETED, TAMPERED);
        }
        let table = self.table();
        let received: Vec<_> = self
            .members()
            .map(|member| {
                (
                    member.id.clone(),
                    member.of_type("LEAGUE_COMPLETED").next().cloned(),
                )
            })
            .collect();
        for (id, came) in received {
            let rule = &rules::LEAGUE_COMPLETED;
            let Some((message, exchange)) = came else {
                let note = format!("{id} was not told that the league is over");
                self.findings
                    .violated(rule, note, &Exchange::none("nothing came"));
                continue;
            };
            let Some(Body::LeagueCompleted(body)) = self.read(rule, &message, &exchange) else {
                continue;
            };
            let most = table
                .iter()
                .map(|place| place.tally.points())
                .max()
                .unwrap_or(0);
            let points = |id: &PlayerId| {
                table
                    .iter()
                    .find(|place| place.player == *id)
                    .map(|place| place.tally.points())
            };
            let first = body.final_standings.first().map(|row| &row.player_id);
            let right = body.champion.points == most
                && points(&body.champion.player_id) == Some(most)
                && first == Some(&body.champion.player_id)
                && body.final_standings.len() == table.len()
                && body
                    .final_standings
                    .iter()
                    .all(|row| points(&row.player_id) == Some(row.points));
            if right {
                self.findings.pass(rule, "")
            } else {
                let wanted: Vec<_> = table
                    .iter()
                    .map(|place| format!("{} {}", place.player, place.tally.points()))
                    .collect();
                let note = format!("by what was reported the table is {}", wanted.join(", "));
                self.findings.violated(rule, note, &exchange);
            }
        }
    }

    /// Agents authenticate the manager by the notice token, which is derived from their own token.
    fn check_tokens(&mut self) {
        if !self.makes_tokens {
            return self
                .findings
                .warn_unseen(&rules::NOTICE_TOKEN, "it does not say match_tokens: true");
        }
        let league = matchday_core::protocol::LeagueId::new(&self.league_id);
        let mut found = Vec::new();
        for member in self.members() {
            let Some(token) = &member.token else { continue };
            let wanted = token.hash().notice_token(&league);
            for (message, exchange) in &member.received {
                let right =
                    message.get("auth_token").and_then(Value::as_str) == Some(wanted.reveal());
                found.push((right, exchange.clone()));
            }
        }
        for (right, exchange) in found {
            self.findings.check(
                &rules::NOTICE_TOKEN,
                right,
                "another auth_token, or none",
                &exchange,
            );
        }
    }
}

/// The matches in a message that are assigned to this referee.
fn assigned(message: &Value, number: usize, referee: &Member) -> Vec<Assignment> {
    debug_assert!(referee.role == Role::Referee);
    let text = |value: &Value, keys: &[&str]| {
        keys.iter()
            .find_map(|key| value.get(*key).and_then(Value::as_str))
            .map(str::to_owned)
    };
    let round = message
        .get("round_id")
        .and_then(Value::as_u64)
        .and_then(|round| u32::try_from(round).ok());
    let assign = |one: &Value| {
        let match_id = text(one, &["match_id"])?;
        let conversation_id = text(one, &["conversation_id"])
            .unwrap_or_else(|| format!("conv-{}-001", match_id.to_ascii_lowercase()));
        Some(Assignment {
            referee: number,
            round_id: round.unwrap_or(1),
            conversation_id,
            match_id,
            a: text(one, &["player_A_id", "player_a_id", "player1_id"])?,
            b: text(one, &["player_B_id", "player_b_id", "player2_id"])?,
        })
    };
    if is_type(message, "ROUND_ANNOUNCEMENT") {
        let matches = message.get("matches").and_then(Value::as_array);
        return matches
            .into_iter()
            .flatten()
            .filter(|one| is_own(one, referee))
            .filter_map(assign)
            .collect();
    }
    let assigned = is_type(message, "MATCH_ASSIGNMENT") || is_type(message, "START_MATCH");
    assign(message).filter(|_| assigned).into_iter().collect()
}

fn is_own(one: &Value, referee: &Member) -> bool {
    match one.get("referee_id").and_then(Value::as_str) {
        Some(id) => id == referee.id,
        None => one.get("referee_endpoint").and_then(Value::as_str) == Some(referee.endpoint.raw()),
    }
}
