//! Reads from a socket with the kernel's receive timestamp (SO_TIMESTAMPNS), which is earlier than the read if this process was
//! busy or stopped. The kernel stamps the last byte of a read with the wall clock, which can be set: it is
//! used only to compute how long ago that was.

use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use std::cell::RefCell;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd};
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{Interest, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

thread_local! {
    /// A read buffer for each thread: zeroing the caller's uninitialised buffer for each read would take longer than
    /// copying the few bytes that are read.
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; 64 * 1024].into());
}

/// The state of one socket.
#[derive(Debug)]
pub struct RxTimestamps {
    /// The buffer for the control message with the timestamp.
    control: Vec<u8>,
    /// When the socket was last seen empty: the next bytes were received later, whatever the wall clock says.
    empty_at: Instant,
}

impl RxTimestamps {
    /// At `empty_at`, nothing had been received yet.
    pub fn new(stream: &TcpStream, empty_at: Instant) -> Self {
        enable_timestamps(stream);
        Self {
            control: nix::cmsg_space!(TimeSpec),
            empty_at,
        }
    }

    /// Reads into `into`. The result is when the last byte was received.
    pub fn poll_read(
        &mut self,
        stream: &TcpStream,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<Instant>> {
        loop {
            ready!(stream.poll_read_ready(cx))?;
            let mut read = None;
            let done = stream.try_io(Interest::READABLE, || {
                let (is_empty, at) = self.read(stream, into)?;
                read = Some(at);
                // Clears readiness in tokio, which saves the next read a system call.
                if is_empty {
                    Err(io::ErrorKind::WouldBlock.into())
                } else {
                    Ok(())
                }
            });
            match (read, done) {
                (Some(at), _) => return Poll::Ready(Ok(at)),
                (None, Err(error)) if error.kind() != io::ErrorKind::WouldBlock => {
                    return Poll::Ready(Err(error));
                }
                (None, _) => {}
            }
        }
    }

    /// Whether the socket is empty now, and when the last byte was received.
    fn read(&mut self, stream: &TcpStream, into: &mut ReadBuf<'_>) -> io::Result<(bool, Instant)> {
        BUFFER.with_borrow_mut(|buffer| {
            let wanted = into.remaining().min(buffer.len());
            let buffer = buffer.get_mut(..wanted).unwrap_or_default();
            let (bytes, received_at) = self.receive(stream, buffer)?;
            into.put_slice(buffer.get(..bytes).unwrap_or_default());
            Ok((bytes > 0 && bytes < wanted, received_at))
        })
    }

    /// How many bytes were read, and when the last of them was received. A short read empties the socket.
    fn receive(&mut self, stream: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Instant)> {
        let before = Instant::now();
        let wanted = into.len();
        let mut slices = [IoSliceMut::new(into)];
        let control = Some(self.control.as_mut_slice());
        let read = match recvmsg::<()>(
            stream.as_raw_fd(),
            &mut slices,
            control,
            MsgFlags::MSG_DONTWAIT,
        ) {
            Ok(read) => read,
            Err(error) => {
                self.empty_at = before;
                return Err(error.into());
            }
        };
        let stamp = read
            .cmsgs()
            .into_iter()
            .flatten()
            .find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
                _ => None,
            });
        let bytes = read.bytes;
        let now = Instant::now();
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let received_at = received_at(stamp, wall, now, self.empty_at);
        if bytes < wanted {
            self.empty_at = before;
        }
        Ok((bytes, received_at))
    }
}

/// Makes the kernel timestamp bytes also on connections that are still in the accept backlog.
pub fn enable(listener: &TcpListener) {
    enable_timestamps(listener);
}

/// If the kernel refuses, the time of the read counts.
fn enable_timestamps(socket: &impl AsFd) {
    let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
}

/// The monotonic time of a wall-clock stamp, if the wall clock shows `wall` at `now`. Even if that clock was set meanwhile,
/// the result lies between `empty_at` and `now`.
fn received_at(
    stamp: Option<Duration>,
    wall: Duration,
    now: Instant,
    empty_at: Instant,
) -> Instant {
    let age = stamp
        .and_then(|stamp| wall.checked_sub(stamp))
        .unwrap_or_default();
    now.checked_sub(age)
        .unwrap_or(empty_at)
        .clamp(empty_at.min(now), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);
    const STAMP: Duration = Duration::from_secs(1_736_937_000);

    #[test]
    fn what_was_read_later_came_when_the_system_says() {
        let now = Instant::now() + HOUR;
        let age = Duration::from_millis(80);
        let empty = now - Duration::from_secs(2);
        assert_eq!(received_at(Some(STAMP), STAMP + age, now, empty), now - age);
        assert_eq!(received_at(None, STAMP, now, empty), now, "it does not say");
    }

    #[test]
    fn a_clock_that_is_set_moves_nothing_beyond_what_is_certain() {
        let now = Instant::now() + HOUR;
        let empty = now - Duration::from_secs(2);
        assert_eq!(
            received_at(Some(STAMP), STAMP + HOUR, now, empty),
            empty,
            "set forward"
        );
        assert_eq!(
            received_at(Some(STAMP), STAMP - HOUR, now, empty),
            now,
            "set back"
        );
    }
}
