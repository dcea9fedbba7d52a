//! A whole game, move by move, in which the player is asked whenever it is its turn.

use super::rules;
use super::suite::Suite;
use crate::check::stage::play_any;
use matchday_core::game::{Seat, Turn};

impl Suite {
    /// Plays a match to its end against an opponent of ours that makes some legal move each time.
    pub(super) async fn whole_game(&mut self) {
        let rule = &rules::MOVE_WHOLE_GAME;
        if !self.joined || !self.chose {
            return self.sheet.skip(rule, "it does not join and move in a plain match: mend that first");
        }
        let fixture = self.announce().await;
        if !self.invite(&fixture).await {
            return self.sheet.skip(rule, "it did not join this match");
        }
        let mut game = (self.stage.game.new)();
        let mut moves = 0;
        loop {
            let turn = game.turn();
            if matches!(turn, Turn::Over | Turn::Chance | Turn::Outside) {
                break;
            }
            if turn != Turn::One(Seat::B) {
                let request = game.request(Seat::A);
                let message = self.stage.question_in(self.probe.clock.now(), &fixture, game.as_ref());
                let reply = self.put(&message, &fixture, self.timing.choice).await;
                let made = self.quietly(|suite| suite.judge_move(&reply, &fixture, &request));
                let legal = made.is_some_and(|made| game.play(Seat::A, &made.choice).is_ok());
                if !legal {
                    let note = format!(
                        "its move {} is none: see what it was asked, and what it answered",
                        moves + 1
                    );
                    return self.sheet.broken(rule, note, &reply.exchange);
                }
                moves += 1;
            }
            if turn != Turn::One(Seat::A) && !play_any(game.as_mut(), Seat::B, moves * 5 + 1) {
                break;
            }
        }
        let message = self.stage.over(self.probe.clock.now(), &fixture, game.as_ref());
        self.tell(&message, self.timing.game_over).await;
        self.sheet.pass(rule, format!("{moves} moves"));
    }
}
