//! Reports: those that count, those that must not, and the table that follows from them.

use super::rounds::Given;
use super::rules;
use super::suite::{Suite, put};
use crate::check::exchange::Exchange;
use matchday_core::league::TieBreak;
use matchday_core::league::standings::{Counted, Place, Verdict, table};
use matchday_core::protocol::messages::StandingRow;
use matchday_core::protocol::{Body, PlayerId};
use serde_json::{Map, Value, json};

/// How the matches of the league end, in the order in which they are given out: each kind of end is among them, and the
/// table has ties.
const ENDS: [(Verdict, bool); 6] = [
    (Verdict::WonByA, false),
    (Verdict::Drawn, false),
    (Verdict::WonByB, false),
    (Verdict::WonByA, true),
    (Verdict::Drawn, false),
    (Verdict::LostByBoth, true),
];

const TIE_BREAKS: [TieBreak; 4] =
    [TieBreak::HeadToHead, TieBreak::WinPercentage, TieBreak::Wins, TieBreak::FewerDraws];

/// A result that the manager has acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    a: PlayerId,
    b: PlayerId,
    verdict: Verdict,
    technical: bool,
}

impl Suite {
    /// Reports one match, and looks what becomes of it. The first one has to stand forgeries too.
    pub(super) async fn report_match(&mut self, number: usize, given: &Given) {
        let (verdict, technical) = ENDS.get(number % ENDS.len()).copied().unwrap_or((Verdict::Drawn, false));
        let letter = self.report(given, verdict, technical);
        if number == 0 {
            self.forgeries(given, &letter).await;
        }
        let before =
            self.players.iter().map(|player| player.of_kind("LEAGUE_STANDINGS_UPDATE").count()).min();
        if !self.recorded(given, &letter).await {
            return;
        }
        let (a, b) = (PlayerId::new(&given.a), PlayerId::new(&given.b));
        self.counts.push(Counts { a, b, verdict, technical });
        if number == 0 {
            self.again(given, &letter).await;
        }
        match self.until_told("LEAGUE_STANDINGS_UPDATE", before.unwrap_or(0)).await {
            true => self.judge_update(),
            false => {
                let note = format!("not everyone was sent the table after {}", given.match_id);
                self.sheet.broken(&rules::STANDINGS, note, &Exchange::none("nothing came"));
            }
        }
        if let Some((rows, exchange)) = self.asked_table().await {
            self.judge_rows(&rows, &exchange);
        }
    }

