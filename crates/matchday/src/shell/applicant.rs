//! Puts requests into the inbox, and with a registration what there is against the endpoint that it names. Where that is
//! not known before its name has been looked up, this one request waits for that, and no other.

use super::driver::Surroundings;
use super::inbox::{Arrived, ArrivedRequest, ReplySlot};
use matchday_core::agent::{Ask, Content};
use matchday_core::protocol::dialect::Dialect;
use matchday_core::protocol::{Body, Endpoint, Timestamp, Token};
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// Where a request comes from.
#[derive(Debug, Clone)]
pub(super) struct From {
    pub(super) this_machine: bool,
    pub(super) kin: bool,
    pub(super) client: IpAddr,
    pub(super) join_code: Option<Token>,
}

/// The reply comes out of what is returned; an error there means that none will come.
pub(super) fn put(
    around: &Arc<Surroundings>,
    place: OwnedSemaphorePermit,
    at: Timestamp,
    ask: Ask,
    dialect: Dialect,
    from: From,
) -> oneshot::Receiver<Content> {
    let (slot, reply) = ReplySlot::new(place, from.kin);
    let named = endpoint(&ask).cloned();
    let From { this_machine: local, client, join_code, .. } = from;
    let mut request =
        ArrivedRequest { at, ask, dialect, local, objection: None, client, join_code, reply: slot };
    if let (Some(named), Some(strangers)) = (named, around.client.strangers()) {
        let Some(verdict) = strangers.judge_known(named.raw()) else {
            let (around, strangers) = (Arc::clone(around), strangers.clone());
            tokio::spawn(async move {
                request.objection = strangers.judge(named.raw()).await.err().map(|why| why.to_string());
                around.inbox.put(Arrived::Request(request));
            });
            return reply;
        };
        request.objection = verdict.err().map(|why| why.to_string());
    }
    around.inbox.put(Arrived::Request(request));
    reply
}

/// The endpoint that a registration names.
fn endpoint(ask: &Ask) -> Option<&Endpoint> {
    let Ask::Message(Ok(incoming)) = ask else { return None };
    match &incoming.body {
        Ok(Body::LeagueRegisterRequest(request)) => Some(&request.player_meta.contact_endpoint),
        Ok(Body::RefereeRegisterRequest(request)) => Some(&request.referee_meta.contact_endpoint),
        _ => None,
    }
}
