//! From the start to the end of a league: what is announced to whom, and whether everyone meets everyone.

use super::members::{Member, Role, is_kind};
use super::rules;
use super::suite::{Suite, put};
use crate::check::exchange::Exchange;
use matchday_core::league::schedule::round_robin;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::{Body, PlayerId};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a notice that follows a result may take.
const NOTICED_WITHIN: Duration = Duration::from_secs(5);
/// How long after a start or a result the next match may be given out. A league's lead is 60 s by default.
const GIVEN_WITHIN: Duration = Duration::from_secs(75);

/// A match that was given to one of our referees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) referee: usize,
    pub(super) round_id: u32,
    pub(super) match_id: String,
    pub(super) conversation_id: String,
    pub(super) a: String,
    pub(super) b: String,
}

impl Suite {
    pub(super) async fn start(&mut self) -> bool {
        let start = |suite: &Self, league: &str| {
            let mut letter =
                suite.unsigned("START_LEAGUE", "launcher", "conv-start-league", json!({"league_id": league}));
            if let Some(token) = &suite.operator_token {
                put(&mut letter, "auth_token", json!(token));
            }
            letter
        };
        let mut letter = start(self, &self.league_id);
        if let Some(player) = self.players.first() {
            put(&mut letter, "auth_token", player.shown_token());
        }
        let reply = self.ask(&letter).await;
        self.refused(&rules::START_TRUST, "START_LEAGUE with a player's token", "E012", reply.as_ref());
        let letter = start(self, "league_of_nobody");
        let reply = self.ask(&letter).await;
        self.refused(&rules::START_LEAGUE_ID, "START_LEAGUE for another league", "E007", reply.as_ref());
        let letter = start(self, &self.league_id);
        let mut started = false;
        for rule in [&rules::START, &rules::START_TWICE] {
            let reply = self.ask(&letter).await;
            match (self.answer(rule, &letter, reply.as_ref()), reply) {
                (Some(Body::LeagueStatus(status)), _) if status.status == Phase::Running => {
                    started = true;
                    self.sheet.pass(rule, "");
                }
                (Some(_), Some(reply)) => {
                    self.sheet.broken(rule, "expected LEAGUE_STATUS with status running", &reply.exchange);
                }
                _ => {}
            }
        }
        // Some managers start by themselves once they are complete.
        started || self.until(Duration::from_secs(1), |suite| !suite.given().is_empty()).await
    }

    /// Every match that has been given out so far.
    pub(super) fn given(&self) -> Vec<Given> {
        let mut given: Vec<Given> = Vec::new();
        for (number, referee) in self.referees.iter().enumerate() {
            for (message, _) in &referee.heard {
                for one in assigned(message, number, referee) {
                    // A match that is announced again is no other match.
                    if !given.iter().any(|known| known.match_id == one.match_id && known.referee == number) {
                        given.push(one);
                    }
                }
            }
        }
        given
    }

    /// Plays the whole league: reports each match as soon as it is given out.
    pub(super) async fn play(&mut self) {
        let all = self.players.len() * self.players.len().saturating_sub(1) / 2;
        let mut played: Vec<Given> = Vec::new();
        while played.len() < all {
            let done = played.len();
            if !self.until(GIVEN_WITHIN, |suite| suite.given().len() > done).await {
                let note = format!("{done} of {all} matches were given to a referee, and then no more came");
                self.sheet.broken(&rules::GIVEN, note, &Exchange::none("nothing more came"));
                break;
            }
            let fresh = self.given().into_iter().filter(|one| !played.contains(one)).collect::<Vec<_>>();
            for one in fresh {
                self.report_match(played.len(), &one).await;
                played.push(one);
            }
        }
        if played.len() >= all {
            self.sheet.pass(&rules::GIVEN, "");
            let everyone = |suite: &Self| {
                suite.members().all(|member| member.of_kind("LEAGUE_COMPLETED").next().is_some())
            };
            self.until(NOTICED_WITHIN, everyone).await;
            self.judge_pairs(&played);
            self.judge_end();
        }
        self.judge_announcements(&played);
        self.judge_briefings();
        self.judge_rounds(&played);
        self.judge_tokens();
    }

    /// Waits for the news of a result, so that it can be judged before the next result changes the table.
    pub(super) async fn until_told(&mut self, kind: &'static str, before: usize) -> bool {
        let told =
            move |suite: &Self| suite.players.iter().all(|player| player.of_kind(kind).count() > before);
        self.until(NOTICED_WITHIN, told).await
    }

