//! Checkpoints: the driver signs the head of the manager's hash chain at the end of each round and of the league, and
//! the manager records the signed note as an event, so that later heads cover earlier checkpoints. The manager knows
//! neither the chain nor the private key; it says when a signature is due.

use super::event::LeagueEvent;
use super::manager::{Ctx, Manager};
use super::notices::Notice;
use super::request::{ReceivedMessage, RequestError};
use crate::agent::{Agent, Content, RequestId, Signed, Signing, SigningDue};
use crate::protocol::dialect::Dialect;
use crate::protocol::error::ErrorCode;
use crate::protocol::ids::LeagueId;
use crate::protocol::messages::{Phase, RoundCompleted};
use crate::protocol::{Envelope, MessageType, Sender, Timestamp, Token};
use crate::signature::{PublicKey, Signature, SigningKey};
use smol_str::format_smolstr;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// The name of the checkpoint key in a ROTATE order.
pub const CHECKPOINT_KEY: &str = "checkpoint-key";

/// The label under which a key signs its successor.
const SUCCESSOR: &[u8] = b"matchday-checkpoint-key-1";

/// The state of checkpoints, folded from events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checkpoints {
    /// The current key.
    pub key: Option<PublicKey>,
    /// The latest signed note.
    pub latest: Option<Arc<str>>,
    /// Whether a round or the league has ended since.
    pub due: bool,
}

impl Checkpoints {
    pub(super) fn apply(&mut self, event: &LeagueEvent) {
        match event {
            LeagueEvent::ManagerKeyAnnounced { public_key, .. } => self.key = Some(*public_key),
            LeagueEvent::CheckpointSigned { note } => {
                self.latest = Some(Arc::clone(note));
                self.due = false;
            }
            LeagueEvent::RoundCompleted { .. } | LeagueEvent::LeagueCompleted { .. } => self.due = true,
            _ => {}
        }
    }
}

/// The first line of a league's checkpoints, and the name of its key: `matchday/league_2025_even_odd/manager`.
/// Characters that a key name cannot have are percent-encoded.
pub fn checkpoint_origin(league_id: &LeagueId) -> String {
    let mut origin = String::from("matchday/");
    for byte in league_id.as_str().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                origin.push(char::from(byte))
            }
            _ => drop(write!(origin, "%{byte:02X}")),
        }
    }
    origin.push_str("/manager");
    origin
}

/// Signs the new key with the old one.
pub fn sign_successor(old: &SigningKey, league_id: &LeagueId, new: &PublicKey) -> Signature {
    old.sign_list(&[SUCCESSOR, league_id.as_str().as_bytes(), new.as_bytes()])
}

/// Whether a new key was signed by the one before it.
pub fn is_successor(old: &PublicKey, league_id: &LeagueId, new: &PublicKey, signature: &Signature) -> bool {
    old.verifies_list(&[SUCCESSOR, league_id.as_str().as_bytes(), new.as_bytes()], signature)
}

impl Signing for Manager {
    fn signing(&self) -> Option<SigningDue<'_>> {
        let league = &self.league;
        league.created.then(|| SigningDue {
            league_id: &league.settings.league_id,
            key: league.checkpoints.key.as_ref(),
            rotation: self.key_rotation.is_some(),
            checkpoint: league.checkpoints.due,
        })
    }
}

/// What is told to everyone together with the checkpoint that covers it.
#[derive(Debug)]
pub(super) enum Completion {
    Round(RoundCompleted),
    League,
}

/// What has ended and is not told yet.
#[derive(Debug, Default)]
pub(super) struct Unsigned {
    completions: Vec<Completion>,
    /// When it is told with an earlier checkpoint.
    pub(super) until: Option<Timestamp>,
}

impl Unsigned {
    pub(super) fn is_empty(&self) -> bool {
        self.completions.is_empty()
    }
}

/// How long a completion waits for its checkpoint. The driver signs at once, unless it has lost its keys.
const SIGNING_TIME: Duration = Duration::from_secs(1);

