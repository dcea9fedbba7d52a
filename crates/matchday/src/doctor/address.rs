//! The address that the agent listens on, and the certificate that it shows there.

use super::{Finding, Subject, reach};
use matchday_net::egress::Target;
use matchday_net::tls::ServerTls;
use std::io::ErrorKind;
use std::net::IpAddr;
use tokio::net::TcpListener;

const DAY: i64 = 24 * 60 * 60;
const EXPIRY_DAYS_MIN: i64 = 14;

pub(super) async fn port(subject: &Subject) -> Finding {
    let listen = &subject.listen;
    let error = match TcpListener::bind(listen).await {
        Ok(listener) => {
            let address = listener
                .local_addr()
                .map_or_else(|_| listen.clone(), |address| address.to_string());
            return Finding::ok("port", format!("{address} is free"));
        }
        Err(error) => error,
    };
    if error.kind() != ErrorKind::AddrInUse {
        return Finding::failed(
            "port",
            format!("cannot listen on {listen}: {error}"),
            "name another --listen HOST:PORT",
        );
    }
    let scheme = if subject.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let ourselves = format!(
        "{scheme}://{}/health/live",
        listen.replace("0.0.0.0", "127.0.0.1")
    );
    match reach::get(&subject.client, &ourselves).await {
        Ok(answer) if answer.status == 200 => {
            Finding::ok("port", format!("an agent of Matchday listens on {listen}"))
        }
        _ => {
            let advice = "stop it, or name another --listen HOST:PORT";
            Finding::failed(
                "port",
                format!("{listen} is in use by another program"),
                advice,
            )
        }
    }
}

pub(super) fn tls(subject: &Subject) -> Finding {
    let Some(files) = &subject.tls else {
        return if is_loopback(&subject.listen) {
            Finding::ok("tls", "none: only this machine can reach the agent")
        } else {
            let finding = format!(
                "none, and {} can be reached from other machines",
                subject.listen
            );
            let advice = "name --tls-cert and --tls-key, or put a reverse proxy with TLS before it, unless the network is trusted";
            Finding::warning("tls", finding, advice)
        };
    };
    let shown = files.cert.display().to_string();
    match ServerTls::read(files.clone()) {
        Err(error) => Finding::failed(
            "tls",
            error.to_string(),
            "name files that fit with --tls-cert and --tls-key",
        ),
        Ok(serving) => match serving.expires_at() {
            None => Finding::warning(
                "tls",
                format!("{shown}: its dates cannot be read"),
                "create a new certificate",
            ),
            Some(expiry) => expiry_of(
                &shown,
                (expiry - subject.now.as_micros() / 1_000_000).div_euclid(DAY),
            ),
        },
    }
}

/// Whether the address that others are given leads here: its name is known, and the certificate is one for it.
pub(super) async fn own_url(subject: &Subject) -> Vec<Finding> {
    let Some(url) = &subject.own_url else {
        return Vec::new();
    };
    let Some(target) = Target::parse(url) else {
        return Vec::new();
    };
    let host = target.host.as_str();
    let mut findings = Vec::new();
    if subject.is_public {
        match tokio::net::lookup_host((host, target.port)).await {
            Ok(_) => findings.push(Finding::ok(
                "url",
                format!("agents receive the address {url}"),
            )),
            Err(error) => {
                let why = format!(
                    "agents receive the address {url}, but {host} is not found from here: {error}"
                );
                let advice = "register the name, or name another --public-url or --advertise";
                findings.push(Finding::warning("url", why, advice));
            }
        }
    }
    let serving = subject.tls.clone().map(ServerTls::read);
    if let Some(Ok(serving)) = serving
        && url.starts_with("https://")
        && !serving.is_for(host)
    {
        let why =
            format!("the certificate is not for {host}, but agents receive the address {url}");
        let advice = "create one for that name, or name the address that it is for with --public-url or --advertise";
        findings.push(match subject.is_behind_proxy {
            true => Finding::warning("url", why, advice),
            false => Finding::failed("url", why, advice),
        });
    }
    findings
}

fn expiry_of(certificate: &str, days: i64) -> Finding {
    let advice = "renew it, then `kill -HUP` the agent";
    match days {
        ..0 => Finding::failed("tls", format!("{certificate} has expired"), advice),
        0..EXPIRY_DAYS_MIN => Finding::warning(
            "tls",
            format!("{certificate} expires in {days} days"),
            advice,
        ),
        _ => Finding::ok(
            "tls",
            format!("{certificate} fits its key and is good for {days} days"),
        ),
    }
}

fn is_loopback(listen: &str) -> bool {
    let host = listen.rsplit_once(':').map_or(listen, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::super::Severity;
    use super::*;

    #[test]
    fn a_certificate_is_told_of_before_it_expires() {
        assert_eq!(expiry_of("a.pem", -1).severity, Severity::Failed);
        assert_eq!(expiry_of("a.pem", 13).severity, Severity::Warning);
        assert_eq!(expiry_of("a.pem", 14).severity, Severity::Ok);
    }

    #[test]
    fn loopback_is_known_by_name_and_by_address() {
        for listen in ["127.0.0.1:8000", "localhost:8000", "[::1]:8000"] {
            assert!(is_loopback(listen), "{listen}");
        }
        for listen in [
            "0.0.0.0:8000",
            "[::]:8000",
            "league.example:8000",
            "10.0.0.5:8000",
        ] {
            assert!(!is_loopback(listen), "{listen}");
        }
    }
}
