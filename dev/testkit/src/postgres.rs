//! A PostgreSQL cluster of the test's own: made by `initdb` in a temporary folder, as another user than root, reached by a socket
//! only, and removed afterwards. Each test has a database of its own in it.

use crate::cut_proxy::CutProxy;
use crate::eventually::eventually;
use crate::tools::require_that;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// A cluster that is running until this is dropped.
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    bin: PathBuf,
    databases: AtomicU32,
}

impl Cluster {
    /// `None` where PostgreSQL is not installed: the test returns. In the gate that is a failure.
    #[must_use]
    pub fn start() -> Option<Self> {
        let bin = bin();
        if !require_that(
            bin.is_some(),
            "postgresql is not installed (apt-get install postgresql)",
        ) {
            return None;
        }
        let cluster = Self {
            folder: tempfile::tempdir().unwrap(),
            bin: bin?,
            databases: AtomicU32::new(0),
        };
        if let Some(user) = other_user() {
            let status = Command::new("chown")
                .arg(user)
                .arg(cluster.folder.path())
                .status()
                .unwrap();
            assert!(status.success());
        }
        let data = cluster.data();
        cluster.run(
            "initdb",
            &[
                "--no-sync",
                "--auth=trust",
                "--username=matchday",
                "--encoding=UTF8",
                "--locale=C",
                "-D",
                &data,
            ],
        );
        let socket = cluster.folder.path().display();
        let settings = format!(
            "listen_addresses = ''\nunix_socket_directories = '{socket}'\nfsync = on\nmax_connections = 60\nshared_buffers = 16MB\n"
        );
        let conf = cluster.folder.path().join("data/postgresql.conf");
        let text = fs::read_to_string(&conf).unwrap();
        fs::write(&conf, text + &settings).unwrap();
        cluster.up();
        Some(cluster)
    }

    fn data(&self) -> String {
        self.folder.path().join("data").display().to_string()
    }

    /// The folder of the socket.
    pub fn socket(&self) -> &Path {
        self.folder.path()
    }

    /// The address of a new, empty database.
    pub fn database(&self) -> String {
        self.address(&self.create())
    }

    fn create(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    pub fn address(&self, database: &str) -> String {
        format!(
            "postgres://matchday@/{database}?host={}",
            self.folder.path().display()
        )
    }

    /// A proxy before the cluster's socket.
    pub fn proxy(&self) -> CutProxy {
        CutProxy::before_socket(&self.folder.path().join(".s.PGSQL.5432"))
    }

    /// The address of a new, empty database behind a proxy.
    pub fn database_behind(&self, proxy: &CutProxy) -> String {
        format!(
            "postgres://matchday@{}/{}?sslmode=disable",
            proxy.address(),
            self.create()
        )
    }

    /// Adds settings to the server's, and a line before those that say who may connect; starts it again with them.
    pub fn configure(&self, settings: &str, hba: &str) {
        self.stop("fast");
        let data = self.folder.path().join("data");
        let edit = |file: &str, change: &dyn Fn(String) -> String| {
            let text = fs::read_to_string(data.join(file)).unwrap();
            fs::write(data.join(file), change(text)).unwrap();
        };
        edit("postgresql.conf", &|text| format!("{text}\n{settings}\n"));
        edit("pg_hba.conf", &|text| format!("{hba}\n{text}"));
        self.up();
    }

    /// Gives a file to the user that the server runs as.
    pub fn hand_over(&self, file: &Path) {
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some(user) = other_user() {
            assert!(
                Command::new("chown")
                    .arg(user)
                    .arg(file)
                    .status()
                    .unwrap()
                    .success()
            );
        }
    }

    /// Starts the server, and returns when it takes connections.
    pub fn up(&self) {
        let log = self.folder.path().join("server.log").display().to_string();
        self.run(
            "pg_ctl",
            &["start", "-w", "-t", "120", "-D", &self.data(), "-l", &log],
        );
    }

    /// Stops the server: `fast` in good order, `immediate` as by a crash.
    pub fn stop(&self, mode: &str) {
        self.run(
            "pg_ctl",
            &["stop", "-w", "-t", "120", "-m", mode, "-D", &self.data()],
        );
    }

    /// Kills the server and all its processes with SIGKILL.
    pub fn kill(&self) {
        let pid = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).unwrap();
        let pid = pid.lines().next().unwrap().trim().to_owned();
        // It must begin no other process between the look at them and the end.
        assert!(
            Command::new("kill")
                .args(["-STOP", &pid])
                .status()
                .unwrap()
                .success()
        );
        let children = Command::new("ps")
            .args(["-o", "pid=", "--ppid", &pid])
            .output()
            .unwrap()
            .stdout;
        let children = String::from_utf8(children).unwrap();
        let all: Vec<&str> = std::iter::once(pid.as_str())
            .chain(children.split_whitespace())
            .collect();
        // One that has ended already is no matter.
        let _ = Command::new("kill")
            .arg("-9")
            .args(&all)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        eventually("the server has ended", || {
            !all.iter().any(|pid| is_running(pid))
        });
        // A killed process that nobody has waited for yet looks to the next server like one that runs.
        fs::remove_file(self.folder.path().join("data/postmaster.pid")).unwrap();
        for file in fs::read_dir(self.folder.path()).unwrap().flatten() {
            if file.file_name().to_string_lossy().starts_with(".s.PGSQL.") {
                fs::remove_file(file.path()).unwrap();
            }
        }
    }

    /// Runs a statement, and returns its rows as psql prints them.
    pub fn sql(&self, database: &str, statement: &str) -> String {
        let socket = self.folder.path().display().to_string();
        self.run(
            "psql",
            &[
                "-X",
                "-q",
                "-At",
                "-v",
                "ON_ERROR_STOP=1",
                "-h",
                &socket,
                "-U",
                "matchday",
                "-d",
                database,
                "-c",
                statement,
            ],
        )
    }

    /// Runs one of PostgreSQL's programs as the user of the cluster, and returns what it prints.
    pub fn run(&self, program: &str, args: &[&str]) -> String {
        let program = self.bin.join(program);
        let mut command = match other_user() {
            Some(user) => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid", &user, "--regid", &user, "--clear-groups"])
                    .arg(&program);
                command
            }
            None => Command::new(&program),
        };
        let log = self.folder.path().join("programs.log");
        let errors = fs::File::options()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap();
        command
            .args(args)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C");
        let out = command
            .stdin(Stdio::null())
            .stderr(errors)
            .output()
            .unwrap();
        let told = fs::read_to_string(&log).unwrap_or_default();
        assert!(
            out.status.success(),
            "{} {args:?}: {told}",
            program.display()
        );
        String::from_utf8(out.stdout).unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let pid =
            fs::read_to_string(self.folder.path().join("data/postmaster.pid")).unwrap_or_default();
        if let Some(pid) = pid.lines().next() {
            let _ = Command::new("kill")
                .args(["-QUIT", pid.trim()])
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Whether a process is there and has not ended.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ")
        .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// PostgreSQL does not run as root.
fn other_user() -> Option<String> {
    let id = Command::new("id").arg("-u").output().ok()?.stdout;
    if String::from_utf8(id).ok()?.trim() != "0" {
        return None;
    }
    let nobody = Command::new("id")
        .args(["-u", "nobody"])
        .output()
        .ok()?
        .stdout;
    Some(String::from_utf8(nobody).ok()?.trim().to_owned())
}

/// Debian keeps the programs of each version apart.
fn bin() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let bins = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    bins.filter(|bin| bin.join("initdb").exists()).max()
}