impl Manager {
    /// Tells what has ended, as soon as its end is signed.
    pub(super) fn tell_when_signed(&mut self, ctx: &mut Ctx<'_>, completion: Completion) {
        if self.league.checkpoints.key.is_none() || !self.league.checkpoints.due {
            return self.tell_end(ctx, completion);
        }
        self.unsigned.completions.push(completion);
        self.unsigned.until = Some(ctx.now + SIGNING_TIME);
    }

    /// Tells what waited for its checkpoint, and goes on.
    pub(super) fn tell_unsigned(&mut self, ctx: &mut Ctx<'_>) {
        let Unsigned { completions, .. } = std::mem::take(&mut self.unsigned);
        if completions.is_empty() {
            return;
        }
        for completion in completions {
            self.tell_end(ctx, completion);
        }
        self.advance(ctx);
    }

    fn tell_end(&mut self, ctx: &mut Ctx<'_>, completion: Completion) {
        match completion {
            Completion::Round(completed) => {
                let checkpoint = self.league.checkpoints.latest.clone();
                let conversation = format_smolstr!("conv-round-{}-complete", completed.round_id);
                let completed = RoundCompleted { checkpoint, ..completed };
                self.tell_everyone(ctx, &Notice::lasting(conversation, completed));
            }
            // An order may have taken it up again.
            Completion::League if self.league.phase != Phase::Completed => {}
            Completion::League => self.tell_completed(ctx),
        }
    }

    /// Shows the latest checkpoint to anyone, or where the league is not open to readers to the operator.
    pub(super) fn show_checkpoint(
        &mut self,
        ctx: &mut Ctx<'_>,
        to: RequestId,
        dialect: Dialect,
        operator_token: Option<Token>,
    ) {
        if operator_token.is_none() || self.league.settings.public_reads {
            return match self.check_reader(None) {
                Ok(()) => self.reply_checkpoint(ctx, to),
                Err(error) => self.refuse_reader(ctx, to, error),
            };
        }
        let envelope = self.envelope(ctx.now, "conv-look").with_token(operator_token);
        let envelope = Envelope { sender: Sender::Launcher, ..envelope };
        match self.authorize(&envelope, MessageType::LeagueOrder, false) {
            Ok(_) => self.reply_checkpoint(ctx, to),
            Err(error) => {
                let received = ReceivedMessage {
                    request: to,
                    envelope,
                    message_type: None,
                    dialect,
                    objection: None,
                    client: None,
                    join_code: None,
                };
                self.reject_sender(ctx, &received, error);
            }
        }
    }

    pub(super) fn reply_checkpoint(&self, ctx: &mut Ctx<'_>, to: RequestId) {
        let latest = self.league.checkpoints.latest.as_deref();
        ctx.reply(to, Content::Data(serde_json::json!({ "checkpoint": latest })));
    }

    pub(super) fn on_signed(&mut self, ctx: &mut Ctx<'_>, signed: Signed) {
        match signed {
            Signed::Checkpoint { note } => {
                self.record(ctx, LeagueEvent::CheckpointSigned { note: note.into() });
                self.tell_unsigned(ctx);
            }
            Signed::Key { public_key, signature } => {
                self.record(ctx, LeagueEvent::ManagerKeyAnnounced { public_key, signature });
                if let Some(received) = self.key_rotation.take() {
                    self.reply(ctx, &received, self.status());
                }
            }
            Signed::Failed(why) => {
                if let Some(received) = self.key_rotation.take() {
                    let message = format!("the checkpoint key stays as it is: {why}");
                    self.reply_error(ctx, &received, RequestError::new(ErrorCode::Internal, message));
                }
            }
        }
    }

    /// The driver creates the new key; the order is answered afterwards.
    pub(super) fn rotate_checkpoint_key(&mut self, received: &ReceivedMessage) -> Result<(), RequestError> {
        if self.league.checkpoints.key.is_none() || self.key_rotation.is_some() {
            let message = match self.key_rotation {
                None => "this manager signs no checkpoints: there is no key to rotate",
                Some(_) => "the checkpoint key is being rotated already",
            };
            return Err(RequestError::new(ErrorCode::InvalidState, message));
        }
        self.key_rotation = Some(received.clone());
        Ok(())
    }
}
