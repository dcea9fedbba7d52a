//! Plays a game of several moves to its end.

use super::fake_league::play_any;
use super::rules;
use super::suite::Suite;
use matchday_core::game::{Seat, Turn};

impl Suite {
    /// Plays a match to its end. Our side makes an arbitrary legal move each turn.
    pub(super) async fn whole_game(&mut self) {
        let rule = &rules::MOVE_WHOLE_GAME;
        if !self.joined || !self.chose {
            return self.findings.skip(
                rule,
                "it does not join and move in a plain match: mend that first",
            );
        }
        let fixture = self.announce().await;
        if !self.invite(&fixture).await {
            return self.findings.skip(rule, "it did not join this match");
        }
        let mut game = (self.league.game.new)();
        let mut moves = 0;
        loop {
            let turn = game.turn();
            if matches!(turn, Turn::Over | Turn::Chance | Turn::External) {
                break;
            }
            if turn != Turn::One(Seat::B) {
                let request = game.request(Seat::A);
                let message =
                    self.league
                        .question_in(self.probe.clock.now(), &fixture, game.as_ref());
                let reply = self
                    .send_question(&message, &fixture, self.timing.choice)
                    .await;
                let made =
                    self.without_recording(|suite| suite.check_move(&reply, &fixture, &request));
                let legal = made.is_some_and(|made| game.play(Seat::A, &made.choice).is_ok());
                if !legal {
                    let note = format!(
                        "its move {} is none: see what it was asked, and what it answered",
                        moves + 1
                    );
                    return self.findings.violated(rule, note, &reply.exchange);
                }
                moves += 1;
            }
            if turn != Turn::One(Seat::A) && !play_any(game.as_mut(), Seat::B, moves * 5 + 1) {
                break;
            }
        }
        let message = self
            .league
            .over(self.probe.clock.now(), &fixture, game.as_ref());
        self.send_notice(&message, self.timing.game_over).await;
        self.findings.pass(rule, format!("{moves} moves"));
    }
}
