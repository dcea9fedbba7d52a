//! The methods of the standard dialect: what each takes, who serves it, and what may come back. Two tables, of league messages
//! and of [queries](query); decoding, schemas, OpenRPC documents, tools and metrics read them.

mod messages;
pub mod query;

use super::envelope::Sender;
use super::message::MessageType;
pub use query::{Query, QueryParam, QueryParams, QueryRequest, QuerySpec};

/// The kinds of agent that serve methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Party {
    /// Registers agents, draws rounds and keeps the table; also the launcher, as a sender.
    Manager,
    /// Runs matches.
    Referee,
    /// Plays matches.
    Player,
}

impl Party {
    /// In the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Manager, Self::Referee, Self::Player];

    /// The kind of this sender. The launcher counts as the manager.
    pub fn of(name: &Sender) -> Self {
        match name {
            Sender::LeagueManager | Sender::Launcher => Self::Manager,
            Sender::Referee(_) => Self::Referee,
            Sender::Player(_) => Self::Player,
        }
    }

    /// In lower case, as paths of schemas have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manager => "manager",
            Self::Referee => "referee",
            Self::Player => "player",
        }
    }
}

/// A JSON-RPC method of the standard dialect.
#[derive(Debug, Clone, Copy)]
pub struct Method {
    /// The name that we call it by.
    pub name: &'static str,
    /// Other names that are understood for it.
    pub also: &'static [&'static str],
    /// The kinds of agent that answer it.
    pub served_by: &'static [Party],
    /// What `params` holds.
    pub params: MethodParams,
    /// All that may come back; an error of JSON-RPC itself may come back from every method.
    pub results: &'static [MethodResult],
    /// For people, in one sentence.
    pub summary: &'static str,
}

/// What the `params` of a method hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodParams {
    /// The message itself, flat, as `params`.
    Message(MessageType),
    /// A few parameters, or none.
    Query(Query),
}

/// What may come back from a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodResult {
    /// A league message of this type.
    Message(MessageType),
    /// An acknowledgement of any form. Ours is `{"status": "received"}`.
    Received,
    /// An acknowledgement: the answer follows as a separate request.
    Later,
    /// `{"status": "ok"}`.
    Alive,
    /// The agent's state, for debugging, in a form of its own.
    State,
    /// An OpenRPC document.
    Document,
}

impl Method {
    /// Whether agents of this kind answer it.
    pub fn is_served_by(&self, party: Party) -> bool {
        self.served_by.contains(&party)
    }

    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// Every method that our agents serve, those of queries last. Messages that are only answers have none.
    pub fn all() -> impl Iterator<Item = Self> {
        messages::METHODS
            .iter()
            .copied()
            .chain(Query::ALL.into_iter().filter_map(Query::method))
    }

    /// The method of this name, or the one that has it as an alias.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|method| method.name == name || method.also.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_name_stands_for_two_methods() {
        let names: Vec<_> = Method::all().flat_map(|method| method.names()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }

    #[test]
    fn every_message_is_carried_by_a_method_or_answers_one() {
        for kind in MessageType::ALL {
            let carried = Method::all().any(|method| method.params == MethodParams::Message(*kind));
            let answers =
                Method::all().any(|method| method.results.contains(&MethodResult::Message(*kind)));
            assert!(carried || answers, "{kind}");
        }
    }
}
