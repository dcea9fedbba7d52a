//! `matchday watch`: a league on the whole terminal. Asks the manager every second, reads keys, draws; and leaves the
//! terminal as it was, however it ends.

use super::Usage;
use super::manager_arg::ManagerArg;
use super::operator::secret_or_file;
use super::refresh::Refresh;
use super::settings::OPERATOR_TOKEN;
use crate::manager_client::{DashboardPage, ManagerClient, Refused, in_our_form};
use anyhow::{Result, anyhow};
use matchday_core::game::view::View;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::messages::query_data::{ScheduleData, ScheduledMatch, StandingsData};
use matchday_core::protocol::{RoundId, Token};
use matchday_os::signals::Termination;
use matchday_terminal::screen::Size;
use matchday_terminal::watch::app::{App, Flow, Key, Pane};
use matchday_terminal::watch::exchanges::ExchangePage;
use matchday_terminal::watch::screen::render;
use matchday_terminal::watch::{Board, Messages, Status, Update, UpdateRequest, featured};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use serde::Deserialize;
use serde_json::json;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday watch
  matchday watch --manager localhost:8000
  matchday watch --json | jq .status.matches_completed

Keys: 1 2 3 or Tab for table, matches and messages; the arrows scroll and turn to other rounds; b for another board;
? for help; q to leave.
Messages come from the manager's dashboard; with the operator's token more of them are seen.
From 120 columns on the table and the matches stand beside each other, with the board of a match.
In a pipe, --json prints a line whenever something changes, and `matchday standings --watch` the table.";

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// The token that the manager showed when the league was made, to see what is said in open matches
    #[arg(long, value_name = "TOKEN", env = OPERATOR_TOKEN.variable(), hide_env_values = true)]
    operator_token: Option<String>,
    /// Print status, table, round and board as JSON instead, a line whenever something has changed, until the league is over
    #[arg(long)]
    json: bool,
}

/// How often the manager is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How often the thread that reads keys checks whether it should end.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// How many messages are fetched at once.
const MESSAGES_MAX: usize = 500;

pub(super) async fn execute(args: WatchArgs) -> Result<ExitCode> {
    let token = secret_or_file(args.operator_token, &OPERATOR_TOKEN)?.map(Token::new);
    let source = Source { client: args.at.client()?, token };
    if args.json {
        return source.print_changes().await;
    }
    if Size::of_terminal().is_none() {
        let why =
            "this is drawn on a terminal, and here is none - add --json, or use `matchday standings --watch`";
        return Err(anyhow!(Usage(why.to_owned())));
    }
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
        KeyCode::Char('b') => Key::NextBoard,
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
        let StandingsData { standings, .. } = in_our_form("standings", self.client.standings().await?)?;
        let round = match requested.round.unwrap_or(status.current_round) {
            0 => None,
            number => self.schedule(Some(RoundId(number))).await?.rounds.into_iter().next(),
        };
        let messages = if requested.messages { self.messages().await } else { Messages::NotAsked };
        let board = match round.as_ref().and_then(|round| featured(round, requested.board)) {
            Some(game) => self.board(game).await,
            None => None,
        };
        Ok(Update { status, matches: counted.1, standings: standings.to_vec(), round, messages, board })
    }

    /// The position of a match; none if the manager has no dashboard, or the match none that may be seen.
    async fn board(&self, game: &ScheduledMatch) -> Option<Board> {
        #[derive(Deserialize)]
        struct MatchPage {
            #[serde(default)]
            positions: Vec<View>,
        }
        let path = format!("api/matches/{}", game.match_id);
        let DashboardPage::Found(page) = self.client.dashboard_page(&path, self.token.as_ref()).await.ok()?
        else {
            return None;
        };
        let page: MatchPage = serde_json::from_slice(&page).ok()?;
        let position = page.positions.into_iter().next_back().filter(|view| view.check().is_ok())?;
        let players = [game.player_a_id.clone(), game.player_b_id.clone()];
        Some(Board { match_id: game.match_id.clone(), players, position })
    }

    /// Prints a line of JSON for each change, until the league is over or Ctrl-C.
    async fn print_changes(self) -> Result<ExitCode> {
        let mut stop = Termination::listen()?;
        let mut refresh = Refresh::new(true);
        let mut counted = (0, 0);
        let mut is_first = true;
        let watching = async {
            loop {
                match self.ask(UpdateRequest::default(), &mut counted).await {
                    Ok(update) => {
                        refresh.show(in_json(&update)?);
                        if update.status.status == Phase::Completed {
                            return Ok(ExitCode::SUCCESS);
                        }
                    }
                    Err(error) if is_first => return Err(error),
                    Err(error) => refresh.show_error(format!("{error:#}")),
                }
                is_first = false;
                sleep(ASK_EVERY).await;
            }
        };
        tokio::select! {
            () = stop.recv() => Ok(ExitCode::SUCCESS),
            ended = watching => ended,
        }
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

fn in_json(update: &Update) -> Result<String> {
    let Update { status, matches, standings, round, board, .. } = update;
    let seen = json!({
        "status": status, "matches": matches, "standings": standings, "round": round, "board": board,
    });
    Ok(seen.to_string())
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
