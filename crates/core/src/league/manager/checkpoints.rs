//! Checkpoints and the key that signs them: what is told with them, and orders about them.

use super::{Ctx, Manager};
use crate::agent::{Agent, Content, RequestId, Signed, Signing, SigningDue};
use crate::league::event::LeagueEvent;
use crate::league::notices::Notice;
use crate::league::request::{ReceivedMessage, RequestError};
use crate::league::signatures::Completion;
use crate::protocol::MessageType;
use crate::protocol::error::ErrorCode;
use crate::protocol::messages::{Phase, RoundCompleted};

/// The name of the checkpoint key in a ROTATE order.
pub const CHECKPOINT_KEY: &str = "checkpoint-key";

impl Signing for Manager {
    fn signing(&self) -> Option<SigningDue<'_>> {
        let league = &self.league;
        league.created.then(|| SigningDue {
            league_id: &league.settings.league_id,
            key: league.checkpoints.key.as_ref(),
            rotation: self.signatures.is_rotating(),
            checkpoint: league.checkpoints.due,
        })
    }
}

impl Manager {
    /// Tells what has ended, as soon as its end is signed.
    pub(super) fn tell_when_signed(&mut self, ctx: &mut Ctx<'_>, completion: Completion) {
        if self.league.checkpoints.key.is_none() || !self.league.checkpoints.due {
            self.tell_end(ctx, completion);
        } else {
            self.signatures.hold(ctx.now, completion);
        }
    }

    /// Tells what waited for its checkpoint, and goes on.
    pub(super) fn tell_unsigned(&mut self, ctx: &mut Ctx<'_>) {
        let completions = self.signatures.take_completions();
        if completions.is_empty() {
            return;
        }
        for completion in completions {
            self.tell_end(ctx, completion);
        }
        self.advance(ctx);
    }

    fn tell_end(&mut self, ctx: &mut Ctx<'_>, completion: Completion) {
        let notice = match completion {
            Completion::Round(completed) => {
                let checkpoint = self.league.checkpoints.latest.clone();
                Some(Notice::from(RoundCompleted {
                    checkpoint,
                    ..completed
                }))
            }
            // An order may have taken it up again.
            Completion::League if self.league.phase != Phase::Completed => None,
            Completion::League => self.league.completion().map(Notice::from),
        };
        if let Some(notice) = notice {
            self.tell_everyone(ctx, &notice);
        }
    }

    /// Shows the latest checkpoint.
    pub(super) fn show_checkpoint(&self, ctx: &mut Ctx<'_>, to: RequestId) {
        let latest = self.league.checkpoints.latest.as_deref();
        ctx.reply(
            to,
            Content::Data(serde_json::json!({ "checkpoint": latest })),
        );
    }

    /// Shows the latest checkpoint of a league that is not open to readers.
    pub(super) fn show_checkpoint_to_operator(
        &mut self,
        ctx: &mut Ctx<'_>,
        received: &ReceivedMessage,
    ) {
        match self
            .league
            .authorize(&received.envelope, MessageType::LeagueOrder, false)
        {
            Ok(_) => self.show_checkpoint(ctx, received.request),
            Err(error) => self.reject_sender(ctx, received, error),
        }
    }

    pub(super) fn on_signed(&mut self, ctx: &mut Ctx<'_>, signed: Signed) {
        match signed {
            Signed::Checkpoint { note } => {
                self.record(ctx, LeagueEvent::CheckpointSigned { note: note.into() });
                self.tell_unsigned(ctx);
            }
            Signed::Key {
                public_key,
                signature,
            } => {
                self.record(
                    ctx,
                    LeagueEvent::ManagerKeyAnnounced {
                        public_key,
                        signature,
                    },
                );
                if let Some(received) = self.signatures.end_rotation() {
                    self.reply(ctx, &received, self.league.status());
                }
            }
            Signed::Failed(why) => {
                if let Some(received) = self.signatures.end_rotation() {
                    let message = format!("the checkpoint key stays as it is: {why}");
                    self.reply_error(
                        ctx,
                        &received,
                        RequestError::new(ErrorCode::Internal, message),
                    );
                }
            }
        }
    }

    /// The driver creates the new key; the order is answered afterwards.
    pub(super) fn rotate_checkpoint_key(
        &mut self,
        received: &ReceivedMessage,
    ) -> Result<(), RequestError> {
        let is_rotating = self.signatures.is_rotating();
        if is_rotating || self.league.checkpoints.key.is_none() {
            let message = if is_rotating {
                "the checkpoint key is being rotated already"
            } else {
                "this manager signs no checkpoints: there is no key to rotate"
            };
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        self.signatures.begin_rotation(received.clone());
        Ok(())
    }
}
