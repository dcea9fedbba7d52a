//! MATCH_RESULT_REPORT: valid, forged, repeated and conflicting; and the standings that must follow.

use super::rounds::Assignment;
use super::rules;
use super::suite::{Suite, set_field};
use crate::check::exchange::Exchange;
use crate::check::probe::Reply;
use crate::check::reply::ReplyKind;
use crate::check::rule::Rule;
use matchday_core::league::TieBreak;
use matchday_core::league::standings::{CountedMatch, Place, Verdict, compute};
use matchday_core::protocol::dialect::answer::WireAnswer;
use matchday_core::protocol::messages::StandingRow;
use matchday_core::protocol::{Body, PlayerId};
use serde_json::{Map, Value, json};

/// Results by order of assignment: every kind of result occurs, and the standings have ties.
const RESULTS: [(Verdict, bool); 6] = [
    (Verdict::WonByA, false),
    (Verdict::Drawn, false),
    (Verdict::WonByB, false),
    (Verdict::WonByA, true),
    (Verdict::Drawn, false),
    (Verdict::LostByBoth, true),
];

pub(super) const TAMPERED: &str =
    "it accepted a report that it had to refuse, so the right standings are not known";

const TIE_BREAKS: [TieBreak; 4] = [
    TieBreak::HeadToHead,
    TieBreak::WinPercentage,
    TieBreak::Wins,
    TieBreak::FewerDraws,
];

/// A result that the manager has acknowledged.
#[derive(Debug, Clone)]
pub(super) struct ReportedResult {
    a: PlayerId,
    b: PlayerId,
    verdict: Verdict,
    technical: bool,
}

impl Suite {
    /// Reports one match and checks the effects. The last one is forged before it is reported, and contradicted
    /// afterwards: a manager that takes that has played its league by then.
    pub(super) async fn report_match(
        &mut self,
        number: usize,
        is_last: bool,
        assignment: &Assignment,
    ) {
        let (verdict, technical) = RESULTS
            .get(number % RESULTS.len())
            .copied()
            .unwrap_or((Verdict::Drawn, false));
        let request = self.report(assignment, verdict, technical);
        if is_last {
            self.forgeries(assignment, &request).await;
        }
        let before = self
            .players
            .iter()
            .map(|player| player.of_type("LEAGUE_STANDINGS_UPDATE").count())
            .min();
        if !self.recorded(assignment, &request).await {
            return;
        }
        let a = PlayerId::new(&assignment.a);
        let b = PlayerId::new(&assignment.b);
        self.reported.push(ReportedResult {
            a,
            b,
            verdict,
            technical,
        });
        if self
            .wait_until_notified("LEAGUE_STANDINGS_UPDATE", before.unwrap_or(0))
            .await
        {
            self.check_update()
        } else {
            let note = format!(
                "not every player received the standings after {}",
                assignment.match_id
            );
            self.findings
                .violated(&rules::STANDINGS, note, &Exchange::none("nothing came"));
        }
        if let Some((rows, exchange)) = self.query_standings().await {
            self.check_rows(&rows, &exchange);
        }
        if is_last {
            self.impossible_scores(assignment, &request).await;
            self.repeat_and_contradict(assignment, &request).await;
        }
    }

    fn report(&self, assignment: &Assignment, verdict: Verdict, technical: bool) -> Value {
        let a = assignment.a.as_str();
        let b = assignment.b.as_str();
        let (winner, score, status) = match verdict {
            Verdict::WonByA => (Some(a), (3, 0), "WIN"),
            Verdict::WonByB => (Some(b), (0, 3), "WIN"),
            Verdict::Drawn => (None, (1, 1), "DRAW"),
            Verdict::LostByBoth => (None, (0, 0), "TECHNICAL_LOSS"),
        };
        let choices = match verdict {
            _ if technical && winner.is_some() => ("even".into(), Value::Null),
            Verdict::LostByBoth => (Value::Null, Value::Null),
            Verdict::Drawn => (json!("even"), json!("even")),
            Verdict::WonByA => (json!("even"), json!("odd")),
            Verdict::WonByB => (json!("odd"), json!("even")),
        };
        let by = |one: Value, other: Value| {
            Value::Object(Map::from_iter([(a.to_owned(), one), (b.to_owned(), other)]))
        };
        let result = json!({
            "winner": winner,
            "score": by(json!(score.0), json!(score.1)),
            "details": {
                "drawn_number": if technical { Value::Null } else { json!(4) },
                "choices": by(choices.0, choices.1),
            },
            "status": if technical { "TECHNICAL_LOSS" } else { status },
        });
        let fields = json!({
            "league_id": self.league_id, "round_id": assignment.round_id, "match_id": assignment.match_id,
            "game_type": "even_odd", "result": result,
        });
        match self.referees.get(assignment.referee) {
            Some(referee) => self.signed(
                "MATCH_RESULT_REPORT",
                referee,
                &assignment.conversation_id,
                fields,
            ),
            None => self.unsigned(
                "MATCH_RESULT_REPORT",
                "referee:nobody",
                &assignment.conversation_id,
                fields,
            ),
        }
    }

