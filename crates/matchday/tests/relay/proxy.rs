//! Through an HTTP proxy and over TLS, as in a company's network.

use crate::MATCHDAY;
use matchday_testkit::certificates::Authority;
use matchday_testkit::cli::{Cli, Process, free_address};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that connects every name to one address. What was asked of it is written down.
fn proxy(to: String) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, asked) = (listener.local_addr().unwrap().to_string(), Arc::<Mutex<Vec<String>>>::default());
    let notes = Arc::clone(&asked);
    thread::spawn(move || {
        for near in listener.incoming().flatten() {
            let (to, notes) = (to.clone(), Arc::clone(&notes));
            thread::spawn(move || tunnel(near, &to, &notes));
        }
    });
    (address, asked)
}

fn tunnel(mut near: TcpStream, to: &str, notes: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(near.try_clone().unwrap());
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if reader.read_line(&mut request).unwrap() == 0 {
            return;
        }
    }
    notes.lock().unwrap().push(request.lines().next().unwrap().to_owned());
    let mut far = TcpStream::connect(to).unwrap();
    near.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").unwrap();
    let (mut back, mut out) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    thread::spawn(move || {
        let _ = std::io::copy(&mut back, &mut out);
        let _ = out.shutdown(std::net::Shutdown::Both);
    });
    let _ = std::io::copy(&mut reader, &mut far);
    let _ = far.shutdown(std::net::Shutdown::Both);
}

#[test]
fn an_agent_behind_a_proxy_connects_over_tls() {
    let cli = Cli::new(MATCHDAY);
    let authority = Authority::new("test authority");
    let pair = authority.issue(cli.path(), "league", &["league.test"]);
    let ca = authority.file(cli.path(), "ca.pem");
    let advertise = "https://league.test/mcp";
    let (cert, key) = (pair.cert.to_str().unwrap().to_owned(), pair.key.to_str().unwrap().to_owned());
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
        "--advertise",
        advertise,
        "--endpoint-check",
        "off",
    ]);
    let (proxy, asked) = proxy(cli.listen.clone());
    let (agent, listen) = (free_address(), free_address());
    let mut command =
        cli.command(&["connect", advertise, "--listen", &listen, "--to", &format!("http://{agent}/mcp")]);
    command.args(["--tls-ca", ca.to_str().unwrap()]).env("HTTPS_PROXY", format!("http://{proxy}"));
    let connect = Process::start(command);
    connect.until("connected to the league");
    let player = cli.start(&["player", "--listen", &agent, "--manager", &format!("http://{listen}/mcp")]);
    player.until("registered as");
    let asked = asked.lock().unwrap();
    assert!(
        !asked.is_empty() && asked.iter().all(|line| line == "CONNECT league.test:443 HTTP/1.1"),
        "{asked:?}"
    );
}