    fn report(&self, given: &Given, verdict: Verdict, technical: bool) -> Value {
        let (a, b) = (given.a.as_str(), given.b.as_str());
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
            "league_id": self.league_id, "round_id": given.round_id, "match_id": given.match_id,
            "game_type": "even_odd", "result": result,
        });
        match self.referees.get(given.referee) {
            Some(referee) => self.letter("MATCH_RESULT_REPORT", referee, &given.conversation_id, fields),
            None => self.unsigned("MATCH_RESULT_REPORT", "referee:nobody", &given.conversation_id, fields),
        }
    }

    async fn recorded(&mut self, given: &Given, letter: &Value) -> bool {
        let rule = &rules::RECORDED;
        let reply = self.ask(letter).await;
        match (self.answer(rule, letter, reply.as_ref()), reply) {
            (Some(Body::MatchResultAck(ack)), _) if ack.match_id.as_str() == given.match_id => {
                self.sheet.pass(rule, "");
                true
            }
            (Some(_), Some(reply)) => {
                let note = format!("expected MATCH_RESULT_ACK of {}", given.match_id);
                self.sheet.broken(rule, note, &reply.exchange);
                false
            }
            // An answer that is no receipt may still mean that it was recorded.
            _ => true,
        }
    }

    /// Reports that must change nothing.
    async fn forgeries(&mut self, given: &Given, letter: &Value) {
        let other = (given.referee + 1) % self.referees.len().max(1);
        let (Some(stranger), Some(player)) = (self.referees.get(other), self.players.first()) else { return };
        let by_other = json!({"sender": stranger.sender(), "auth_token": stranger.shown_token()});
        let by_player = json!({"sender": player.sender(), "auth_token": player.shown_token()});
        let can_be_other = other != given.referee && stranger.token.is_some();
        let cases = [
            (&rules::NO_TOKEN, "a report without a token", "E011", json!({"auth_token": null})),
            (
                &rules::FALSE_TOKEN,
                "a report with a false token",
                "E012",
                json!({"auth_token": format!("tok_ref01_{}", "0".repeat(64))}),
            ),
            (&rules::OTHER_REFEREE, "a report by another referee", "E012", by_other),
            (&rules::BY_PLAYER, "a report by a player", "E012", by_player),
            (&rules::UNKNOWN_MATCH, "a report of R98M7", "E006", json!({"match_id": "R98M7"})),
            (
                &rules::OTHER_LEAGUE,
                "a report for another league",
                "E007",
                json!({"league_id": "league_of_nobody"}),
            ),
        ];
        for (rule, what, code, change) in cases {
            if std::ptr::eq(rule, &rules::OTHER_REFEREE) && !can_be_other {
                self.sheet.skip(rule, "no second referee was accepted");
                continue;
            }
            let reply = self
                .ask_altered(letter, &|fields| {
                    fields.extend(change.as_object().cloned().unwrap_or_default());
                })
                .await;
            self.refused(rule, what, code, reply.as_ref());
        }
        let (a, b) = (given.a.as_str(), given.b.as_str());
        let scores = [
            ("2-1", Map::from_iter([(a.to_owned(), json!(2)), (b.to_owned(), json!(1))])),
            ("3-0 of a stranger", Map::from_iter([(a.to_owned(), json!(3)), ("P97".to_owned(), json!(0))])),
        ];
        for (what, score) in scores {
            let reply = self
                .ask_altered(letter, &|fields| {
                    if let Some(result) = fields.get_mut("result") {
                        put(result, "score", Value::Object(score.clone()));
                    }
                })
                .await;
            self.refused(&rules::SCORES, &format!("a score of {what}"), "E002", reply.as_ref());
        }
    }

    /// The very same report, and one that contradicts it.
    async fn again(&mut self, given: &Given, letter: &Value) {
        let rule = &rules::DUPLICATE;
        let reply = self.ask(letter).await;
        match (self.answer(rule, letter, reply.as_ref()), reply) {
            (Some(Body::MatchResultAck(ack)), Some(reply)) => match ack.duplicate {
                Some(true) => self.sheet.pass(rule, ""),
                _ => self.sheet.warn(rule, "it is acknowledged without duplicate: true", &reply.exchange),
            },
            (Some(_), Some(reply)) => {
                self.sheet.broken(rule, "expected MATCH_RESULT_ACK with duplicate: true", &reply.exchange);
            }
            _ => {}
        }
        let other = self.report(given, Verdict::WonByB, false);
        let reply = self.ask(&other).await;
        self.refused(&rules::CONFLICT, "another result for a decided match", "E016", reply.as_ref());
    }

    /// The table as it must be by what was reported.
    pub(super) fn table(&self) -> Vec<Place> {
        let ids: Vec<_> = self.players.iter().map(|player| PlayerId::new(&player.id)).collect();
        let results = self.counts.iter().map(|one| Counted {
            a: &one.a,
            b: &one.b,
            verdict: one.verdict,
            technical: one.technical,
        });
        table(&ids, results, &TIE_BREAKS)
    }

    fn judge_update(&mut self) {
        let heard: Vec<_> = self
            .players
            .iter()
            .filter_map(|player| player.of_kind("LEAGUE_STANDINGS_UPDATE").last().cloned())
            .collect();
        for (message, exchange) in heard {
            if let Some(Body::LeagueStandingsUpdate(update)) =
                self.read(&rules::STANDINGS, &message, &exchange)
            {
                self.sheet.pass(&rules::STANDINGS, "");
                self.judge_rows(&update.standings, &exchange);
            }
        }
    }

    fn judge_rows(&mut self, rows: &[StandingRow], exchange: &Exchange) {
        let wanted = self.table();
        let by_points = rows.windows(2).all(|pair| matches!(pair, [one, next] if one.points >= next.points));
        let ranks = rows.iter().map(|row| row.rank).eq(1..=u32::try_from(rows.len()).unwrap_or(0));
        let wrong = wanted.iter().find_map(|place| {
            let tally = &place.tally;
            let right = [tally.played(), tally.wins, tally.draws, tally.losses, tally.points()];
            let row = rows.iter().find(|row| row.player_id == place.player);
            let came = row.map(|row| [row.played, row.wins, row.draws, row.losses, row.points]);
            (came != Some(right)).then(|| {
                let came = came.map_or("nothing".to_owned(), |came| format!("{came:?}"));
                format!(
                    "{}: expected played, wins, draws, losses, points {right:?}, got {came}",
                    place.player
                )
            })
        });
        let rule = &rules::STANDINGS_RIGHT;
        match (wrong, by_points, ranks) {
            (Some(wrong), ..) => return self.sheet.broken(rule, wrong, exchange),
            (_, false, _) => return self.sheet.broken(rule, "the rows are not in order of points", exchange),
            (_, _, false) => return self.sheet.broken(rule, "the ranks are not 1, 2, 3, ...", exchange),
            _ => self.sheet.pass(rule, ""),
        }
        let order = |ids: Vec<&PlayerId>| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (came, right) = (
            order(rows.iter().map(|row| &row.player_id).collect()),
            order(wanted.iter().map(|place| &place.player).collect()),
        );
        match came == right {
            true => self.sheet.pass(&rules::STANDINGS_TIES, ""),
            false => {
                let note = format!("expected the order {right}, got {came}");
                self.sheet.broken(&rules::STANDINGS_TIES, note, exchange);
            }
        }
    }
}
