//! What others have signed and the player keeps, so that its store can show what it was told: commitments and results of
//! referees, checkpoints of the manager. Nothing of it is refused: who plays on loses no match by the fault of a referee.

use super::event::{PlayerEvent, SignedResult};
use super::{Ctx, Player};
use crate::agent::Agent;
use crate::protocol::messages::{GameInvitation, GameOver};
use crate::protocol::{Attempt, LeagueId, MatchId, MessageType};
use crate::referee_statement::{AttemptRef, Statement, result_text};
use crate::signature::{PublicKey, Signature};
use smol_str::SmolStr;
use std::sync::Arc;

/// The longest result that is kept as evidence.
const RESULT_BYTES_MAX: usize = 16 * 1024;

impl Player {
    /// The referee's signature over its commitment, to be kept; none if it does not fit.
    pub(super) fn commitment_signature(
        &mut self,
        ctx: &mut Ctx<'_>,
        attempt: Attempt,
        invitation: &GameInvitation,
    ) -> Option<Signature> {
        let statement = Statement::Commitment(invitation.draw_commitment.as_ref()?);
        let match_id = &invitation.match_id;
        let signature = invitation.commitment_signature;
        self.checked(
            ctx,
            match_id,
            attempt,
            MessageType::GameInvitation,
            statement,
            signature,
        )
    }

    /// The result as the referee signed it, to be kept; none if its signature does not fit.
    pub(super) fn signed_result(
        &mut self,
        ctx: &mut Ctx<'_>,
        attempt: Attempt,
        over: &GameOver,
    ) -> Option<SignedResult> {
        let game_result = result_text(&over.game_result);
        let statement = Statement::Result(&game_result);
        let signature = self.checked(
            ctx,
            &over.match_id,
            attempt,
            MessageType::GameOver,
            statement,
            over.signature,
        )?;
        (game_result.len() <= RESULT_BYTES_MAX).then_some(SignedResult {
            attempt,
            game_result,
            signature,
        })
    }

    /// Where the referee's key is not known here, whoever has the manager's log can check its signature.
    fn checked(
        &mut self,
        ctx: &mut Ctx<'_>,
        match_id: &MatchId,
        attempt: Attempt,
        message_type: MessageType,
        statement: Statement<'_>,
        signature: Option<Signature>,
    ) -> Option<Signature> {
        let Some((league_id, key)) = self.referee_key(match_id, attempt) else {
            return signature;
        };
        let about = AttemptRef {
            league_id,
            match_id,
            attempt,
        };
        if signature.is_some_and(|signature| about.is_signed(&key, statement, &signature)) {
            return signature;
        }
        let match_id = match_id.clone();
        let message_type = SmolStr::new_static(message_type.name());
        self.record(
            ctx,
            PlayerEvent::NotSigned {
                match_id,
                attempt,
                message_type,
            },
        );
        None
    }

    /// The key that the manager has announced for the referee of this attempt.
    fn referee_key(&self, match_id: &MatchId, attempt: Attempt) -> Option<(&LeagueId, PublicKey)> {
        let notice = self
            .durable
            .find(match_id)?
            .notice
            .filter(|notice| notice.attempt == attempt)?;
        Some((self.identity()?.league_id.as_ref()?, notice.referee_key?))
    }

    /// Keeps the manager's checkpoint as it is: its signature is judged by whoever has the log beside it.
    pub(super) fn keep_checkpoint(&mut self, ctx: &mut Ctx<'_>, told: Option<&Arc<str>>) {
        if let Some(note) = told.filter(|note| self.durable.checkpoint() != Some(note)) {
            self.record(
                ctx,
                PlayerEvent::CheckpointReceived {
                    note: Arc::clone(note),
                },
            );
        }
    }
}
