//! TLS where we are called: shows our certificate, and asks callers for theirs if they must have one. The files can be
//! read again while it runs.

use super::pem::{Identity, PemError, certificates};
use super::wire::Wire;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{Error, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;

/// How long a connection that is refused may last.
const LINGER_MAX: Duration = Duration::from_secs(1);

/// Where the certificates are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
    /// Whoever calls must show a certificate signed by one of these, if there are any.
    pub client_ca: Option<PathBuf>,
}

/// Copies share it.
#[derive(Clone)]
pub struct Serving(Arc<Inner>);

struct Inner {
    files: ServingFiles,
    current: RwLock<Current>,
}

#[derive(Clone)]
struct Current {
    config: Arc<ServerConfig>,
    leaf: CertificateDer<'static>,
}

impl Serving {
    pub fn read(files: ServingFiles) -> Result<Self, PemError> {
        let current = RwLock::new(read(&files)?);
        Ok(Self(Arc::new(Inner { files, current })))
    }

    /// Reads the files again. Connections that are open keep what they have; if the files are bad, so does everyone.
    pub fn read_again(&self) -> Result<(), PemError> {
        let fresh = read(&self.0.files)?;
        *self.0.current.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// Whether callers must show a certificate.
    pub fn asks_callers(&self) -> bool {
        self.0.files.client_ca.is_some()
    }

    fn current(&self) -> Current {
        self.0.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The certificate that we show.
    pub(super) fn leaf(&self) -> CertificateDer<'static> {
        self.current().leaf
    }

    pub(super) async fn accept<W: Wire>(&self, stream: W) -> io::Result<TlsStream<W>> {
        let accepting = TlsAcceptor::from(self.current().config).accept(stream).into_fallible();
        match accepting.await {
            Ok(stream) => Ok(stream),
            Err((error, stream)) => {
                let _in_time = timeout(LINGER_MAX, linger(stream)).await;
                Err(error)
            }
        }
    }
}

/// Whoever is refused may be sending already, and would not come to read why if the connection were torn down at once.
async fn linger(mut stream: impl Wire) {
    let _ = stream.shutdown().await;
    let mut discarded = [0; 1024];
    for _ in 0..64 {
        if !stream.read(&mut discarded).await.is_ok_and(|bytes| bytes > 0) {
            return;
        }
    }
}

fn read(files: &ServingFiles) -> Result<Current, PemError> {
    let identity = Identity::read(&files.cert, &files.key)?;
    let leaf = identity.chain.first().cloned();
    let leaf = leaf.ok_or_else(|| PemError::NoCertificate { path: files.cert.clone() })?;
    let provider = Arc::new(ring::default_provider());
    let unusable = |error: Error| Identity::refused(&files.cert, &files.key, error);
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match &files.client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(path)? {
                roots.add(authority).map_err(|error| PemError::Unusable { path: path.clone(), error })?;
            }
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(
                verifier.map_err(|error| PemError::Broken { path: path.clone(), why: error.to_string() })?,
            )
        }
    };
    let mut config = builder.with_single_cert(identity.chain, identity.key).map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Current { config: Arc::new(config), leaf })
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").field("files", &self.0.files).finish_non_exhaustive()
    }
}