    async fn recorded(&mut self, assignment: &Assignment, request: &Value) -> bool {
        let rule = &rules::RECORDED;
        let reply = self.ask(request).await;
        if self.is_received(rule, reply.as_ref()) {
            return true;
        }
        match (self.answer(rule, request, reply.as_ref()), reply) {
            (Some(Body::MatchResultAck(ack)), _)
                if ack.match_id.as_str() == assignment.match_id =>
            {
                self.findings.pass(rule, "");
                true
            }
            (Some(_), Some(reply)) => {
                let note = format!("expected MATCH_RESULT_ACK of {}", assignment.match_id);
                self.findings.violated(rule, note, &reply.exchange);
                false
            }
            // The answer is not an acknowledgement, but the result may have been recorded.
            _ => true,
        }
    }

    /// Whether a report was acknowledged without a message, which is all that the message catalogue wants.
    fn is_received(&mut self, rule: &'static Rule, reply: Option<&Reply>) -> bool {
        let Some(reply) = reply.filter(|reply| reply.wire == Some(WireAnswer::Received)) else {
            return false;
        };
        self.findings
            .warn(rule, "it answers without MATCH_RESULT_ACK", &reply.exchange);
        true
    }

    /// Forged reports, which must change nothing.
    async fn forgeries(&mut self, assignment: &Assignment, request: &Value) {
        let other = (assignment.referee + 1) % self.referees.len().max(1);
        let (Some(other_referee), Some(player)) = (self.referees.get(other), self.players.first())
        else {
            return;
        };
        let by_other =
            json!({"sender": other_referee.sender(), "auth_token": other_referee.token_json()});
        let by_player = json!({"sender": player.sender(), "auth_token": player.token_json()});
        let can_be_other = other != assignment.referee && other_referee.token.is_some();
        let cases = [
            (
                &rules::NO_TOKEN,
                "a report without a token",
                "E011",
                json!({"auth_token": null}),
            ),
            (
                &rules::FALSE_TOKEN,
                "a report with a false token",
                "E012",
                json!({"auth_token": format!("tok_ref01_{}", "0".repeat(64))}),
            ),
            (
                &rules::OTHER_REFEREE,
                "a report by another referee",
                "E012",
                by_other,
            ),
            (&rules::BY_PLAYER, "a report by a player", "E012", by_player),
            (
                &rules::UNKNOWN_MATCH,
                "a report of R98M7",
                "E006",
                json!({"match_id": "R98M7"}),
            ),
            (
                &rules::OTHER_LEAGUE,
                "a report for another league",
                "E007",
                json!({"league_id": "league_of_nobody"}),
            ),
        ];
        for (rule, what, code, change) in cases {
            if std::ptr::eq(rule, &rules::OTHER_REFEREE) && !can_be_other {
                self.findings.skip(rule, "no second referee was accepted");
                continue;
            }
            let reply = self
                .ask_altered(request, &|fields| {
                    fields.extend(change.as_object().cloned().unwrap_or_default());
                })
                .await;
            let is_taken = self.refused(rule, what, code, reply.as_ref());
            // The others say of the match what its own referee is about to say.
            self.is_tampered |= is_taken && std::ptr::eq(rule, &rules::UNKNOWN_MATCH);
        }
    }

    /// Results that no match can have. Only once the right one is recorded: a manager may give a match to another referee whose
    /// report it refused for good.
    async fn impossible_scores(&mut self, assignment: &Assignment, request: &Value) {
        let a = assignment.a.as_str();
        let b = assignment.b.as_str();
        let scores = [
            (
                "2-1",
                Map::from_iter([(a.to_owned(), json!(2)), (b.to_owned(), json!(1))]),
            ),
            (
                "3-0 for a player that is not in the match",
                Map::from_iter([(a.to_owned(), json!(3)), ("P97".to_owned(), json!(0))]),
            ),
        ];
        for (what, score) in scores {
            let reply = self
                .ask_altered(request, &|fields| {
                    if let Some(result) = fields.get_mut("result") {
                        set_field(result, "score", Value::Object(score.clone()));
                    }
                })
                .await;
            // What comes first, that it is decided or that it is wrong, is the manager's affair.
            let code = match reply.as_ref().map(ReplyKind::of) {
                Some(ReplyKind::Refused { code, .. }) if code == "E016" => "E016",
                _ => "E002",
            };
            let what = format!("a score of {what}");
            self.is_tampered |= self.refused(&rules::SCORES, &what, code, reply.as_ref());
        }
    }

