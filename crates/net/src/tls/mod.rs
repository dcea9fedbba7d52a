//! TLS on both sides, by rustls: certificate files, server and client.

mod client;
mod pem;
mod server;

pub(crate) use client::error_text;
pub use client::{ClientTls, ClientTlsFiles};
pub use pem::PemError;
pub use server::{ServerTls, ServerTlsFiles};
