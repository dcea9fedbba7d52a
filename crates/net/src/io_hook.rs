//! A connection whose reads and writes go through a hook: the one wrapper behind receive times, timeouts and bytes that were read
//! ahead.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

pub(crate) trait IoHook<T> {
    /// Reads from `inner`, and observes or replaces the result.
    fn poll_read(
        &mut self,
        inner: Pin<&mut T>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>>
    where
        T: AsyncRead,
    {
        inner.poll_read(cx, buf)
    }

    /// Observes or replaces the result of a write.
    fn written(
        &mut self,
        _cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        written
    }
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

impl<T: AsyncRead + Unpin, H: IoHook<T> + Unpin> AsyncRead for Hooked<T, H> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { inner, hook } = &mut *self;
        hook.poll_read(Pin::new(inner), cx, buf)
    }
}

impl<T: AsyncWrite + Unpin, H: IoHook<T> + Unpin> AsyncWrite for Hooked<T, H> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { inner, hook } = &mut *self;
        let written = Pin::new(inner).poll_write(cx, buf);
        hook.written(cx, written)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let Self { inner, hook } = &mut *self;
        let written = Pin::new(inner).poll_write_vectored(cx, bufs);
        hook.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
