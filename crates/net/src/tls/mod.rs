//! TLS on both sides, by rustls: certificate files, server and client; `peer`: mutual TLS between processes of one service.

mod client;
mod peer;
mod pem;
mod server;

pub(crate) use client::error_text;
pub use client::{ClientTls, ClientTlsFiles};
pub use peer::{PeerIdentity, TrustedPeers};
pub use pem::PemError;
pub use server::{ServerTls, ServerTlsFiles};