    fn judge_pairs(&mut self, played: &[Given]) {
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
            (None, None) => self.sheet.pass(&rules::ONCE, ""),
            (Some(((a, b), times)), _) => {
                let note = format!("{a} and {b} met {times} times");
                self.sheet.broken(&rules::ONCE, note, &Exchange::none("seen over all rounds"));
            }
            (_, Some(((round, player), times))) => {
                let note = format!("{player} plays {times} matches in round {round}");
                self.sheet.broken(&rules::ONCE, note, &Exchange::none("seen over all rounds"));
            }
        }
        let ids: Vec<_> = self.players.iter().map(|player| PlayerId::new(&player.id)).collect();
        let mut wanted: Vec<(u32, String, String)> = Vec::new();
        for (number, round) in (1..).zip(round_robin(&ids)) {
            wanted.extend(round.pairs.iter().map(|(a, b)| (number, a.to_string(), b.to_string())));
        }
        let mut came: Vec<_> =
            played.iter().map(|one| (one.round_id, one.a.clone(), one.b.clone())).collect();
        wanted.sort();
        came.sort();
        match wanted.iter().zip(&came).find(|(wanted, came)| wanted != came) {
            None => self.sheet.pass(&rules::TABLE, ""),
            Some(((round, a, b), (other, c, d))) => {
                let note = format!("expected {a} - {b} in round {round}, got {c} - {d} in round {other}");
                self.sheet.caution(&rules::TABLE, note);
            }
        }
    }

    /// Each player is told of each round, and nobody's address.
    fn judge_announcements(&mut self, played: &[Given]) {
        let rounds: Vec<u32> = {
            let mut rounds: Vec<_> = played.iter().map(|one| one.round_id).collect();
            rounds.sort_unstable();
            rounds.dedup();
            rounds
        };
        let mut came: Vec<(String, Value, Exchange)> = Vec::new();
        for player in &self.players {
            for (message, exchange) in player.of_kind("ROUND_ANNOUNCEMENT") {
                came.push((player.id.clone(), message.clone(), exchange.clone()));
            }
        }
        for (_, message, exchange) in &came {
            let text = message.get("matches").map(ToString::to_string).unwrap_or_default();
            match text.contains("player_A_endpoint") || text.contains("player_B_endpoint") {
                true => self.sheet.broken(&rules::PRIVATE, "it names a player's endpoint", exchange),
                false => self.sheet.pass(&rules::PRIVATE, ""),
            }
            self.read(&rules::ANNOUNCED, message, exchange);
        }
        for round in rounds {
            for player in &self.players {
                let told = came.iter().any(|(id, message, _)| {
                    *id == player.id && message.get("round_id").is_some_and(|id| id == round)
                });
                if !told {
                    let note = format!("{} was not told of round {round}", player.id);
                    return self.sheet.broken(&rules::ANNOUNCED, note, &Exchange::none("nothing came"));
                }
            }
        }
        if !came.is_empty() {
            self.sheet.pass(&rules::ANNOUNCED, "");
        }
    }

    fn judge_briefings(&mut self) {
        let matches = self.referees.iter().flat_map(|referee| {
            referee.of_kind("ROUND_ANNOUNCEMENT").flat_map(|(message, exchange)| {
                let own = message.get("matches").and_then(Value::as_array).cloned().unwrap_or_default();
                own.into_iter().filter(|one| is_own(one, referee)).map(move |one| (one, exchange.clone()))
            })
        });
        let bare = matches.collect::<Vec<_>>();
        for (one, exchange) in bare {
            match one.get("player_A_endpoint").is_some() && one.get("player_B_endpoint").is_some() {
                true => self.sheet.pass(&rules::BRIEFED, ""),
                false => {
                    self.sheet.broken(&rules::BRIEFED, "the match names no player's endpoint", &exchange)
                }
            }
        }
    }

    /// Each round ends with ROUND_COMPLETED, to everyone.
    fn judge_rounds(&mut self, played: &[Given]) {
        let mut sizes: BTreeMap<u32, u32> = BTreeMap::new();
        for one in played {
            *sizes.entry(one.round_id).or_default() += 1;
        }
        // A round of which not all matches were seen has not ended.
        let all = u32::try_from(self.players.len() / 2).unwrap_or(0);
        for (round, size) in sizes.into_iter().filter(|(_, size)| *size == all) {
            let heard: Vec<_> = self
                .members()
                .map(|member| {
                    let of_round = |(message, _): &&(Value, Exchange)| {
                        message.get("round_id").is_some_and(|id| id == round)
                    };
                    (member.id.clone(), member.of_kind("ROUND_COMPLETED").find(of_round).cloned())
                })
                .collect();
            for (id, came) in heard {
                let Some((message, exchange)) = came else {
                    let note = format!("{id} was not told that round {round} is over");
                    self.sheet.broken(&rules::ROUND_COMPLETED, note, &Exchange::none("nothing came"));
                    continue;
                };
                match self.read(&rules::ROUND_COMPLETED, &message, &exchange) {
                    Some(Body::RoundCompleted(body))
                        if body.matches_completed == size && body.summary.total_matches == size =>
                    {
                        self.sheet.pass(&rules::ROUND_COMPLETED, "");
                    }
                    Some(_) => {
                        let note = format!("round {round} had {size} matches");
                        self.sheet.broken(&rules::ROUND_COMPLETED, note, &exchange);
                    }
                    None => {}
                }
            }
        }
    }

    fn judge_end(&mut self) {
        let table = self.table();
        let heard: Vec<_> = self
            .members()
            .map(|member| (member.id.clone(), member.of_kind("LEAGUE_COMPLETED").next().cloned()))
            .collect();
        for (id, came) in heard {
            let rule = &rules::LEAGUE_COMPLETED;
            let Some((message, exchange)) = came else {
                let note = format!("{id} was not told that the league is over");
                self.sheet.broken(rule, note, &Exchange::none("nothing came"));
                continue;
            };
            let Some(Body::LeagueCompleted(body)) = self.read(rule, &message, &exchange) else { continue };
            let most = table.iter().map(|place| place.tally.points()).max().unwrap_or(0);
            let points = |id: &PlayerId| {
                table.iter().find(|place| place.player == *id).map(|place| place.tally.points())
            };
            let first = body.final_standings.first().map(|row| &row.player_id);
            let right = body.champion.points == most
                && points(&body.champion.player_id) == Some(most)
                && first == Some(&body.champion.player_id)
                && body.final_standings.len() == table.len()
                && body.final_standings.iter().all(|row| points(&row.player_id) == Some(row.points));
            match right {
                true => self.sheet.pass(rule, ""),
                false => {
                    let wanted: Vec<_> = table
                        .iter()
                        .map(|place| format!("{} {}", place.player, place.tally.points()))
                        .collect();
                    let note = format!("by what was reported the table is {}", wanted.join(", "));
                    self.sheet.broken(rule, note, &exchange);
                }
            }
        }
    }

    /// Whoever got a token here can know the manager by the one that is made from it.
    fn judge_tokens(&mut self) {
        if !self.makes_tokens {
            return self.sheet.caution(&rules::NOTICE_TOKEN, "it does not say match_tokens: true");
        }
        let league = matchday_core::protocol::LeagueId::new(&self.league_id);
        let mut found = Vec::new();
        for member in self.members() {
            let Some(token) = &member.token else { continue };
            let wanted = token.hash().notice_token(&league);
            for (message, exchange) in &member.heard {
                let right = message.get("auth_token").and_then(Value::as_str) == Some(wanted.reveal());
                found.push((right, exchange.clone()));
            }
        }
        for (right, exchange) in found {
            match right {
                true => self.sheet.pass(&rules::NOTICE_TOKEN, ""),
                false => self.sheet.broken(&rules::NOTICE_TOKEN, "another auth_token, or none", &exchange),
            }
        }
    }
}

