//! A short league: matches in both seats, against opponents that come again, and with every way in which a match can end.
//! What an agent takes from one match into the next shows here.

use super::fake_league::{Absent, Ending, Fixture};
use super::rules;
use super::suite::Suite;
use crate::check::probe::Reply;
use crate::check::reply::{self, ReplyKind};
use matchday_core::game::Seat;
use std::time::Duration;
use tokio::time::Instant;

/// How a match of the short league goes.
#[derive(Debug, Clone, Copy)]
enum Course {
    Played(Ending),
    Forfeited(Absent),
}

/// Seat, opponent, and how the match goes.
const MATCHES: [(Seat, usize, Course); 8] = [
    (Seat::B, 0, Course::Played(Ending::Lost)),
    (Seat::A, 0, Course::Played(Ending::Drawn)),
    (Seat::B, 1, Course::Forfeited(Absent::Opponent)),
    (Seat::B, 0, Course::Played(Ending::Won)),
    (Seat::A, 1, Course::Forfeited(Absent::Both)),
    (Seat::A, 1, Course::Played(Ending::Lost)),
    (Seat::A, 0, Course::Forfeited(Absent::Player)),
    (Seat::B, 1, Course::Played(Ending::Drawn)),
];
/// An agent that thinks long plays the first matches only.
const TIME_MAX: Duration = Duration::from_secs(15);
const MATCHES_MIN: usize = 2;

/// Why the short league does not go on.
enum Broken {
    /// What it was asked, and its answer, which is not right.
    Answer(String, Box<Reply>),
    /// It answers nobody any more, which is recorded.
    Gone,
}

impl Suite {
    pub(super) async fn short_league(&mut self) {
        let rule = &rules::SHORT_LEAGUE;
        if !self.joined || !self.chose {
            return self.findings.skip(
                rule,
                "it does not join and choose in a plain match: fix that first",
            );
        }
        let began = Instant::now();
        let mut played = 0;
        let mut before = "a match that it played to its end".to_owned();
        for (seat, opponent, course) in MATCHES {
            if played >= MATCHES_MIN && began.elapsed() > TIME_MAX {
                break;
            }
            let fixture = self.league.next_as(seat, opponent);
            if let Err(broken) = self.play_in_league(&fixture, course).await {
                // What comes after it would fail for the same reason.
                (self.joined, self.chose) = (false, false);
                if let Broken::Answer(what, reply) = broken {
                    self.end_of_short_league(&fixture, &before, &what, &reply)
                        .await;
                }
                return;
            }
            played += 1;
            before = ended(&fixture, course);
        }
        let note = if played < MATCHES.len() {
            format!("{played} matches: it is too slow for more of them here")
        } else {
            String::new()
        };
        self.findings.pass(rule, note);
    }

    /// One match, its notices included. What went wrong, if it does not play it.
    async fn play_in_league(&mut self, fixture: &Fixture, course: Course) -> Result<(), Broken> {
        let message = self.league.announcement(self.probe.clock.now(), &[fixture]);
        self.send_notice(&message, self.timing.other).await;
        let message = self.league.invitation(self.probe.clock.now(), fixture);
        let reply = self
            .send_question(&message, fixture, self.timing.join)
            .await;
        if !self.without_recording(|suite| suite.check_join(&reply, fixture)) {
            return Err(Broken::Answer(
                "GAME_INVITATION".to_owned(),
                Box::new(reply),
            ));
        }
        let message = match course {
            Course::Played(ending) => {
                let through = self.play_through(fixture).await;
                let through = through.map_err(|(what, reply)| Broken::Answer(what, reply))?;
                self.result_of(fixture, through, ending)
            }
            Course::Forfeited(absent) => {
                self.league
                    .technical_loss(self.probe.clock.now(), fixture, absent)
            }
        };
        let reply = self.send_notice(&message, self.timing.game_over).await;
        if reply.exchange.answered().is_none() {
            let after = format!("GAME_OVER of {}", ended(fixture, course));
            if !self.wire().still_alive(&rules::SHORT_LEAGUE, &after).await {
                return Err(Broken::Gone);
            }
        }
        self.note_end(fixture, course, &reply);
        let now = self.probe.clock.now();
        for notice in [
            self.league.standings(now, fixture.round_id, 4),
            self.league.round_completed(now, fixture.round_id),
        ] {
            self.send_notice(&notice, self.timing.other).await;
        }
        Ok(())
    }

    /// Other GAME_OVERs were taken, so that one that is not is told with what is special about it.
    fn note_end(&mut self, fixture: &Fixture, course: Course, reply: &Reply) {
        if !reply::is_failure(reply) || !self.takes_game_over {
            return;
        }
        let rule = match course {
            Course::Played(_) => &rules::GAME_OVER,
            Course::Forfeited(_) => &rules::TECHNICAL_LOSS,
        };
        let note = format!(
            "other GAME_OVERs are taken, and that of {}: {}",
            ended(fixture, course),
            ReplyKind::of(reply).describe(&reply.exchange)
        );
        reply::violated(&mut self.findings, rule, note, reply);
    }

    async fn end_of_short_league(
        &mut self,
        fixture: &Fixture,
        before: &str,
        what: &str,
        reply: &Reply,
    ) {
        let rule = &rules::SHORT_LEAGUE;
        let kind = ReplyKind::of(reply);
        if let ReplyKind::Unknown(why) = kind {
            return self.findings.skip(rule, why);
        }
        let came = match &kind {
            ReplyKind::Message(_) => "it gave no right answer".to_owned(),
            other => other.describe(&reply.exchange),
        };
        let note = format!(
            "it played a plain match, and not {} in seat {}, which followed {before}: to {what} {came}",
            fixture.match_id,
            letter(fixture.seat)
        );
        reply::violated(&mut self.findings, rule, note, reply);
        self.wire()
            .still_alive(rule, &format!("{what} of its next match"))
            .await;
    }
}

fn letter(seat: Seat) -> &'static str {
    match seat {
        Seat::A => "A",
        Seat::B => "B",
    }
}

/// "R4M1, which it lost in seat B"
fn ended(fixture: &Fixture, course: Course) -> String {
    let how = match course {
        Course::Played(_) => "which it played to its end",
        Course::Forfeited(Absent::Opponent) => "to which its opponent did not come",
        Course::Forfeited(Absent::Player) => "which it lost by not answering",
        Course::Forfeited(Absent::Both) => "to which neither player came",
    };
    format!(
        "{}, {how} in seat {}",
        fixture.match_id,
        letter(fixture.seat)
    )
}
