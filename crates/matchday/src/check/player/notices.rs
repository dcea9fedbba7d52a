//! News that a player is told: any acknowledgement will do, in time.

use super::answers::Chosen;
use super::rules;
use super::suite::Suite;
use crate::check::heard::Heard;
use crate::check::rule::Rule;
use crate::check::stage::Fixture;
use matchday_core::protocol::{Message, RoundId};
use std::time::Duration;

/// As many as a league may have.
const PLAYERS_MAX: u32 = 99;

impl Suite {
    /// Tells something, and judges whether it was taken.
    pub(super) async fn notify(&mut self, rule: &'static Rule, message: &Message, within: Duration) {
        let reply = self.tell(message, within).await;
        let exchange = &reply.exchange;
        match Heard::of(&reply) {
            Heard::Message(_) | Heard::Received => self.sheet.pass(rule, ""),
            Heard::Refused { code, words } => {
                self.sheet.broken(rule, format!("it refused with {code}: {words}"), exchange);
            }
            Heard::Garbled(why) => self.sheet.broken(rule, why, exchange),
            Heard::Nothing => self.sheet.broken(rule, exchange.outcome_in_words(), exchange),
            Heard::Unknown(why) => self.sheet.skip(rule, why),
        }
    }

    /// The round that is about to begin.
    pub(super) async fn announce_round(&mut self) {
        let fixture = self.stage.next();
        let message = self.stage.announcement(self.probe.clock.now(), &[&fixture]);
        self.notify(&rules::ROUND_ANNOUNCED, &message, self.timing.other).await;
    }

    /// The end of a match, and of its round.
    pub(super) async fn end_round(&mut self, fixture: &Fixture, chosen: Option<&Chosen>) {
        self.end_match(fixture, chosen).await;
        let now = self.probe.clock.now();
        let standings = self.stage.standings(now, fixture.round_id, 2);
        self.notify(&rules::STANDINGS, &standings, self.timing.other).await;
        let completed = self.stage.round_completed(now, fixture.round_id);
        self.notify(&rules::ROUND_COMPLETED, &completed, self.timing.other).await;
    }

    pub(super) async fn end_match(&mut self, fixture: &Fixture, chosen: Option<&Chosen>) {
        let choice = chosen.map(|chosen| &chosen.choice);
        let nonce = chosen.and_then(|chosen| chosen.nonce.clone());
        let message = self.stage.game_over(self.probe.clock.now(), fixture, choice, nonce);
        self.notify(&rules::GAME_OVER, &message, self.timing.game_over).await;
    }

    /// News that comes seldom.
    pub(super) async fn rare_news(&mut self) {
        let message = self.stage.league_error(self.probe.clock.now());
        self.notify(&rules::LEAGUE_ERROR, &message, self.timing.other).await;
        let message = self.stage.standings(self.probe.clock.now(), RoundId(1), PLAYERS_MAX);
        self.notify(&rules::FULL_TABLE, &message, self.timing.other).await;
    }

    /// The last word. An agent may end after it.
    pub(super) async fn end_league(&mut self) {
        let message = self.stage.league_completed(self.probe.clock.now());
        self.notify(&rules::LEAGUE_COMPLETED, &message, self.timing.other).await;
    }
}