/// The matches of a message that are given to this referee.
fn assigned(message: &Value, number: usize, referee: &Member) -> Vec<Given> {
    debug_assert!(referee.role == Role::Referee);
    let text = |value: &Value, keys: &[&str]| {
        keys.iter().find_map(|key| value.get(*key).and_then(Value::as_str)).map(str::to_owned)
    };
    let round = message.get("round_id").and_then(Value::as_u64).and_then(|round| u32::try_from(round).ok());
    let given = |one: &Value| {
        let match_id = text(one, &["match_id"])?;
        let conversation_id = text(one, &["conversation_id"])
            .unwrap_or_else(|| format!("conv-{}-001", match_id.to_ascii_lowercase()));
        Some(Given {
            referee: number,
            round_id: round.unwrap_or(1),
            conversation_id,
            match_id,
            a: text(one, &["player_A_id", "player_a_id", "player1_id"])?,
            b: text(one, &["player_B_id", "player_b_id", "player2_id"])?,
        })
    };
    if is_kind(message, "ROUND_ANNOUNCEMENT") {
        let matches = message.get("matches").and_then(Value::as_array);
        return matches.into_iter().flatten().filter(|one| is_own(one, referee)).filter_map(given).collect();
    }
    let assigned = is_kind(message, "MATCH_ASSIGNMENT") || is_kind(message, "START_MATCH");
    given(message).filter(|_| assigned).into_iter().collect()
}

/// Whether an announced match is this referee's.
fn is_own(one: &Value, referee: &Member) -> bool {
    match one.get("referee_id").and_then(Value::as_str) {
        Some(id) => id == referee.id,
        None => one.get("referee_endpoint").and_then(Value::as_str) == Some(referee.endpoint.raw()),
    }
}
