//! The open MCP sessions with their address and time of last use, and the limits on them. Chooses the sessions to evict; the
//! transport closes them.

use rmcp::transport::streamable_http_server::session::SessionId;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many sessions there may be at once. A client has one.
pub const SESSIONS_MAX: usize = 1000;
/// How many of them one address may have.
pub const SESSIONS_PER_ADDRESS: usize = SESSIONS_MAX / 4;
/// How long a session may be open before it is first used.
pub const UNUSED_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Default)]
pub(super) struct Sessions(Arc<Mutex<HashMap<SessionId, Session>>>);

#[derive(Debug)]
struct Session {
    address: IpAddr,
    /// Whether its client has sent a request since it opened it.
    used: bool,
    last: Instant,
    /// How many of its requests and streams are open.
    busy: usize,
}

/// Every session is in use, of this address or of all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

/// An open request or stream of a session, which is not idle while this lives.
#[derive(Debug)]
pub(super) struct SessionGuard {
    sessions: Sessions,
    id: SessionId,
}

impl Sessions {
    fn all(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets the sessions that have ended by themselves.
    pub(super) fn retain_open(&self, is_open: impl Fn(&SessionId) -> bool) {
        self.all().retain(|id, _| is_open(id));
    }

    /// Removes the sessions that were opened [`UNUSED_MAX`] ago and never used.
    pub(super) fn evict_unused(&self, now: Instant) -> Vec<SessionId> {
        let is_unused = |session: &Session| {
            !session.used
                && session.busy == 0
                && now.saturating_duration_since(session.last) >= UNUSED_MAX
        };
        let mut all = self.all();
        let unused: Vec<_> = all
            .iter()
            .filter(|(_, session)| is_unused(session))
            .map(|(id, _)| Arc::clone(id))
            .collect();
        all.retain(|id, _| !unused.contains(id));
        unused
    }

    /// Removes idle sessions so that this address may open another: its own at the limit per address, any at the total limit.
    pub(super) fn evict_for(&self, address: IpAddr) -> Result<Vec<SessionId>, Full> {
        let mut all = self.all();
        let mut gone = Vec::new();
        if all
            .values()
            .filter(|session| session.address == address)
            .count()
            >= SESSIONS_PER_ADDRESS
        {
            gone.push(evict_idlest(&mut all, |session| session.address == address).ok_or(Full)?);
        }
        if all.len() >= SESSIONS_MAX {
            gone.push(evict_idlest(&mut all, |_| true).ok_or(Full)?);
        }
        Ok(gone)
    }

    pub(super) fn insert(&self, id: SessionId, address: IpAddr, now: Instant) {
        self.all().insert(
            id,
            Session {
                address,
                used: false,
                last: now,
                busy: 0,
            },
        );
    }

    /// Begins a request of this session. `uses`: whether the request counts as use.
    pub(super) fn begin_request(&self, id: &str, uses: bool, now: Instant) -> Option<SessionGuard> {
        let mut all = self.all();
        let id = Arc::clone(all.get_key_value(id)?.0);
        let session = all.get_mut(&id)?;
        session.busy += 1;
        if uses {
            (session.used, session.last) = (true, now);
        }
        Some(SessionGuard {
            sessions: self.clone(),
            id,
        })
    }
}

/// Removes the least recently used session without open requests; sessions that were never used go first.
fn evict_idlest(
    all: &mut HashMap<SessionId, Session>,
    is_eligible: impl Fn(&Session) -> bool,
) -> Option<SessionId> {
    let idle = all
        .iter()
        .filter(|(_, session)| session.busy == 0 && is_eligible(session));
    let (id, _) = idle.min_by_key(|(_, session)| (session.used, session.last))?;
    let id = Arc::clone(id);
    all.remove(&id);
    Some(id)
}

impl Drop for SessionGuard {
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
        sessions.insert(id.into(), of, now);
    }

    #[tokio::test]
    async fn sessions_that_were_never_used_go_after_a_minute_and_others_stay() {
        let sessions = Sessions::default();
        let now = Instant::now();
        for id in ["unused", "used", "only greeted", "with a stream"] {
            open(&sessions, id, address(1), now);
        }
        drop(sessions.begin_request("used", true, now));
        drop(sessions.begin_request("only greeted", false, now));
        let _stream = sessions.begin_request("with a stream", true, now);
        assert_eq!(
            sessions.evict_unused(now + UNUSED_MAX - Duration::from_millis(1)),
            Vec::<SessionId>::new()
        );
        let mut gone = sessions.evict_unused(now + UNUSED_MAX);
        gone.sort();
        assert_eq!(
            gone,
            ["only greeted".into(), "unused".into()] as [SessionId; 2]
        );
    }

    #[tokio::test]
    async fn an_address_that_has_too_many_loses_its_own_idlest_and_nobody_elses() {
        let sessions = Sessions::default();
        let now = Instant::now();
        open(&sessions, "of another", address(2), now);
        open(&sessions, "in use", address(1), now);
        let used = sessions.begin_request("in use", true, now);
        for number in 2..=SESSIONS_PER_ADDRESS {
            open(
                &sessions,
                &number.to_string(),
                address(1),
                now + Duration::from_millis(number as u64),
            );
        }
        assert_eq!(sessions.evict_for(address(2)), Ok(Vec::new()));
        assert_eq!(sessions.evict_for(address(1)), Ok(vec!["2".into()]));
        drop(used);
    }

    #[tokio::test]
    async fn when_all_are_open_the_idlest_of_all_makes_room_unless_all_are_in_use() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let mut in_use = Vec::new();
        for number in 0..SESSIONS_MAX {
            let id = number.to_string();
            open(
                &sessions,
                &id,
                address(u8::try_from(number % 5).unwrap()),
                now,
            );
            in_use.extend(sessions.begin_request(&id, true, now));
        }
        assert_eq!(sessions.evict_for(address(9)), Err(Full));
        in_use.truncate(SESSIONS_MAX - 1);
        let last = (SESSIONS_MAX - 1).to_string();
        assert_eq!(
            sessions.evict_for(address(9)),
            Ok(vec![last.as_str().into()])
        );
    }
}
