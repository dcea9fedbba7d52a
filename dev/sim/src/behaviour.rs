//! Misbehaving players: an ordinary player whose answers are changed on their way out.

use super::faults::pick;
use super::wire::Reader;
use matchday_core::agent::Answer;
use matchday_core::entropy::Entropy;
use matchday_core::protocol::messages::GameJoinAck;
use matchday_core::protocol::{Body, MatchId, Message};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// In what way a player misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Character {
    /// Follows the protocol.
    Honest,
    /// Answers nothing that a referee asks.
    Silent,
    /// Answers nobody at all, though its computer runs.
    Mute,
    /// Declines every invitation.
    Refuser,
    /// Chooses what cannot be chosen.
    InvalidChoice,
    /// Answers for another match.
    WrongMatch,
    /// Answers with what is no message.
    Garbled,
    /// Says "received", and sends its answer as a request of its own.
    SeparatePost,
    /// Answers, and then answers again with another choice.
    DoubleAnswer,
    /// Takes its time, at times too much of it.
    Slow,
    /// Crashes at some time and stays away.
    Dies,
    /// Crashes at some time and stays away for longer than the faults last.
    Returns,
}

/// How a player behaves, and how often: in the rest it is honest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behaviour {
    /// What it does when it misbehaves.
    pub character: Character,
    /// The percentage of its answers in games that are changed.
    pub percent: u64,
}

/// What becomes of an answer.
#[derive(Debug, Clone)]
pub(super) enum Corruption {
    /// It goes out as it is, perhaps late.
    Plain {
        after: Duration,
    },
    /// This goes out instead.
    Instead(Answer),
    /// This goes out, and the answer follows as a request of its own.
    Separate(Answer),
    /// It goes out, and then this as a request of its own.
    Twice(Message),
    Nothing,
}

/// What the message catalogue lists as no choice, in even/odd or any other game.
fn no_choices() -> [Value; 8] {
    [
        json!("Even"),
        json!("EVEN"),
        json!("e"),
        json!(0.5),
        json!(true),
        json!(null),
        json!(""),
        json!(" odd"),
    ]
}

impl Behaviour {
    /// Never misbehaves.
    pub const HONEST: Self = Self {
        character: Character::Honest,
        percent: 0,
    };

    /// Some misbehaviour, never an honest player.
    pub fn drawn(chance: &mut Entropy) -> Self {
        use Character::*;
        let manners = [
            Silent,
            Mute,
            Refuser,
            InvalidChoice,
            WrongMatch,
            Garbled,
            SeparatePost,
            DoubleAnswer,
            Slow,
            Dies,
            Returns,
        ];
        Self {
            character: pick(chance, &manners).copied().unwrap_or(Silent),
            percent: pick(chance, &[30, 70, 100]).copied().unwrap_or(100),
        }
    }

    /// Whether a referee always gets the right answer in time, if perhaps by an odd way.
    pub fn is_sound(&self) -> bool {
        matches!(
            self.character,
            Character::Honest | Character::SeparatePost | Character::DoubleAnswer
        )
    }

    /// Whether it may be away when the league begins, or for ever.
    pub fn is_absent(&self) -> bool {
        matches!(
            self.character,
            Character::Dies | Character::Returns | Character::Mute
        )
    }

    /// What to do with an answer, of which `reader` is who asked.
    pub(super) fn twist(
        &self,
        chance: &mut Entropy,
        message: &Message,
        window: Duration,
        reader: &Reader,
    ) -> Corruption {
        let plain = Corruption::Plain {
            after: Duration::ZERO,
        };
        let in_game = matches!(
            message.body,
            Body::GameJoinAck(_) | Body::ChooseParityResponse(_) | Body::GameMoveResponse(_)
        );
        if !in_game || !chance.chance(self.percent) {
            return plain;
        }
        match self.character {
            Character::Honest | Character::Dies | Character::Returns => plain,
            Character::Silent | Character::Mute => Corruption::Nothing,
            Character::Refuser => match &message.body {
                Body::GameJoinAck(ack) => {
                    let ack = GameJoinAck {
                        accept: false,
                        ..GameJoinAck::clone(ack)
                    };
                    Corruption::Instead(whole(Message::new(message.envelope.clone(), ack)))
                }
                _ => plain,
            },
            Character::InvalidChoice => match &message.body {
                Body::GameJoinAck(_) => plain,
                _ => Corruption::Instead(with_no_choice(chance, message, reader)),
            },
            Character::WrongMatch => Corruption::Instead(whole(for_another_match(message))),
            Character::Garbled => {
                Corruption::Instead(Answer::Garbled("<html>502 Bad Gateway</html>".into()))
            }
            Character::SeparatePost => Corruption::Separate(Answer::Received),
            Character::DoubleAnswer => Corruption::Twice(with_another_choice(message)),
            Character::Slow => {
                let longest = u64::try_from(window.as_micros())
                    .unwrap_or(0)
                    .saturating_mul(3)
                    / 2;
                Corruption::Plain {
                    after: Duration::from_micros(chance.below(longest)),
                }
            }
        }
    }
}

fn whole(message: Message) -> Answer {
    Answer::Message(Ok(message.into()))
}

/// The same answer, but with something in it that cannot be chosen: read as any answer is.
fn with_no_choice(chance: &mut Entropy, message: &Message, reader: &Reader) -> Answer {
    let choice = pick(chance, &no_choices()).cloned().unwrap_or_default();
    let mut value = serde_json::to_value(message).unwrap_or_default();
    for path in ["/parity_choice", "/move_data/choice"] {
        if let Some(place) = value.pointer_mut(path) {
            *place = choice.clone();
        }
    }
    reader.message(&value, None)
}

fn with_another_choice(message: &Message) -> Message {
    let mut message = message.clone();
    if let Body::ChooseParityResponse(choice) = &mut message.body {
        let choice = Arc::make_mut(choice);
        choice.parity_choice = choice.parity_choice.other();
    }
    message
}

fn for_another_match(message: &Message) -> Message {
    let mut message = message.clone();
    let other = MatchId::new("R9M9");
    match &mut message.body {
        Body::GameJoinAck(ack) => Arc::make_mut(ack).match_id = other,
        Body::ChooseParityResponse(choice) => Arc::make_mut(choice).match_id = other,
        Body::GameMoveResponse(made) => Arc::make_mut(made).match_id = other,
        _ => {}
    }
    message
}
