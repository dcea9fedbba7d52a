//! Which sessions of the Model Context Protocol are open, whose they are and when each was last used, so that no address
//! takes them all. Decides which are to be closed; closing them is the transport's part.

use rmcp::transport::streamable_http_server::session::SessionId;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many sessions there may be at once. A client has one.
pub(crate) const SESSIONS_MAX: usize = 1000;
/// How many of them one address may have.
pub(crate) const SESSIONS_PER_ADDRESS: usize = SESSIONS_MAX / 4;
/// How long a session may be open before it is first used.
pub(crate) const UNUSED_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<HashMap<SessionId, Session>>>);

#[derive(Debug)]
struct Session {
    address: IpAddr,
    /// Whether its client has asked for anything since it opened it.
    used: bool,
    last: Instant,
    /// How many of its requests and streams are open.
    busy: usize,
}

/// Every session is in use, of this address or of all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// A request or a stream of a session, which is not idle for as long as this is kept.
#[derive(Debug)]
pub(super) struct InUse {
    sessions: Sessions,
    id: SessionId,
}

impl Sessions {
    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets those that have ended by themselves.
    pub(super) fn keep(&self, is_open: impl Fn(&SessionId) -> bool) {
        self.all().retain(|id, _| is_open(id));
    }

    /// Takes out those that were opened a while ago and never used.
    pub(super) fn take_unused(&self, now: Instant) -> Vec<SessionId> {
        let is_unused = |session: &Session| {
            !session.used && session.busy == 0 && now.saturating_duration_since(session.last) >= UNUSED_MAX
        };
        let mut all = self.all();
        let unused: Vec<_> =
            all.iter().filter(|(_, session)| is_unused(session)).map(|(id, _)| Arc::clone(id)).collect();
        all.retain(|id, _| !unused.contains(id));
        unused
    }

    /// Takes out the sessions that have to go before this address may open another: its own if it has too many, anybody's
    /// if there are too many.
    pub(super) fn make_room(&self, address: IpAddr) -> Result<Vec<SessionId>, Full> {
        let mut all = self.all();
        let mut gone = Vec::new();
        if all.values().filter(|session| session.address == address).count() >= SESSIONS_PER_ADDRESS {
            gone.push(take_idlest(&mut all, |session| session.address == address).ok_or(Full)?);
        }
        if all.len() >= SESSIONS_MAX {
            gone.push(take_idlest(&mut all, |_| true).ok_or(Full)?);
        }
        Ok(gone)
    }

    pub(super) fn opened(&self, id: SessionId, address: IpAddr, now: Instant) {
        self.all().insert(id, Session { address, used: false, last: now, busy: 0 });
    }

    /// A request of this session has come. `uses` tells whether it asks for anything.
    pub(super) fn begin(&self, id: &str, uses: bool, now: Instant) -> Option<InUse> {
        let mut all = self.all();
        let id = Arc::clone(all.get_key_value(id)?.0);
        let session = all.get_mut(&id)?;
        session.busy += 1;
        if uses {
            (session.used, session.last) = (true, now);
        }
        Some(InUse { sessions: self.clone(), id })
    }
}

/// Of those that nobody is waiting in: first the ones that were never used, then the one that was last used longest ago.
fn take_idlest(
    all: &mut HashMap<SessionId, Session>,
    is_eligible: impl Fn(&Session) -> bool,
) -> Option<SessionId> {
    let idle = all.iter().filter(|(_, session)| session.busy == 0 && is_eligible(session));
    let (id, _) = idle.min_by_key(|(_, session)| (session.used, session.last))?;
    let id = Arc::clone(id);
    all.remove(&id);
    Some(id)
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(session) = self.sessions.all().get_mut(&self.id) {
            session.busy = session.busy.saturating_sub(1);
            if session.used {
                session.last = Instant::now();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn open(sessions: &Sessions, id: &str, of: IpAddr, now: Instant) {
        sessions.opened(id.into(), of, now);
    }

    #[tokio::test]
    async fn sessions_that_were_never_used_go_after_a_minute_and_others_stay() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        for id in ["unused", "used", "only greeted", "with a stream"] {
            open(&sessions, id, address(1), now);
        }
        drop(sessions.begin("used", true, now));
        drop(sessions.begin("only greeted", false, now));
        let _stream = sessions.begin("with a stream", true, now);
        assert_eq!(
            sessions.take_unused(now + UNUSED_MAX - Duration::from_millis(1)),
            Vec::<SessionId>::new()
        );
        let mut gone = sessions.take_unused(now + UNUSED_MAX);
        gone.sort();
        assert_eq!(gone, ["only greeted".into(), "unused".into()] as [SessionId; 2]);
    }

    #[tokio::test]
    async fn an_address_that_has_too_many_loses_its_own_idlest_and_nobody_elses() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        open(&sessions, "of another", address(2), now);
        open(&sessions, "in use", address(1), now);
        let used = sessions.begin("in use", true, now);
        for number in 2..=SESSIONS_PER_ADDRESS {
            open(&sessions, &number.to_string(), address(1), now + Duration::from_millis(number as u64));
        }
        assert_eq!(sessions.make_room(address(2)), Ok(Vec::new()));
        assert_eq!(sessions.make_room(address(1)), Ok(vec!["2".into()]));
        drop(used);
    }

    #[tokio::test]
    async fn when_all_are_open_the_idlest_of_all_makes_room_unless_all_are_in_use() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let mut in_use = Vec::new();
        for number in 0..SESSIONS_MAX {
            let id = number.to_string();
            open(&sessions, &id, address(u8::try_from(number % 5).unwrap()), now);
            in_use.extend(sessions.begin(&id, true, now));
        }
        assert_eq!(sessions.make_room(address(9)), Err(Full));
        in_use.truncate(SESSIONS_MAX - 1);
        let last = (SESSIONS_MAX - 1).to_string();
        assert_eq!(sessions.make_room(address(9)), Ok(vec![last.as_str().into()]));
    }
}
