//! A TCP proxy before a server that can be cut: it holds bytes of one direction back, closes every connection, or cuts one in the
//! middle of a COMMIT of PostgreSQL's protocol. Threads of its own; no runtime.
//!
//! What is held back is what a network loses in one direction: TCP sends it again until the network works again or the
//! connection ends, so that here too it arrives late or never, and never with a gap.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// The end of a statement or of its completion, both of which are texts that end with a zero byte.
const COMMIT: &[u8] = b"COMMIT\0";
const WAIT_MAX: Duration = Duration::from_secs(60);

/// Where the server is.
#[derive(Debug, Clone)]
enum Server {
    Unix(PathBuf),
    /// Any of these, in turn, as a load balancer does it.
    Tcp(Vec<SocketAddr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    ToServer,
    ToClient,
}

/// On which side of its server's work a COMMIT is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtCommit {
    /// The server never sees it: the transaction is not committed.
    Before,
    /// The server has committed, and the client never hears of it.
    After,
    /// The client loses its connection, and the server sees the COMMIT only once the network works again. Others connect meanwhile.
    Late,
}

#[derive(Debug)]
pub struct CutProxy {
    address: SocketAddr,
    network: Arc<Network>,
}

#[derive(Debug)]
struct Network {
    server: Server,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    cut: bool,
    held: [bool; 2],
    /// How many bytes wait to be let through.
    waiting: [usize; 2],
    at_commit: Option<AtCommit>,
    /// Whether a late COMMIT is on its way.
    late: bool,
    commit_cuts: usize,
    excluded: Option<SocketAddr>,
    next: u64,
    connections: BTreeMap<u64, (TcpStream, Stream)>,
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Server {
    /// The first that takes the connection, beginning with another one each time.
    fn connect(&self, turn: u64, excluded: Option<SocketAddr>) -> Option<Stream> {
        match self {
            Self::Unix(path) => Some(Stream::Unix(UnixStream::connect(path).ok()?)),
            Self::Tcp(all) => {
                let first = usize::try_from(turn).unwrap() % all.len();
                let turns = all[first..].iter().chain(&all[..first]);
                let mut usable = turns.filter(|address| Some(**address) != excluded);
                let stream = usable.find_map(|address| TcpStream::connect(address).ok())?;
                stream.set_nodelay(true).ok()?;
                Some(Stream::Tcp(stream))
            }
        }
    }
}

impl Stream {
    fn try_clone(&self) -> std::io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    fn shutdown(&self) {
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl CutProxy {
    /// Before a server that listens on a socket, on a port of this machine that the system picks.
    pub fn before_socket(socket: &Path) -> Self {
        Self::listen(
            "127.0.0.1:0".parse().unwrap(),
            Server::Unix(socket.to_owned()),
        )
    }

    /// A load balancer before several servers.
    pub fn before_any(servers: Vec<SocketAddr>) -> Self {
        Self::listen("127.0.0.1:0".parse().unwrap(), Server::Tcp(servers))
    }

    /// Sends no connection to this server any more, as after a health check that failed, and ends those that there are.
    pub fn exclude(&self, server: Option<SocketAddr>) {
        let mut state = self.network.state();
        state.excluded = server;
        self.network.end_all(&mut state);
    }

    fn listen(address: SocketAddr, server: Server) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let network = Arc::new(Network {
            server,
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let accepting = Arc::clone(&network);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if accepting.state().closed {
                    return;
                }
                accepting.connect(client);
            }
        });
        Self { address, network }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes every connection, and each new one at once, until it works again.
    pub fn cut(&self) {
        let mut state = self.network.state();
        state.cut = true;
        self.network.end_all(&mut state);
    }

    /// Lets nothing through in one direction until it works again.
    pub fn hold(&self, direction: Direction) {
        self.network.state().held[direction as usize] = true;
    }

    /// Cuts the next COMMIT, and unless it is late everything else too, until it works again.
    pub fn cut_at_commit(&self, side: AtCommit) {
        self.network.state().at_commit = Some(side);
    }

    /// Everything is let through again.
    pub fn restore(&self) {
        let mut state = self.network.state();
        (state.cut, state.held, state.at_commit, state.late) = (false, [false; 2], None, false);
        self.network.changed.notify_all();
    }

    /// Waits until bytes are held back in this direction.
    pub fn until_held(&self, direction: Direction) {
        self.until("nothing is held back", |state| {
            state.waiting[direction as usize] > 0
        });
    }

    /// Waits until so many COMMITs were cut in all.
    pub fn until_commit_cuts(&self, count: usize) {
        self.until("no COMMIT was cut", |state| state.commit_cuts >= count);
    }

    fn until(&self, otherwise: &str, holds: impl Fn(&State) -> bool) {
        let state = self.network.state();
        let waited = self
            .network
            .changed
            .wait_timeout_while(state, WAIT_MAX, |state| !holds(state));
        assert!(!waited.unwrap().1.timed_out(), "{otherwise}");
    }
}

impl Drop for CutProxy {
    fn drop(&mut self) {
        let mut state = self.network.state();
        (state.closed, state.cut) = (true, true);
        self.network.end_all(&mut state);
        drop(state);
        // Wakes the thread that accepts, so that it ends.
        let _ = TcpStream::connect(self.address);
    }
}

impl Network {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn end_all(&self, state: &mut State) {
        for (client, server) in std::mem::take(&mut state.connections).into_values() {
            let _ = client.shutdown(Shutdown::Both);
            server.shutdown();
        }
        self.changed.notify_all();
    }

