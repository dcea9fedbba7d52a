//! Notices to a player: each must be acknowledged in time, by any kind of acknowledgement.

use super::answers::Chosen;
use super::fake_league::{Absent, Fixture};
use super::rules;
use super::suite::Suite;
use crate::check::reply::{self, ReplyKind, check_acknowledged};
use crate::check::report::Verdict;
use crate::check::rule::Rule;
use matchday_core::protocol::{Message, RoundId};
use std::time::Duration;

/// The largest league.
const PLAYERS_MAX: u32 = 99;

impl Suite {
    /// Sends a notice and checks that it is acknowledged.
    pub(super) async fn notify(
        &mut self,
        rule: &'static Rule,
        message: &Message,
        within: Duration,
    ) {
        let reply = self.send_notice(message, within).await;
        check_acknowledged(&mut self.findings, rule, &reply);
    }

    /// Whether a notice was acknowledged before, so that one that is not now fails for what is special about it.
    pub(super) fn is_acknowledged(&self, rule: &'static Rule) -> bool {
        self.findings.verdict(rule) == Some(Verdict::Pass)
    }

    pub(super) async fn announce_round(&mut self) {
        let fixture = self.league.next();
        let message = self
            .league
            .announcement(self.probe.clock.now(), &[&fixture]);
        self.notify(&rules::ROUND_ANNOUNCED, &message, self.timing.other)
            .await;
    }

    pub(super) async fn end_round(&mut self, fixture: &Fixture, chosen: Option<&Chosen>) {
        self.end_match(fixture, chosen).await;
        let now = self.probe.clock.now();
        let standings = self.league.standings(now, fixture.round_id, 2);
        self.notify(&rules::STANDINGS, &standings, self.timing.other)
            .await;
        let completed = self.league.round_completed(now, fixture.round_id);
        self.notify(&rules::ROUND_COMPLETED, &completed, self.timing.other)
            .await;
    }

    pub(super) async fn end_match(&mut self, fixture: &Fixture, chosen: Option<&Chosen>) {
        let message = self.result_after(fixture, chosen).await;
        self.notify(&rules::GAME_OVER, &message, self.timing.game_over)
            .await;
    }

    pub(super) async fn rare_notices(&mut self) {
        let message = self.league.league_error(self.probe.clock.now());
        self.notify(&rules::LEAGUE_ERROR, &message, self.timing.other)
            .await;
        if self.is_acknowledged(&rules::STANDINGS) {
            let message = self
                .league
                .standings(self.probe.clock.now(), RoundId(1), PLAYERS_MAX);
            self.notify(&rules::FULL_TABLE, &message, self.timing.other)
                .await;
        } else {
            self.findings.skip(
                &rules::FULL_TABLE,
                "it rejects every LEAGUE_STANDINGS_UPDATE: see notice.standings",
            );
        }
        self.technical_losses().await;
    }

    /// Matches that end before a choice: the opponent did not come, or neither player.
    async fn technical_losses(&mut self) {
        for absent in [Absent::Opponent, Absent::Both] {
            let fixture = self.announce().await;
            let message = self.league.invitation(self.probe.clock.now(), &fixture);
            self.send_question(&message, &fixture, self.timing.join)
                .await;
            let message = self
                .league
                .technical_loss(self.probe.clock.now(), &fixture, absent);
            self.notify_of_special_end(&rules::TECHNICAL_LOSS, &message)
                .await;
        }
    }

    /// Repeats the GAME_OVER of a match.
    pub(super) async fn end_again(&mut self, fixture: &Fixture, chosen: &Chosen) {
        let message = self.result_after(fixture, Some(chosen)).await;
        self.notify_of_special_end(&rules::GAME_OVER_TWICE, &message)
            .await;
    }

    /// A plain GAME_OVER was sent before: only what is special about this one can be blamed on it.
    async fn notify_of_special_end(&mut self, rule: &'static Rule, message: &Message) {
        let reply = self.send_notice(message, self.timing.game_over).await;
        let kind = ReplyKind::of(&reply);
        if !self.wire().still_alive(rule, "this GAME_OVER").await {
            return;
        }
        match kind {
            ReplyKind::Unknown(why) => self.findings.skip(rule, why),
            _ if !self.takes_game_over => {
                self.findings
                    .pass(rule, "it rejects every GAME_OVER: see notice.game-over");
            }
            other if reply::is_failure(&reply) => {
                let note = format!(
                    "other GAME_OVERs are taken, and here {}",
                    other.describe(&reply.exchange)
                );
                reply::violated(&mut self.findings, rule, note, &reply);
            }
            _ => self.findings.pass(rule, ""),
        }
    }

    /// Sent last: an agent may exit after it.
    pub(super) async fn end_league(&mut self) {
        let message = self.league.league_completed(self.probe.clock.now());
        self.notify(&rules::LEAGUE_COMPLETED, &message, self.timing.other)
            .await;
    }
}
