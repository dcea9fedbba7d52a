//! Matches whose rules are kept outside: every position is put to them, and the match goes on when they have spoken. Where
//! they do not speak, or say what cannot be played by, the fault is ours and nobody's loss: the match starts over a little
//! later, with the same secret, and players that are asked the same again answer the same.

use super::{Held, Referee, RefereeEvent, Settings};
use crate::agent::{Appeal, Decision, InquiryId, Step};
use crate::game::outside::Outside;
use crate::game::{self, Game};
use crate::protocol::{GameType, MatchId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long a match waits before it starts over.
const PAUSE: Duration = Duration::from_secs(2);

/// The game that is known outside, and what is pending with it.
#[derive(Debug)]
pub(super) struct Appeals {
    game_type: GameType,
    /// How long the rules may take to say where a match stands.
    time: Duration,
    last: u64,
    pending: BTreeMap<InquiryId, Pending>,
}

#[derive(Debug)]
struct Pending {
    match_id: MatchId,
    until: Timestamp,
}

impl Appeals {
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.pending.values().map(|pending| pending.until).min()
    }

    fn due(&self, now: Timestamp) -> Option<InquiryId> {
        self.pending.iter().find(|(_, pending)| pending.until <= now).map(|(id, _)| *id)
    }
}

impl Referee {
    /// A referee of one more game, whose rules it asks for by [`Appeal`]. They have `time` for each answer.
    pub fn with_rules_outside(settings: Settings, game_type: GameType, time: Duration) -> Self {
        let appeals = Appeals { game_type, time, last: 0, pending: BTreeMap::new() };
        Self { appeals: Some(appeals), ..Self::new(settings) }
    }

    /// A game of this type at its beginning, if it can be played here.
    pub(super) fn new_game(&self, game_type: &GameType) -> Option<Box<dyn Game>> {
        let outside = self.appeals.as_ref().filter(|appeals| appeals.game_type == *game_type);
        match outside {
            Some(_) => Some(Box::new(Outside::default())),
            None => game::find(game_type).map(|entry| (entry.new)()),
        }
    }

    /// Asks where a match stands.
    pub(super) fn appeal(&mut self, now: Timestamp, match_id: &MatchId, step: &mut Step<RefereeEvent>) {
        let (Some(appeals), Some(ongoing)) = (&mut self.appeals, self.playing.get_mut(match_id)) else {
            return;
        };
        appeals.last += 1;
        let (id, until) = (InquiryId(appeals.last), now + appeals.time);
        appeals.pending.insert(id, Pending { match_id: match_id.clone(), until });
        ongoing.appeal = Some(id);
        let history = ongoing.game.history().to_vec();
        step.appeals.push(Appeal { id, match_id: match_id.clone(), history, until });
    }

    /// The rules have spoken; of no use, if the match has been taken away meanwhile.
    pub(super) fn ruled(
        &mut self,
        now: Timestamp,
        inquiry: InquiryId,
        decision: Decision,
        step: &mut Step<RefereeEvent>,
    ) {
        let pending = self.appeals.as_mut().and_then(|appeals| appeals.pending.remove(&inquiry));
        let Some(Pending { match_id, .. }) = pending else {
            return;
        };
        let is_awaited = self.playing.get(&match_id).is_some_and(|ongoing| ongoing.appeal == Some(inquiry));
        if !is_awaited {
            return;
        }
        let outcome = decision.and_then(|said| {
            let ruled = self.with(now, &match_id, step, |ongoing, acts| ongoing.ruled(now, said, acts));
            ruled.unwrap_or(Ok(()))
        });
        if outcome.is_err() {
            self.start_over(now, &match_id);
        }
    }

    /// Gives up on rules that have not spoken in time.
    pub(super) fn stop_waiting(&mut self, now: Timestamp, step: &mut Step<RefereeEvent>) {
        while let Some(inquiry) = self.appeals.as_ref().and_then(|appeals| appeals.due(now)) {
            self.ruled(now, inquiry, Err("nothing was said in time".to_owned()), step);
        }
    }

    fn start_over(&mut self, now: Timestamp, match_id: &MatchId) {
        let Some(Held::Open { order, .. }) = self.durable.matches().get(match_id) else {
            return;
        };
        let place = (now + PAUSE, *order, match_id.clone());
        self.drop_match(match_id);
        self.queue.insert(place);
    }
}