    fn connect(self: &Arc<Self>, client: TcpStream) {
        let mut state = self.state();
        // A client that is let go at once sees what it sees of a server that has just ended.
        let Some(server) = self.server.connect(state.next, state.excluded) else {
            return;
        };
        if state.cut {
            return;
        }
        client.set_nodelay(true).unwrap();
        let id = state.next;
        state.next += 1;
        let to_client = client.try_clone().unwrap();
        let to_server = server.try_clone().unwrap();
        state.connections.insert(
            id,
            (client.try_clone().unwrap(), server.try_clone().unwrap()),
        );
        drop(state);
        let up = Arc::clone(self);
        let down = Arc::clone(self);
        thread::spawn(move || up.pass(id, Direction::ToServer, client, to_server));
        thread::spawn(move || down.pass(id, Direction::ToClient, server, to_client));
    }

    fn pass(&self, id: u64, direction: Direction, mut from: impl Read, mut to: impl Write) {
        let mut buffer = vec![0; 1 << 16];
        let mut seen = Vec::new();
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let bytes = &buffer[..count];
            // A statement may come in two pieces.
            seen.drain(..seen.len().saturating_sub(COMMIT.len() - 1));
            seen.extend_from_slice(bytes);
            let commits = seen.windows(COMMIT.len()).any(|part| part == COMMIT);
            if !self.admits(id, direction, count, commits) || to.write_all(bytes).is_err() {
                break;
            }
        }
        if let Some((client, server)) = self.state().connections.remove(&id) {
            let _ = client.shutdown(Shutdown::Both);
            server.shutdown();
        }
    }

    /// Returns when bytes may pass; `false` if their connection has been cut.
    fn admits(&self, id: u64, direction: Direction, count: usize, commits: bool) -> bool {
        let mut state = self.state();
        let plan = state
            .at_commit
            .filter(|side| (*side == AtCommit::After) == (direction == Direction::ToClient));
        if let Some(side) = plan.filter(|_| commits) {
            state.at_commit = None;
            state.commit_cuts += 1;
            if side == AtCommit::Late {
                return self.arrives_late(state, id);
            }
            state.cut = true;
            self.end_all(&mut state);
            return false;
        }
        let place = direction as usize;
        state.waiting[place] += count;
        self.changed.notify_all();
        let mut state = self
            .changed
            .wait_while(state, |state| {
                state.held[place] && state.connections.contains_key(&id)
            })
            .unwrap();
        state.waiting[place] -= count;
        state.connections.contains_key(&id)
    }

    fn arrives_late(&self, mut state: MutexGuard<'_, State>, id: u64) -> bool {
        state.late = true;
        if let Some((client, _)) = state.connections.get(&id) {
            let _ = client.shutdown(Shutdown::Both);
        }
        self.changed.notify_all();
        let there = |state: &State| state.connections.contains_key(&id);
        let state = self
            .changed
            .wait_while(state, |state| state.late && there(state))
            .unwrap();
        there(&state)
    }
}
