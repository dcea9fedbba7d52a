//! Starts programs of others so that they end with this process, even if it is killed: a process of our own asks the system
//! for that, and then becomes the program. Elsewhere than on Linux, and in a test's executable, a program is started directly.

use matchday_os::program;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;

/// The first argument of a process that is to launch a program.
const LAUNCH: &str = "launch-program";

/// The executable that understands this argument.
static LAUNCHER: OnceLock<PathBuf> = OnceLock::new();

/// Says that the executable of this process calls [`launch`].
pub fn enable() {
    if let Some(own) = program::launcher() {
        let _ = LAUNCHER.set(own);
    }
}

/// A command that becomes `program`, with its first arguments.
pub(super) fn command(program: &Path) -> Command {
    let Some(launcher) = LAUNCHER.get() else {
        return Command::new(program);
    };
    let mut command = Command::new(launcher);
    command
        .arg(LAUNCH)
        .arg(process::id().to_string())
        .arg(program);
    command
}

/// If this process is to launch a program, becomes it; the result is why it could not.
pub fn launch(args: impl IntoIterator<Item = OsString>) -> Option<String> {
    let mut args = args.into_iter().skip(1);
    args.next().filter(|first| first == LAUNCH)?;
    let parent = args.next().and_then(|parent| parent.to_str()?.parse().ok());
    let (Some(parent), Some(path)) = (parent, args.next()) else {
        return Some(format!(
            "{LAUNCH} is for matchday itself: it needs a process and a program"
        ));
    };
    let why = match program::end_with_parent(parent) {
        Ok(true) => {
            let mut command = process::Command::new(&path);
            command.args(args);
            program::replace(command).to_string()
        }
        Ok(false) => "the process that wanted it has ended".to_owned(),
        Err(error) => error.to_string(),
    };
    Some(format!(
        "{} cannot be started: {why}",
        Path::new(&path).display()
    ))
}

/// A program to start, and where to hand it in.
struct Order {
    command: Command,
    runtime: Handle,
    started: mpsc::SyncSender<io::Result<Child>>,
}

static ORDERS: Mutex<Option<mpsc::Sender<Order>>> = Mutex::new(None);

/// Starts it from a thread that lives as long as this process: a program ends with the thread that has started it.
pub(super) fn spawn(mut command: Command) -> io::Result<Child> {
    if LAUNCHER.get().is_none() {
        return command.spawn();
    }
    let ended = || io::Error::other("the thread that starts programs has ended");
    let runtime = Handle::try_current().map_err(io::Error::other)?;
    let (started, start) = mpsc::sync_channel(1);
    let mut orders = ORDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let sender = match orders.take() {
        Some(sender) => sender,
        None => start_thread()?,
    };
    sender
        .send(Order {
            command,
            runtime,
            started,
        })
        .map_err(|_| ended())?;
    *orders = Some(sender);
    drop(orders);
    start.recv().map_err(|_| ended())?
}

fn start_thread() -> io::Result<mpsc::Sender<Order>> {
    let (sender, orders) = mpsc::channel::<Order>();
    thread::Builder::new()
        .name("programs".to_owned())
        .spawn(move || {
            for Order {
                mut command,
                runtime,
                started,
            } in orders
            {
                let _entered = runtime.enter();
                let _ = started.send(command.spawn());
            }
        })?;
    Ok(sender)
}
