//! TLS as the settings want it: certificates to show, authorities to believe. Reads the files, and reads them again when
//! the process is told to (SIGHUP).

use super::config::Config;
use super::settings::{Setting, optional};
use super::{Usage, notice};
use crate::net::client::Client;
use crate::net::pem::PemError;
use crate::net::tls::{CallingFiles, Trust};
use crate::net::tls_server::{Serving, ServingFiles};
use anyhow::{Result, anyhow};
use std::path::PathBuf;
use tokio::signal::unix::{SignalKind, signal};

pub(super) const TLS_CERT: Setting =
    optional("tls-cert", "FILE", "Serve over TLS: the certificate (PEM), with those that vouch for it");
pub(super) const TLS_KEY: Setting = optional("tls-key", "FILE", "The key of --tls-cert (PEM)");
pub(super) const TLS_CLIENT_CA: Setting = optional(
    "tls-client-ca",
    "FILE",
    "Take calls only from those who show a certificate signed by one of these authorities (PEM)",
);
pub(super) const TLS_CA: Setting =
    optional("tls-ca", "FILE", "Believe these authorities too when calling over https (PEM)");
pub(super) const TLS_CLIENT_CERT: Setting =
    optional("tls-client-cert", "FILE", "The certificate to show when calling over https (PEM)");
pub(super) const TLS_CLIENT_KEY: Setting =
    optional("tls-client-key", "FILE", "The key of --tls-client-cert (PEM)");

/// The same for the commands that only call.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct TlsArgs {
    /// Believe these authorities too when calling over https (PEM)
    #[arg(long, value_name = "FILE", env = "MATCHDAY_TLS_CA", global = true)]
    tls_ca: Option<PathBuf>,
    /// The certificate to show when calling over https (PEM)
    #[arg(long, value_name = "FILE", env = "MATCHDAY_TLS_CLIENT_CERT", global = true)]
    tls_client_cert: Option<PathBuf>,
    /// The key of --tls-client-cert (PEM)
    #[arg(long, value_name = "FILE", env = "MATCHDAY_TLS_CLIENT_KEY", global = true)]
    tls_client_key: Option<PathBuf>,
}

impl TlsArgs {
    pub(super) fn client(&self) -> Result<Client> {
        let file = |path: &Option<PathBuf>| path.clone().filter(|path| !path.as_os_str().is_empty());
        let identity = pair(
            ("tls-client-cert", file(&self.tls_client_cert)),
            ("tls-client-key", file(&self.tls_client_key)),
        )?;
        let files = CallingFiles { ca: file(&self.tls_ca), identity };
        Ok(Client::trusting(Trust::read(&files).map_err(unfit)?))
    }
}

/// How the agent is called, if over TLS. From now on the files are read again on SIGHUP.
pub(super) fn serving(config: &Config) -> Result<Option<Serving>> {
    let files = pair(("tls-cert", file(config, "tls-cert")), ("tls-key", file(config, "tls-key")))?;
    let client_ca = file(config, "tls-client-ca");
    let Some((cert, key)) = files else {
        return match client_ca {
            None => Ok(None),
            Some(_) => Err(Usage(
                "--tls-client-ca: callers show certificates over TLS only - name ours with --tls-cert and --tls-key"
                    .to_owned(),
            )
            .into()),
        };
    };
    let serving = Serving::read(ServingFiles { cert, key, client_ca }).map_err(unfit)?;
    read_again_when_told(serving.clone())?;
    Ok(Some(serving))
}

/// Where certificates for calls are.
pub(super) fn calling(config: &Config) -> Result<CallingFiles> {
    let cert = ("tls-client-cert", file(config, "tls-client-cert"));
    let identity = pair(cert, ("tls-client-key", file(config, "tls-client-key")))?;
    Ok(CallingFiles { ca: file(config, "tls-ca"), identity })
}

pub(super) fn client(config: &Config) -> Result<Client> {
    Ok(Client::trusting(Trust::read(&calling(config)?).map_err(unfit)?))
}

/// For calls to ourselves, at whatever address: our own certificate proves that it is us.
pub(super) fn client_to_ourselves(config: &Config, serving: Option<&Serving>) -> Result<Client> {
    let Some(serving) = serving else { return Ok(Client::new()) };
    let files = calling(config)?;
    if serving.asks_callers() && files.identity.is_none() {
        return Err(Usage(
            "--tls-client-ca: the manager calls others, and itself, and must have a certificate too - name one with \
             --tls-client-cert and --tls-client-key"
                .to_owned(),
        )
        .into());
    }
    Ok(Client::trusting(Trust::ourselves(serving, &files).map_err(unfit)?))
}

fn file(config: &Config, name: &str) -> Option<PathBuf> {
    config.text(name).filter(|text| !text.is_empty()).map(PathBuf::from)
}

fn pair(
    (cert_flag, cert): (&str, Option<PathBuf>),
    (key_flag, key): (&str, Option<PathBuf>),
) -> Result<Option<(PathBuf, PathBuf)>> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(Usage(format!("--{cert_flag}: name its key too, with --{key_flag}")).into()),
        (None, Some(_)) => {
            Err(Usage(format!("--{key_flag}: name its certificate too, with --{cert_flag}")).into())
        }
    }
}

fn unfit(error: PemError) -> anyhow::Error {
    anyhow!("TLS cannot be set up: {error}")
}

fn read_again_when_told(serving: Serving) -> Result<()> {
    let mut told = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while told.recv().await.is_some() {
            match serving.read_again() {
                Ok(()) => notice("the certificate has been read again"),
                Err(error) => notice(&format!("the certificate stays as it is: {error}")),
            }
        }
    });
    Ok(())
}
