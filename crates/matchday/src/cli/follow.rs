//! `matchday watch`: a league on the whole terminal. Asks the manager every second, reads keys, draws; and leaves the
//! terminal as it was, however it ends.

use super::Usage;
use super::desk::{Desk, ManagerArg, Shown};
use super::manager_answer::{Refused, in_our_form};
use super::serve::Stop;
use crate::view::screen::Size;
use crate::watch::app::{App, Key, Pane, Then};
use crate::watch::heard::HeardPage;
use crate::watch::screen::render;
use crate::watch::{Messages, News, Status, Wanted};
use anyhow::{Result, anyhow};
use matchday_core::protocol::messages::query::{ScheduleData, StandingsData};
use matchday_core::protocol::{RoundId, Token};
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
pub(super) struct FollowArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// The token that the manager showed when the league was made, to see what is said in open matches
    #[arg(long, value_name = "TOKEN", env = "MATCHDAY_OPERATOR_TOKEN", hide_env_values = true)]
    operator_token: Option<String>,
}

/// How often the manager is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How long a key waits at most for whoever reads it to look whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// As many messages as anyone would scroll through.
const MESSAGES_MAX: usize = 500;

pub(super) async fn execute(args: FollowArgs) -> Result<ExitCode> {
    if Size::of_terminal().is_none() {
        let why = "this is drawn on a terminal, and here is none - in a pipe use `matchday standings --watch`, or add --json";
        return Err(anyhow!(Usage(why.to_owned())));
    }
    let token = args.operator_token.filter(|text| !text.is_empty()).map(Token::new);
    let source = Source { desk: args.at.desk()?, token };
    let mut stop = Stop::listen()?;
    let mut screen = FullScreen::enter()?;
    let (ask, asked) = watch::channel(Wanted::default());
    let (tell, mut news) = mpsc::channel(1);
    let asking = tokio::spawn(source.keep_asking(asked, tell));
    let mut keys = read_keys();
    let mut app = App::default();
    let ended = loop {
        if let Err(error) = screen.0.draw(|frame| render(&mut app, frame)) {
            break Err(error.into());
        }
        tokio::select! {
            () = stop.told() => break Ok(ExitCode::SUCCESS),
            told = news.recv() => match told {
                // A manager that does not give what is asked for is not waited for, as one that is not there is.
                Some(Err(error)) if !app.has_news() && error.is::<Refused>() => break Err(error),
                Some(told) => app.take(told.map_err(|error| format!("{error:#}"))),
                None => break Err(anyhow!("nobody asks the manager any more")),
            },
            key = keys.recv() => match key {
                // Another size is drawn anew.
                Some(Pressed::Resized) => {}
                Some(Pressed::Key(key)) => if app.press(key) == Then::Quit { break Ok(ExitCode::SUCCESS) },
                None => break Err(anyhow!("the terminal is gone")),
            },
        }
        ask.send_if_modified(|wanted| std::mem::replace(wanted, app.wanted()) != app.wanted());
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

/// Keys as they are pressed. The thread ends when nobody wants them any more.
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

/// Where news comes from.
struct Source {
    desk: Desk,
    token: Option<Token>,
}

impl Source {
    /// Asks again and again, and at once when something else is wanted.
    async fn keep_asking(self, mut wanted: watch::Receiver<Wanted>, tell: mpsc::Sender<Result<News>>) {
        // How many rounds there were when the matches were counted.
        let mut counted = (0, 0);
        loop {
            let now = *wanted.borrow_and_update();
            let news = self.ask(now, &mut counted).await;
            if tell.send(news).await.is_err() {
                return;
            }
            tokio::select! {
                () = sleep(ASK_EVERY) => {}
                changed = wanted.changed() => if changed.is_err() { return },
            }
        }
    }

    async fn ask(&self, wanted: Wanted, counted: &mut (u32, usize)) -> Result<News> {
        let status: Status = in_our_form("status", self.desk.status().await?)?;
        // The whole schedule of a large league has some megabytes, so it is asked for only when there is a new one.
        if counted.0 != status.total_rounds {
            let all = self.schedule(None).await?;
            *counted = (status.total_rounds, all.rounds.iter().map(|round| round.matches.len()).sum());
        }
        let StandingsData { standings } = in_our_form("standings", self.desk.standings().await?)?;
        let round = match wanted.round.unwrap_or(status.current_round) {
            0 => None,
            number => self.schedule(Some(RoundId(number))).await?.rounds.into_iter().next(),
        };
        let messages = if wanted.messages { self.messages().await } else { Messages::NotAsked };
        Ok(News { status, matches: counted.1, standings: standings.to_vec(), round, messages })
    }

    async fn schedule(&self, round_id: Option<RoundId>) -> Result<ScheduleData> {
        in_our_form("schedule", self.desk.schedule(round_id.map(|round| round.0)).await?)
    }

    async fn messages(&self) -> Messages {
        let path = format!("api/messages?limit={MESSAGES_MAX}");
        match self.desk.shown(&path, self.token.as_ref()).await {
            Ok(Shown::Page(page)) => match serde_json::from_slice::<HeardPage>(&page) {
                Ok(page) => Messages::Heard(page.messages),
                Err(error) => Messages::Withheld(format!(
                    "The manager's dashboard tells of messages in another form: {error}."
                )),
            },
            Ok(Shown::Refused(401 | 403)) => Messages::Withheld(
                "The manager shows its messages to the operator alone: set MATCHDAY_OPERATOR_TOKEN, or give \
                 --operator-token."
                    .to_owned(),
            ),
            Ok(Shown::Refused(status)) => Messages::Withheld(format!(
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
