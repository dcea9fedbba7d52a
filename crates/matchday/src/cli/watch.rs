//! `matchday watch`: a league on the whole terminal. Asks the manager every second, reads keys, draws; and leaves the
//! terminal as it was, however it ends.

use super::Usage;
use super::manager_arg::ManagerArg;
use super::operator::secret_or_file;
use super::settings::OPERATOR_TOKEN;
use crate::manager_client::{DashboardPage, ManagerClient, Refused, in_our_form};
use crate::view::screen::Size;
use crate::watch::app::{App, Flow, Key, Pane};
use crate::watch::exchanges::ExchangePage;
use crate::watch::screen::render;
use crate::watch::{Messages, Status, Update, UpdateRequest};
use anyhow::{Result, anyhow};
use matchday_core::protocol::messages::query_data::{ScheduleData, StandingsData};
use matchday_core::protocol::{RoundId, Token};
use matchday_os::signals::Termination;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday watch
  matchday watch --manager http://localhost:8000/mcp

Keys: 1 2 3 or Tab for table, matches and messages; the arrows scroll and turn to other rounds; ? for help; q to leave.
Messages come from the manager's dashboard; with the operator's token more of them are seen.
In a pipe, `matchday standings --watch` prints the table whenever it changes.";

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// The token that the manager showed when the league was made, to see what is said in open matches
    #[arg(long, value_name = "TOKEN", env = OPERATOR_TOKEN.variable(), hide_env_values = true)]
    operator_token: Option<String>,
}

/// How often the manager is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How often the thread that reads keys checks whether it should end.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How many messages are fetched at once.
const MESSAGES_MAX: usize = 500;

pub(super) async fn execute(args: WatchArgs) -> Result<ExitCode> {
    if Size::of_terminal().is_none() {
        let why = "this is drawn on a terminal, and here is none - in a pipe use `matchday standings --watch`, or add --json";
        return Err(anyhow!(Usage(why.to_owned())));
    }
    let token = secret_or_file(args.operator_token, &OPERATOR_TOKEN)?.map(Token::new);
    let source = Source { client: args.at.client()?, token };
    let mut stop = Termination::listen()?;
    let mut screen = FullScreen::enter()?;
    let (ask, asked) = watch::channel(UpdateRequest::default());
    let (sender, mut updates) = mpsc::channel(1);
    let asking = tokio::spawn(source.keep_asking(asked, sender));
    let mut keys = read_keys();
    let mut app = App::default();
    let ended = loop {
        if let Err(error) = screen.0.draw(|frame| render(&mut app, frame)) {
            break Err(error.into());
        }
        tokio::select! {
            () = stop.recv() => break Ok(ExitCode::SUCCESS),
            update = updates.recv() => match update {
                // Retry only while the manager cannot be reached: a refusal would come again.
                Some(Err(error)) if !app.has_update() && error.is::<Refused>() => break Err(error),
                Some(update) => app.take(update.map_err(|error| format!("{error:#}"))),
                None => break Err(anyhow!("nobody asks the manager any more")),
            },
            key = keys.recv() => match key {
                // Another size is drawn anew.
                Some(Pressed::Resized) => {}
                Some(Pressed::Key(key)) => if app.press(key) == Flow::Quit { break Ok(ExitCode::SUCCESS) },
                None => break Err(anyhow!("the terminal is gone")),
            },
        }
        ask.send_if_modified(|requested| std::mem::replace(requested, app.requested()) != app.requested());
    };
    asking.abort();
    drop(screen);
    ended
}

/// The whole terminal, for as long as this lives. A panic gives it back too.
struct FullScreen(DefaultTerminal);

