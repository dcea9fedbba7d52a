//! What there is to tell whoever holds a seat: found at once, or waited for.

use super::book::SeatEvent;
use super::guest::Trouble;
use super::one::{Invited, Seat, View};
use super::words::{Happened, News, Turn};
use super::{Seats, table};
use matchday_core::enrol::Enrolment;
use matchday_core::protocol::ErrorCode;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How long it is waited for the turn that follows an invitation, so that both are told at once.
const TURN_FOLLOWS: Duration = Duration::from_secs(1);
/// What becomes of a registration is not always stored, so it is looked at from time to time.
const LOOK_EVERY: Duration = Duration::from_millis(250);

impl Seats {
    /// Waits until there is something to tell, but no longer than `patience`.
    pub(super) async fn wait(&self, seat: &Seat, patience: Duration) -> Result<News, Trouble> {
        let mut until = Instant::now() + patience;
        let (mut turns, mut changes) = (seat.turns.news(), seat.changes.clone());
        let mut closing = self.closing.subscribe();
        loop {
            turns.borrow_and_update();
            changes.borrow_and_update();
            if *closing.borrow_and_update() {
                return Err(Trouble::stopping());
            }
            let view = self.look(seat).await?;
            if let Some(news) = self.news(seat, &view).await? {
                return Ok(news);
            }
            let invitation = untold(seat, &view);
            let now = Instant::now();
            if invitation.is_some() && until > now + TURN_FOLLOWS {
                until = now + TURN_FOLLOWS;
            }
            if now >= until {
                return Ok(idle(seat, view, invitation));
            }
            let next_look = sleep_until(until.min(now + LOOK_EVERY));
            tokio::select! {
                () = next_look => {}
                Ok(()) = turns.changed() => {}
                Ok(()) = changes.changed() => {}
                _ = closing.changed() => {}
            }
        }
    }

    /// The player as it stands, with the games that have not been told.
    async fn look(&self, seat: &Seat) -> Result<View, Trouble> {
        let told = seat.told.lock().unwrap_or_else(PoisonError::into_inner).games;
        let view = seat.view(told).await.ok_or_else(Trouble::stopped)?;
        match (&view.enrolment, &view.identity) {
            (Enrolment::Refused { reason, .. }, None) => {
                let why = format!(
                    "the manager of the league refuses you: {} - your seat is given up; mend that and call \
                     join_league again, or wait for another league",
                    reason.escaped()
                );
                self.give_up(seat).await?;
                Err(Trouble::new(ErrorCode::InvalidState, why))
            }
            _ => Ok(view),
        }
    }

    async fn news(&self, seat: &Seat, view: &View) -> Result<Option<News>, Trouble> {
        if let Some(turn) = seat.turns.first() {
            let invitation = view.invited.iter().find(|invited| invited.match_id == turn.sheet.match_id);
            let invitation = invitation.cloned();
            tell(seat, invitation.as_ref());
            let next = "Choose one of turn.options, and call make_move with it as choice (and turn.turn as turn) \
                        before the deadline.";
            let mut news = self.told(seat, view, Happened::YourTurn, next).await?;
            news.turn = Some(Turn::of(turn));
            news.invitation = invitation.map(Into::into);
            return Ok(Some(news));
        }
        if view.is_over {
            let next = "There is nothing more to play. Tell how it went: your place, your results, and what decided \
                        them.";
            let mut news = self.told(seat, view, Happened::LeagueOver, next).await?;
            if let Some(own) = &view.identity {
                match table::standings(&self.options, &self.settings.manager, own).await {
                    Ok(rows) => news.final_table = Some(rows),
                    Err(why) => news.next = format!("{} The final table is missing: {why}.", news.next),
                }
            }
            return Ok(Some(news));
        }
        if !view.games.is_empty() {
            let next = "Call wait_for_turn again, at once: your next match may begin any moment.";
            return Ok(Some(self.told(seat, view, Happened::Result, next).await?));
        }
        Ok(None)
    }

    /// News with the results that were not told yet, which now they are.
    async fn told(&self, seat: &Seat, view: &View, happened: Happened, next: &str) -> Result<News, Trouble> {
        if !view.games.is_empty() {
            seat.told.lock().unwrap_or_else(PoisonError::into_inner).games = view.played;
            let told = SeatEvent::Told { number: seat.number, games: view.played };
            self.book.write(&told).await.map_err(Trouble::internal)?;
        }
        Ok(News {
            happened,
            turn: None,
            invitation: None,
            results: view.games.clone(),
            final_table: None,
            player_id: view.identity.as_ref().map(|identity| identity.id.clone()),
            next: next.to_owned(),
        })
    }
}

/// The match that has begun last, if it has not been told of.
fn untold(seat: &Seat, view: &View) -> Option<Invited> {
    let told = seat.told.lock().unwrap_or_else(PoisonError::into_inner);
    view.invited.last().filter(|invited| told.invitation.as_ref() != Some(&invited.match_id)).cloned()
}

fn tell(seat: &Seat, invitation: Option<&Invited>) {
    if let Some(invited) = invitation {
        let mut told = seat.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.invitation = Some(invited.match_id.clone());
    }
}

/// The time is over: there is an invitation, or nothing.
fn idle(seat: &Seat, view: View, invitation: Option<Invited>) -> News {
    tell(seat, invitation.as_ref());
    let (happened, next) = match (&invitation, &view.enrolment, &view.identity) {
        (Some(_), _, _) => {
            (Happened::Invitation, "A match has begun. Call wait_for_turn again, at once, for your turn.".to_owned())
        }
        (None, Enrolment::Waiting { why, .. }, None) => {
            let next = format!(
                "The manager of the league does not answer ({}), and is asked again and again. Call \
                 wait_for_turn again; if this goes on, tell the operator.",
                why.escaped()
            );
            (Happened::WaitingForManager, next)
        }
        (None, _, None) => {
            (Happened::WaitingForManager, "The manager has not answered yet. Call wait_for_turn again.".to_owned())
        }
        (None, _, Some(_)) => (
            Happened::NothingYet,
            "Call wait_for_turn again: the league has not begun, or it is not your turn yet. Go on until it tells \
             league_over."
                .to_owned(),
        ),
    };
    News {
        happened,
        turn: None,
        invitation: invitation.map(Into::into),
        results: Vec::new(),
        final_table: None,
        player_id: view.identity.map(|identity| identity.id),
        next,
    }
}
