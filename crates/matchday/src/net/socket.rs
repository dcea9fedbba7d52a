//! A connection of the system's. Where the system says when bytes came in (Linux), that is what counts, and not when this
//! process came to read them: it may have been busy, or stopped. Touches one socket.

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, Shutdown, recv, shutdown};
use std::io;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// One that is open, read with the time at which bytes came.
#[derive(Debug)]
pub struct Socket {
    stream: Arc<TcpStream>,
    /// When the bytes that were read last had come.
    arrived: Instant,
    #[cfg(target_os = "linux")]
    kernel: kernel::Times,
}

/// Whether there is something to be read on a socket that somebody else reads.
#[derive(Debug, Clone)]
pub(super) struct Peek(Weak<TcpStream>);

/// How long bytes may have waited on a connection that had not been taken yet.
const IN_LINE_MAX: Duration = Duration::from_secs(300);

/// From here on the system notes when bytes come to connections that are not taken yet.
pub(super) fn prepare(listener: &TcpListener) {
    #[cfg(target_os = "linux")]
    kernel::note_arrivals(listener);
    #[cfg(not(target_os = "linux"))]
    let _ = listener;
}

impl Socket {
    /// One that we have made just now, so that nothing can have come yet.
    pub(super) fn made(stream: TcpStream) -> Self {
        Self::new(stream, Instant::now())
    }

    /// One that was taken from a line, where it may have waited with all that was sent over it.
    pub(super) fn taken(stream: TcpStream) -> Self {
        let now = Instant::now();
        Self::new(stream, now.checked_sub(IN_LINE_MAX).unwrap_or(now))
    }

    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "bytes come when they are read"))]
    fn new(stream: TcpStream, empty: Instant) -> Self {
        // Without this, an answer may wait for 40 ms for the next packet to travel with.
        let _ = stream.set_nodelay(true);
        Self {
            #[cfg(target_os = "linux")]
            kernel: kernel::Times::of(&stream, empty),
            stream: Arc::new(stream),
            arrived: Instant::now(),
        }
    }

    pub(super) fn arrived(&self) -> Instant {
        self.arrived
    }

    pub(super) fn peek(&self) -> Peek {
        Peek(Arc::downgrade(&self.stream))
    }
}

impl Peek {
    /// Whether bytes have come that nobody has read yet.
    pub(super) fn is_unread(&self) -> bool {
        self.peeked().is_some_and(|bytes| bytes.is_ok_and(|bytes| bytes > 0))
    }