    /// The same report again (idempotent), and then a conflicting one.
    async fn repeat_and_contradict(&mut self, assignment: &Assignment, request: &Value) {
        let rule = &rules::DUPLICATE;
        if self.probe.ping().await.answered().is_none() {
            for rule in [rule, &rules::CONFLICT] {
                self.findings.skip(rule, "it ended with its last result");
            }
            return;
        }
        let reply = self.ask(request).await;
        if !self.is_received(rule, reply.as_ref()) {
            match (self.answer(rule, request, reply.as_ref()), reply) {
                (Some(Body::MatchResultAck(ack)), Some(reply)) => match ack.duplicate {
                    Some(true) => self.findings.pass(rule, ""),
                    _ => {
                        self.findings.warn(
                            rule,
                            "it is acknowledged without duplicate: true",
                            &reply.exchange,
                        );
                    }
                },
                (Some(_), Some(reply)) => {
                    let note = "expected MATCH_RESULT_ACK with duplicate: true";
                    self.findings.violated(rule, note, &reply.exchange);
                }
                _ => {}
            }
        }
        let other = self.report(assignment, Verdict::WonByB, false);
        let reply = self.ask(&other).await;
        self.refused(
            &rules::CONFLICT,
            "another result for a decided match",
            "E016",
            reply.as_ref(),
        );
    }

    /// The expected standings, computed from what was reported.
    pub(super) fn table(&self) -> Vec<Place> {
        let ids: Vec<_> = self
            .players
            .iter()
            .map(|player| PlayerId::new(&player.id))
            .collect();
        let results = self.reported.iter().map(|one| CountedMatch {
            a: &one.a,
            b: &one.b,
            verdict: one.verdict,
            technical: one.technical,
        });
        compute(&ids, results, &TIE_BREAKS)
    }

    fn check_update(&mut self) {
        let received: Vec<_> = self
            .players
            .iter()
            .filter_map(|player| player.of_type("LEAGUE_STANDINGS_UPDATE").last().cloned())
            .collect();
        for (message, exchange) in received {
            if let Some(Body::LeagueStandingsUpdate(update)) =
                self.read(&rules::STANDINGS, &message, &exchange)
            {
                self.findings.pass(&rules::STANDINGS, "");
                self.check_rows(&update.standings, &exchange);
            }
        }
    }

    fn check_rows(&mut self, rows: &[StandingRow], exchange: &Exchange) {
        if self.is_tampered {
            for rule in [&rules::STANDINGS_RIGHT, &rules::STANDINGS_TIES] {
                self.findings.skip(rule, TAMPERED);
            }
            return;
        }
        let wanted = self.table();
        let by_points = rows
            .windows(2)
            .all(|pair| matches!(pair, [one, next] if one.points >= next.points));
        let before = std::iter::once(0).chain(rows.iter().map(|row| row.rank));
        // Level players may share a rank.
        let ranks = (1..)
            .zip(rows)
            .zip(before)
            .all(|((place, row), before)| row.rank == place || row.rank == before && before > 0);
        let wrong = wanted.iter().find_map(|place| {
            let tally = &place.tally;
            let right = [
                tally.played(),
                tally.wins,
                tally.draws,
                tally.losses,
                tally.points(),
            ];
            let row = rows.iter().find(|row| row.player_id == place.player);
            let came = row.map(|row| [row.played, row.wins, row.draws, row.losses, row.points]);
            (came != Some(right)).then(|| {
                let counts = |counts: [u32; 5]| counts.map(|count| count.to_string()).join(", ");
                format!(
                    "{}: expected played, wins, draws, losses, points {}, got {}",
                    place.player,
                    counts(right),
                    came.map_or_else(|| "no row".to_owned(), counts)
                )
            })
        });
        let error = match (wrong, by_points, ranks) {
            (Some(wrong), ..) => Some(wrong),
            (_, false, _) => Some("the rows are not in order of points".to_owned()),
            (_, _, false) => Some(
                "the ranks are not 1, 2, 3, ..., or shared by level players as in 1, 2, 2, 4"
                    .to_owned(),
            ),
            _ => None,
        };
        self.findings.check(
            &rules::STANDINGS_RIGHT,
            error.is_none(),
            error.clone().unwrap_or_default(),
            exchange,
        );
        if error.is_some() {
            return;
        }
        let order = |ids: Vec<&PlayerId>| {
            ids.iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let came = order(rows.iter().map(|row| &row.player_id).collect());
        let right = order(wanted.iter().map(|place| &place.player).collect());
        let note = format!("expected the order {right}, got {came}");
        self.findings
            .check(&rules::STANDINGS_TIES, came == right, note, exchange);
    }
}