impl FullScreen {
    fn enter() -> Result<Self> {
        ratatui::try_init().map(Self).map_err(|error| anyhow!("this terminal cannot be drawn on: {error}"))
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

enum Pressed {
    Key(Key),
    Resized,
}

/// Keys as they are pressed. The thread ends when the receiver is dropped.
fn read_keys() -> mpsc::Receiver<Pressed> {
    let (tell, keys) = mpsc::channel(16);
    thread::spawn(move || {
        while !tell.is_closed() {
            match event::poll(LOOK_EVERY) {
                Ok(false) => continue,
                Ok(true) => {}
                Err(_) => return,
            }
            let pressed = match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => meaning(key).map(Pressed::Key),
                Ok(Event::Resize(..)) => Some(Pressed::Resized),
                Ok(_) => None,
                Err(_) => return,
            };
            if let Some(pressed) = pressed
                && tell.blocking_send(pressed).is_err()
            {
                return;
            }
        }
    });
    keys
}

fn meaning(key: KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Key::Quit);
    }
    Some(match key.code {
        KeyCode::Char('q') => Key::Quit,
        KeyCode::Esc => Key::Back,
        KeyCode::Char('?') | KeyCode::F(1) => Key::Help,
        KeyCode::Char('1') => Key::Look(Pane::Table),
        KeyCode::Char('2') => Key::Look(Pane::Matches),
        KeyCode::Char('3') => Key::Look(Pane::Messages),
        KeyCode::Tab => Key::NextPane,
        KeyCode::BackTab => Key::LastPane,
        KeyCode::Up | KeyCode::Char('k') => Key::Up,
        KeyCode::Down | KeyCode::Char('j') => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown | KeyCode::Char(' ') => Key::PageDown,
        KeyCode::Home | KeyCode::Char('g') => Key::Top,
        KeyCode::End | KeyCode::Char('G') => Key::Bottom,
        KeyCode::Left | KeyCode::Char('h') => Key::EarlierRound,
        KeyCode::Right | KeyCode::Char('l') => Key::LaterRound,
        KeyCode::Char('c') => Key::CurrentRound,
        _ => return None,
    })
}

/// The source of updates.
struct Source {
    client: ManagerClient,
    token: Option<Token>,
}

impl Source {
    /// Asks again and again, and at once when something else is requested.
    async fn keep_asking(
        self,
        mut requested: watch::Receiver<UpdateRequest>,
        tell: mpsc::Sender<Result<Update>>,
    ) {
        // How many rounds there were when the matches were counted.
        let mut counted = (0, 0);
        loop {
            let now = *requested.borrow_and_update();
            let update = self.ask(now, &mut counted).await;
            if tell.send(update).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(ASK_EVERY) => {}
                changed = requested.changed() => if changed.is_err() { return },
            }
        }
    }

    async fn ask(&self, requested: UpdateRequest, counted: &mut (u32, usize)) -> Result<Update> {
        let status: Status = in_our_form("status", self.client.status().await?)?;
        // The whole schedule of a large league has some megabytes, so it is asked for only when there is a new one.
        if counted.0 != status.total_rounds {
            let all = self.schedule(None).await?;
            *counted = (status.total_rounds, all.rounds.iter().map(|round| round.matches.len()).sum());
        }
        let StandingsData { standings } = in_our_form("standings", self.client.standings().await?)?;
        let round = match requested.round.unwrap_or(status.current_round) {
            0 => None,
            number => self.schedule(Some(RoundId(number))).await?.rounds.into_iter().next(),
        };
        let messages = if requested.messages { self.messages().await } else { Messages::NotAsked };
        Ok(Update { status, matches: counted.1, standings: standings.to_vec(), round, messages })
    }

    async fn schedule(&self, round_id: Option<RoundId>) -> Result<ScheduleData> {
        in_our_form("schedule", self.client.schedule(round_id.map(|round| round.0)).await?)
    }

    async fn messages(&self) -> Messages {
        let path = format!("api/messages?limit={MESSAGES_MAX}");
        match self.client.dashboard_page(&path, self.token.as_ref()).await {
            Ok(DashboardPage::Found(page)) => match serde_json::from_slice::<ExchangePage>(&page) {
                Ok(page) => Messages::Listed(page.messages),
                Err(error) => Messages::Withheld(format!(
                    "The manager's dashboard tells of messages in another form: {error}."
                )),
            },
            Ok(DashboardPage::Refused(401 | 403)) => Messages::Withheld(
                "The manager shows its messages to the operator alone: set MATCHDAY_OPERATOR_TOKEN, or give \
                 --operator-token."
                    .to_owned(),
            ),
            Ok(DashboardPage::Refused(status)) => Messages::Withheld(format!(
                "This manager shows no messages (HTTP {status}): they come from its dashboard, which is on if the manager \
                 is started with --dashboard on. `matchday replay FILE` tells them from its store."
            )),
            Err(error) => Messages::Withheld(format!("{error:#}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_their_meanings_and_the_others_have_none() {
        let plain = |code| meaning(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(plain(KeyCode::Char('q')), Some(Key::Quit));
        assert_eq!(plain(KeyCode::Char('2')), Some(Key::Look(Pane::Matches)));
        assert_eq!(plain(KeyCode::Left), Some(Key::EarlierRound));
        assert_eq!(plain(KeyCode::Char('x')), None);
        assert_eq!(meaning(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Key::Quit));
        assert_eq!(meaning(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL)), None);
    }
}