    /// Whether the connection is open and nothing has come over it.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.peeked(), Some(Err(Errno::EAGAIN)))
    }

    /// `None` if the socket is gone.
    fn peeked(&self) -> Option<nix::Result<usize>> {
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        self.0.upgrade().map(|stream| recv(stream.as_raw_fd(), &mut [0], flags))
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    //! What Linux knows of the bytes of a TCP connection: when the last of those that are read came in, by the system's
    //! clock. That clock can be set, so that it is only asked how long ago that was.

    use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
    use nix::sys::time::TimeSpec;
    use std::cell::RefCell;
    use std::io::{self, IoSliceMut};
    use std::os::fd::{AsFd, AsRawFd};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};
    use tokio::io::ReadBuf;
    use tokio::net::TcpStream;
    use tokio::time::Instant;

    thread_local! {
        /// Where bytes are read to. The space of whoever wants them has not been written to yet, and to do that for each read
        /// takes longer than to copy the few bytes that come.
        static SPACE: RefCell<Box<[u8]>> = RefCell::new(vec![0; 64 * 1024].into());
    }

    #[derive(Debug)]
    pub(super) struct Times {
        /// Where the system writes what it knows.
        space: Vec<u8>,
        /// When there was nothing to be read: whatever is read next came later, whatever the clock says.
        empty: Instant,
    }

    impl Times {
        pub(super) fn of(stream: &TcpStream, empty: Instant) -> Self {
            note_arrivals(stream);
            Self { space: nix::cmsg_space!(TimeSpec), empty }
        }

        /// Reads what there is room for. Whether these are all the bytes that there are, and when the last of them came.
        pub(super) fn read(
            &mut self,
            stream: &TcpStream,
            into: &mut ReadBuf<'_>,
        ) -> io::Result<(bool, Instant)> {
            SPACE.with_borrow_mut(|space| {
                let room = into.remaining().min(space.len());
                let first = space.get_mut(..room).unwrap_or_default();
                let (bytes, came) = self.receive(stream, first)?;
                into.put_slice(first.get(..bytes).unwrap_or_default());
                Ok((bytes > 0 && bytes < room, came))
            })
        }

        /// How many bytes were read, and when the last of them came. Fewer than there is room for are all there are.
        fn receive(&mut self, stream: &TcpStream, into: &mut [u8]) -> io::Result<(usize, Instant)> {
            let (before, room) = (Instant::now(), into.len());
            let mut slices = [IoSliceMut::new(into)];
            let space = Some(self.space.as_mut_slice());
            let read = match recvmsg::<()>(stream.as_raw_fd(), &mut slices, space, MsgFlags::MSG_DONTWAIT) {
                Ok(read) => read,
                Err(error) => {
                    self.empty = before;
                    return Err(error.into());
                }
            };
            let stamp = read.cmsgs().into_iter().flatten().find_map(|message| match message {
                ControlMessageOwned::ScmTimestampns(at) => Some(Duration::from(at)),
                _ => None,
            });
            let (bytes, now) = (read.bytes, Instant::now());
            let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let came = came(stamp, wall, now, self.empty);
            if bytes < room {
                self.empty = before;
            }
            Ok((bytes, came))
        }
    }

    /// Where that cannot be had, bytes are taken to come when they are read.
    pub(super) fn note_arrivals(socket: &impl AsFd) {
        let _ = setsockopt(socket, sockopt::ReceiveTimestampns, &true);
    }

    /// When bytes came that the system's clock gave this stamp, if it shows `wall` now. Whatever has been done to that clock
    /// meanwhile, they came after there were none and before they were read.
    fn came(stamp: Option<Duration>, wall: Duration, now: Instant, empty: Instant) -> Instant {
        let age = stamp.and_then(|stamp| wall.checked_sub(stamp)).unwrap_or_default();
        now.checked_sub(age).unwrap_or(empty).clamp(empty.min(now), now)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const HOUR: Duration = Duration::from_secs(3600);
        const STAMP: Duration = Duration::from_secs(1_736_937_000);

        #[test]
        fn what_was_read_later_came_when_the_system_says() {
            let now = Instant::now() + HOUR;
            let (age, empty) = (Duration::from_millis(80), now - Duration::from_secs(2));
            assert_eq!(came(Some(STAMP), STAMP + age, now, empty), now - age);
            assert_eq!(came(None, STAMP, now, empty), now, "it does not say");
        }

        #[test]
        fn a_clock_that_is_set_moves_nothing_beyond_what_is_certain() {
            let now = Instant::now() + HOUR;
            let empty = now - Duration::from_secs(2);
            assert_eq!(came(Some(STAMP), STAMP + HOUR, now, empty), empty, "set forward");
            assert_eq!(came(Some(STAMP), STAMP - HOUR, now, empty), now, "set back");
        }
    }
}

impl AsyncRead for Socket {
    #[cfg(target_os = "linux")]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        use std::task::ready;
        use tokio::io::Interest;
        let Self { stream, kernel, arrived } = &mut *self;
        loop {
            ready!(stream.poll_read_ready(cx))?;
            let mut read = None;
            let done = stream.try_io(Interest::READABLE, || {
                let (whole, at) = kernel.read(stream, buf)?;
                read = Some(at);
                // All has been read, and to try again would be in vain.
                if whole { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
            });
            if let Some(at) = read {
                *arrived = at;
                return Poll::Ready(Ok(()));
            }
            match done {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return Poll::Ready(done),
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        use std::task::ready;
        loop {
            ready!(self.stream.poll_read_ready(cx))?;
            match self.stream.try_read_buf(buf) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => {
                    self.arrived = Instant::now();
                    return Poll::Ready(read.map(|_| ()));
                }
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        write(&self.stream, cx, || self.stream.try_write(buf))
    }

    /// There is nothing between this and the system.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shut_down(&self.stream))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        write(&self.stream, cx, || self.stream.try_write_vectored(bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

fn write(
    stream: &TcpStream,
    cx: &mut Context<'_>,
    attempt: impl Fn() -> io::Result<usize>,
) -> Poll<io::Result<usize>> {
    loop {
        std::task::ready!(stream.poll_write_ready(cx))?;
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            written => return Poll::Ready(written),
        }
    }
}

fn shut_down(stream: &TcpStream) -> io::Result<()> {
    match shutdown(stream.as_raw_fd(), Shutdown::Write) {
        // The other side may have closed it already.
        Ok(()) | Err(Errno::ENOTCONN) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
