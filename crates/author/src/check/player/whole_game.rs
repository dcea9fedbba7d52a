//! Plays matches to their end, also games of several moves.

use super::answers::Chosen;
use super::fake_league::{Ending, Fixture};
use super::rules;
use super::suite::Suite;
use crate::check::probe::Reply;
use matchday_core::game::{Game, Seat, Turn};
use matchday_core::protocol::Message;
use matchday_core::protocol::messages::Parity;

/// A match that was played to its end.
pub(super) struct PlayedMatch {
    first: Option<Chosen>,
    game: Box<dyn Game>,
    moves: usize,
}

impl Suite {
    /// Plays a match to its end in each seat.
    pub(super) async fn whole_game(&mut self) {
        let rule = &rules::MOVE_WHOLE_GAME;
        if !self.joined || !self.chose {
            return self.findings.skip(
                rule,
                "it does not join and move in a plain match: fix that first",
            );
        }
        for seat in Seat::BOTH {
            let fixture = self.league.next_as(seat, 0);
            let message = self
                .league
                .announcement(self.probe.clock.now(), &[&fixture]);
            self.send_notice(&message, self.timing.other).await;
            if !self.invite(&fixture).await {
                return self.findings.skip(rule, "it did not join this match");
            }
            match self.play_through(&fixture).await {
                Ok(played) => {
                    let note = format!("{} moves", played.moves);
                    let message = self.result_of(&fixture, played, Ending::Won);
                    self.send_notice(&message, self.timing.game_over).await;
                    self.findings.pass(rule, note);
                }
                Err((what, reply)) => {
                    let note = format!(
                        "to {what} it gave no right answer: see what it was asked, and what it answered"
                    );
                    return self.findings.violated(rule, note, &reply.exchange);
                }
            }
        }
    }

    /// Plays a match that it has joined, from the first question to the end. Our side makes an arbitrary legal move each
    /// turn. What it was asked and did not answer rightly, if so.
    pub(super) async fn play_through(
        &mut self,
        fixture: &Fixture,
    ) -> Result<PlayedMatch, (String, Box<Reply>)> {
        let mut game = self.league.game.opening(fixture.seat);
        if !self.league.game.asks_by_move() {
            let message = self.league.question(self.probe.clock.now(), fixture);
            let reply = self
                .send_question(&message, fixture, self.timing.choice)
                .await;
            let chosen = self.without_recording(|suite| suite.check_choice(&reply, fixture));
            let first = chosen.ok_or_else(|| (reply.exchange.subject.clone(), Box::new(reply)))?;
            return Ok(PlayedMatch {
                first: Some(first),
                game,
                moves: 1,
            });
        }
        let mut moves = 0;
        while !game.turn().seats().is_empty() {
            let turn = game.turn();
            if turn != Turn::One(fixture.seat.other()) {
                let asked = game.request(fixture.seat);
                let now = self.probe.clock.now();
                let message = self.league.question_in(now, fixture, game.as_ref());
                let reply = self
                    .send_question(&message, fixture, self.timing.choice)
                    .await;
                let made =
                    self.without_recording(|suite| suite.check_move(&reply, fixture, &asked));
                let is_legal = match &made {
                    Some(made) => {
                        let rules = &self.league.game;
                        let played = rules.play(game.as_mut(), fixture.seat, &made.choice);
                        played.await.unwrap_or(false)
                    }
                    None => false,
                };
                if !is_legal {
                    let what = format!("{} for its move {}", reply.exchange.subject, moves + 1);
                    return Err((what, Box::new(reply)));
                }
                moves += 1;
            }
            if turn != Turn::One(fixture.seat) {
                let other = fixture.seat.other();
                let rules = &self.league.game;
                let moved = rules.play_any(game.as_mut(), other, moves * 5 + 1).await;
                if !moved.unwrap_or(false) {
                    break;
                }
            }
        }
        Ok(PlayedMatch {
            first: None,
            game,
            moves,
        })
    }

    /// GAME_OVER of a match. `ending` is for even/odd; other games end as they were played.
    pub(super) fn result_of(
        &self,
        fixture: &Fixture,
        played: PlayedMatch,
        ending: Ending,
    ) -> Message {
        let now = self.probe.clock.now();
        match played.first {
            Some(chosen) => self.parity_result(fixture, Some(&chosen), ending),
            None => self.league.over(now, fixture, played.game.as_ref()),
        }
    }

    /// GAME_OVER of a match whose first question was answered with this.
    pub(super) async fn result_after(&self, fixture: &Fixture, chosen: Option<&Chosen>) -> Message {
        if !self.league.game.asks_by_move() {
            return self.parity_result(fixture, chosen, Ending::Won);
        }
        let mut game = self.league.game.opening(fixture.seat);
        if let Some(chosen) = chosen {
            // It was validated before.
            let rules = &self.league.game;
            let _ = rules
                .play(game.as_mut(), fixture.seat, &chosen.choice)
                .await;
        }
        // Where the rules outside fail, the match is told as far as it went.
        let _ = self.league.game.play_out(game.as_mut()).await;
        self.league
            .over(self.probe.clock.now(), fixture, game.as_ref())
    }

    fn parity_result(&self, fixture: &Fixture, chosen: Option<&Chosen>, ending: Ending) -> Message {
        let parity = chosen.and_then(|chosen| Parity::parse(chosen.choice.as_str()?));
        let nonce = chosen.and_then(|chosen| chosen.nonce.clone());
        let choice = (parity.unwrap_or(Parity::Even), nonce);
        let now = self.probe.clock.now();
        self.league.parity_over(now, fixture, choice, ending)
    }
}
