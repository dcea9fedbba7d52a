//! A connection whose reads go through a hook: the one wrapper behind receive times and the head timeout. Writes pass through.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(crate) trait ReadHook<T> {
    /// Reads from `inner`, and observes or replaces the result.
    fn poll_read(
        &mut self,
        inner: Pin<&mut T>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>>;
}

#[derive(Debug)]
pub(crate) struct Hooked<T, H> {
    pub(crate) inner: T,
    pub(crate) hook: H,
}

impl<T: Unpin, H: Unpin> Hooked<T, H> {
    fn inner(self: Pin<&mut Self>) -> Pin<&mut T> {
        Pin::new(&mut self.get_mut().inner)
    }
}

impl<T: AsyncRead + Unpin, H: ReadHook<T> + Unpin> AsyncRead for Hooked<T, H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { inner, hook } = &mut *self;
        hook.poll_read(Pin::new(inner), cx, buf)
    }
}

impl<T: AsyncWrite + Unpin, H: Unpin> AsyncWrite for Hooked<T, H> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.inner().poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
