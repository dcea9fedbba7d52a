//! Matches with external rules: the game program is asked for every position, and the match continues with its answer.
//! If it fails, the match restarts a little later with the same secret, and no player loses by it. If it keeps failing, the
//! match is handed back to the manager with the reason.

use super::{AssignedMatch, Ctx, Referee, RefereeSettings};
use crate::agent::{ExternalId, ExternalResult, RulesRequest};
use crate::game::external::ExternalGame;
use crate::game::{self, Game};
use crate::protocol::{GameType, MatchId, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// The backoff before a match restarts.
const PAUSE: Duration = Duration::from_secs(2);

/// How often the rules may fail in one assignment of a match.
const FAILURES_MAX: u32 = 2;

/// The game with external rules, and the pending requests.
#[derive(Debug)]
pub(super) struct ExternalRules {
    game_type: GameType,
    /// The timeout of one request.
    time: Duration,
    last: u64,
    pending: BTreeMap<ExternalId, PendingRules>,
    /// How often they have failed, by match.
    failures: BTreeMap<MatchId, u32>,
}

#[derive(Debug)]
struct PendingRules {
    match_id: MatchId,
    until: Timestamp,
}

impl ExternalRules {
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        self.pending.values().map(|pending| pending.until).min()
    }

    fn due(&self, now: Timestamp) -> Option<ExternalId> {
        self.pending
            .iter()
            .find(|(_, pending)| pending.until <= now)
            .map(|(id, _)| *id)
    }
}

impl Referee {
    /// A referee of one more game, whose rules it asks for by [`RulesRequest`]. They have `time` for each answer.
    pub fn with_external_rules(
        settings: RefereeSettings,
        game_type: GameType,
        time: Duration,
    ) -> Self {
        let external_rules = ExternalRules {
            game_type,
            time,
            last: 0,
            pending: BTreeMap::new(),
            failures: BTreeMap::new(),
        };
        Self {
            external_rules: Some(external_rules),
            ..Self::new(settings)
        }
    }

    /// A new game of this type, if it can be played here.
    pub(super) fn new_game(&self, game_type: &GameType) -> Option<Box<dyn Game>> {
        let outside = self
            .external_rules
            .as_ref()
            .filter(|external_rules| external_rules.game_type == *game_type);
        match outside {
            Some(_) => Some(Box::new(ExternalGame::default())),
            None => game::find(game_type).map(|entry| (entry.new)()),
        }
    }

    /// Asks for the position of a match.
    pub(super) fn ask_rules(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId) {
        let (Some(external_rules), Some(ongoing)) =
            (&mut self.external_rules, self.playing.get_mut(match_id))
        else {
            return;
        };
        external_rules.last += 1;
        let id = ExternalId(external_rules.last);
        let until = ctx.now + external_rules.time;
        external_rules.pending.insert(
            id,
            PendingRules {
                match_id: match_id.clone(),
                until,
            },
        );
        ongoing.rules_request = Some(id);
        let history = ongoing.game.history().to_vec();
        ctx.step.rules_requests.push(RulesRequest {
            id,
            match_id: match_id.clone(),
            history,
            until,
        });
    }

    /// Handles the answer of the rules; ignored if the match is gone.
    pub(super) fn on_rules_result(
        &mut self,
        ctx: &mut Ctx<'_>,
        inquiry: ExternalId,
        decision: ExternalResult,
    ) {
        let now = ctx.now;
        let pending = self
            .external_rules
            .as_mut()
            .and_then(|external_rules| external_rules.pending.remove(&inquiry));
        let Some(PendingRules { match_id, .. }) = pending else {
            return;
        };
        let is_awaited = self
            .playing
            .get(&match_id)
            .is_some_and(|ongoing| ongoing.rules_request == Some(inquiry));
        if !is_awaited {
            return;
        }
        let outcome = decision.and_then(|said| {
            let on_rules_result = self.with(ctx, &match_id, |ongoing, actions| {
                ongoing.on_rules_result(now, said, actions)
            });
            on_rules_result.unwrap_or(Ok(()))
        });
        if let Err(why) = outcome {
            self.on_rules_failure(ctx, &match_id, &why);
        }
    }

    /// Times out rules requests.
    pub(super) fn expire_rules_requests(&mut self, ctx: &mut Ctx<'_>) {
        while let Some(inquiry) = self
            .external_rules
            .as_ref()
            .and_then(|external_rules| external_rules.due(ctx.now))
        {
            self.on_rules_result(ctx, inquiry, Err("no answer came in time".to_owned()));
        }
    }

    fn on_rules_failure(&mut self, ctx: &mut Ctx<'_>, match_id: &MatchId, why: &str) {
        let Some(external_rules) = &mut self.external_rules else {
            return;
        };
        let failures = external_rules.failures.entry(match_id.clone()).or_default();
        *failures += 1;
        if *failures < FAILURES_MAX {
            return self.restart_match(ctx.now, match_id);
        }
        external_rules.failures.remove(match_id);
        self.hand_back(
            ctx,
            match_id,
            format!("the game program failed {FAILURES_MAX} times: {why}"),
        );
    }

    fn restart_match(&mut self, now: Timestamp, match_id: &MatchId) {
        let Some(AssignedMatch::Open { order, .. }) = self.durable.matches().get(match_id) else {
            return;
        };
        let order = *order;
        self.drop_match(match_id);
        self.queue.put_at(now + PAUSE, order, match_id.clone());
    }
}
