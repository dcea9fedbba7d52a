//! Certificates and keys as people keep them: PEM files. Reads them, and says what is wrong with them.

use std::path::{Path, PathBuf};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, InconsistentKeys};

/// Why TLS cannot be had from these files.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    #[error("{path} cannot be read ({error}): check the path, and who may read it", path = path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error(
        "{path} holds no certificate: it must be PEM, with -----BEGIN CERTIFICATE----- in it", path = path.display()
    )]
    NoCertificate { path: PathBuf },
    #[error(
        "{path} holds no private key that can be used: it must be PEM, with -----BEGIN PRIVATE KEY----- in it, and \
         not encrypted (`openssl pkey -in {path} -out plain.pem` makes one so)", path = path.display()
    )]
    NoKey { path: PathBuf },
    #[error("{path} is broken ({why}): make or copy it again", path = path.display())]
    Broken { path: PathBuf, why: String },
    #[error(
        "the key in {key} does not belong to the certificate in {cert}: name the two that were made together",
        key = key.display(), cert = cert.display()
    )]
    Mismatch { cert: PathBuf, key: PathBuf },
    #[error("the certificate in {path} cannot be used ({error}): make another", path = path.display())]
    Unusable { path: PathBuf, error: Error },
}

/// Who we are: a certificate with those that vouch for it, and its key.
#[derive(Debug)]
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Identity {
    pub fn read(cert: &Path, key: &Path) -> Result<Self, PemError> {
        let chain = certificates(cert)?;
        let key_text = bytes(key)?;
        let key_der = PrivateKeyDer::from_pem_slice(&key_text).map_err(|error| match error {
            pem::Error::NoItemsFound => PemError::NoKey { path: key.to_owned() },
            error => broken(key, &error),
        })?;
        Ok(Self { chain, key: key_der })
    }

    /// Why rustls does not take it, in words for people.
    pub(super) fn refused(cert: &Path, key: &Path, error: Error) -> PemError {
        match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                PemError::Mismatch { cert: cert.to_owned(), key: key.to_owned() }
            }
            Error::General(_) => PemError::NoKey { path: key.to_owned() },
            error => PemError::Unusable { path: cert.to_owned(), error },
        }
    }
}

/// All certificates in a file.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let text = bytes(path)?;
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let all = all.map_err(|error| broken(path, &error))?;
    if all.is_empty() {
        return Err(PemError::NoCertificate { path: path.to_owned() });
    }
    Ok(all)
}

fn bytes(path: &Path) -> Result<Vec<u8>, PemError> {
    std::fs::read(path).map_err(|error| PemError::Unreadable { path: path.to_owned(), error })
}

fn broken(path: &Path, error: &pem::Error) -> PemError {
    PemError::Broken { path: path.to_owned(), why: error.to_string() }
}
