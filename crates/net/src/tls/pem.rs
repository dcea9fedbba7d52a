//! Reads certificates and keys from PEM files, with errors that tell the operator what to do.

use std::path::{Path, PathBuf};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{Error, InconsistentKeys, RootCertStore};

/// Why TLS cannot be set up from these files.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    #[error("{path} cannot be read ({error}): check the path, and who may read it", path = path.display())]
    Unreadable {
        path: PathBuf,
        error: std::io::Error,
    },
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

/// A certificate chain and its private key.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Identity {
    pub(super) fn read(cert: &Path, key: &Path) -> Result<Self, PemError> {
        let chain = certificates(cert)?;
        let key_der = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::NoItemsFound => PemError::NoKey {
                path: key.to_owned(),
            },
            error => unreadable(key, error),
        })?;
        Ok(Self {
            chain,
            key: key_der,
        })
    }

    /// Why rustls refuses the pair.
    pub(super) fn refused(cert: &Path, key: &Path, error: Error) -> PemError {
        match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => PemError::Mismatch {
                cert: cert.to_owned(),
                key: key.to_owned(),
            },
            Error::General(_) => PemError::NoKey {
                path: key.to_owned(),
            },
            error => PemError::Unusable {
                path: cert.to_owned(),
                error,
            },
        }
    }
}

/// All certificates in a file.
pub(super) fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let all = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let all = all.map_err(|error| unreadable(path, error))?;
    if all.is_empty() {
        return Err(PemError::NoCertificate {
            path: path.to_owned(),
        });
    }
    Ok(all)
}

/// Adds the certificate authorities in a file.
pub(super) fn add_authorities(roots: &mut RootCertStore, path: &Path) -> Result<(), PemError> {
    for authority in certificates(path)? {
        roots.add(authority).map_err(|error| PemError::Unusable {
            path: path.to_owned(),
            error,
        })?;
    }
    Ok(())
}

fn unreadable(path: &Path, error: pem::Error) -> PemError {
    let path = path.to_owned();
    match error {
        pem::Error::Io(error) => PemError::Unreadable { path, error },
        error => PemError::Broken {
            path,
            why: error.to_string(),
        },
    }
}
