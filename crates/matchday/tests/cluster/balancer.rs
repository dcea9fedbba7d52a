//! What stands before the services: a proxy that is told which of them is away, or HAProxy as `deploy/haproxy.cfg` sets it up,
//! which finds out by itself.

use matchday_testkit::cli::{Process, command, free_address};
use matchday_testkit::cut_proxy::CutProxy;
use matchday_testkit::eventually::eventually;
use matchday_testkit::page;
use matchday_testkit::tools::require_that;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

/// Of requests in a row, more than there are services.
const IN_A_ROW: usize = 8;

pub(crate) enum Balancer {
    Told(CutProxy),
    Haproxy { address: String, process: Process },
}

impl Balancer {
    pub(crate) fn told(services: &[String]) -> Self {
        let services = services.iter().map(|listen| listen.parse().unwrap());
        Self::Told(CutProxy::before_any(services.collect()))
    }

    /// `None` where HAProxy is not installed.
    pub(crate) fn haproxy(services: &[String], folder: &Path) -> Option<Self> {
        let program = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"]
            .into_iter()
            .find(|path| Path::new(path).exists());
        if !require_that(program.is_some(), "haproxy is not installed") {
            return None;
        }
        let address = free_address();
        let mut settings = fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../deploy/haproxy.cfg"
        ))
        .unwrap();
        settings = settings.replace("bind :8080", &format!("bind {address}"));
        for (name, listen) in ["a", "b", "c"].iter().zip(services) {
            let shipped = format!("service-{name}:8000");
            assert!(settings.contains(&shipped), "{settings}");
            settings = settings.replace(&shipped, listen);
        }
        let file = folder.join("haproxy.cfg");
        fs::write(&file, settings).unwrap();
        let mut start = command(program?);
        start.arg("-db").arg("-f").arg(&file);
        let process = Process::start(start);
        matchday_testkit::address::until_listening(&address);
        Some(Self::Haproxy { address, process })
    }

    pub(crate) fn address(&self) -> String {
        match self {
            Self::Told(proxy) => proxy.address().to_string(),
            Self::Haproxy { address, .. } => address.clone(),
        }
    }

    /// This service is away; `None`: all are back.
    pub(crate) fn exclude(&self, service: Option<SocketAddr>) {
        if let Self::Told(proxy) = self {
            proxy.exclude(service);
        }
    }

    /// Waits until whoever asks is answered, whichever service stands behind the answer: none that is away is asked any more.
    pub(crate) fn until_it_answers(&self, path: &str) {
        let Self::Haproxy { address, process } = self else {
            return;
        };
        eventually("the balancer asks none that is away", || {
            (0..IN_A_ROW).try_for_each(|_| match page::try_ask(address, "GET", path, "") {
                Ok(page) if page.status == 200 => Ok(()),
                other => Err(format!("{other:?} {}", process.err())),
            })
        });
    }

    /// What belongs to the operator's own network does not come through.
    pub(crate) fn hides(&self, path: &str) {
        let page = page::get(&self.address(), path);
        assert_eq!(page.status, 404, "{path}");
    }
}
