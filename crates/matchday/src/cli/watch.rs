//! `matchday watch`: follows a league, in the live view that `run` has too. Asks the manager every second.

use super::manager_arg::ManagerArg;
use super::notice;
use crate::manager_client::{ManagerClient, Refused, in_our_form};
use anyhow::Result;
use matchday_audit::league_view::Standing;
use matchday_core::game::analysis::Outlook;
use matchday_core::game::view::View as Position;
use matchday_core::protocol::MatchId;
use matchday_core::protocol::messages::Phase;
use matchday_core::protocol::messages::query_data::{
    ScheduleData, ScheduledMatch, ScheduledRound, StandingsData,
};
use matchday_os::signals::Termination;
use matchday_terminal::live::{Board, Live, LiveLeague, View, featured, headline};
use matchday_terminal::progress::LeagueStatus;
use matchday_terminal::progress::Progress;
use matchday_terminal::standings_table::standings_table;
use matchday_terminal::{Paint, say};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

pub(super) const EXAMPLE: &str = "\
Example:
  matchday watch
  matchday watch --manager localhost:8000
  matchday watch --json | jq .status.matches_completed

On a terminal: progress, standings, the latest results and the board of a match; beside each other from 120 columns on. It
ends with the league, or with Ctrl-C. In a pipe, a line whenever something has changed, and then the standings. Messages and
other rounds are in the manager's dashboard, and in `matchday schedule --round N`.";

#[derive(Debug, clap::Args)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    at: ManagerArg,
    /// Print status, standings, round and board as JSON instead, a line whenever something has changed, until the league is over
    #[arg(long)]
    json: bool,
}

/// How often the manager is asked.
const ASK_EVERY: Duration = Duration::from_secs(1);

pub(super) async fn execute(args: WatchArgs) -> Result<ExitCode> {
    let mut source = LiveSource::new(args.at.client()?);
    let mut stop = Termination::listen()?;
    let mut display = match View::new(args.json) {
        View::Live(live) => Display::Live(live),
        _ => Display::Lines(Lines {
            as_json: args.json,
            ..Lines::default()
        }),
    };
    let watched = tokio::select! {
        () = stop.recv() => Ok(()),
        watched = follow(&mut source, &mut display) => watched,
    };
    if let Display::Live(live) = display {
        live.leave();
    }
    watched.map(|()| ExitCode::SUCCESS)
}

/// Until the league is over. A manager that cannot be reached is waited for; one that refuses is not.
async fn follow(source: &mut LiveSource, display: &mut Display) -> Result<()> {
    let mut is_known = false;
    loop {
        match source.ask().await {
            Ok(seen) => {
                is_known = true;
                let is_over = seen.status.status == Phase::Completed;
                display.show(seen)?;
                if is_over {
                    return Ok(());
                }
            }
            Err(error)
                if !is_known && (error.is::<Refused>() || !display.waits_for_a_manager()) =>
            {
                return Err(error);
            }
            Err(error) => display.show_error(format!("{error:#}")),
        }
        sleep(ASK_EVERY).await;
    }
}

enum Display {
    Live(Box<Live>),
    Lines(Lines),
}

/// A line for each change, for people or programs.
#[derive(Default)]
struct Lines {
    as_json: bool,
    last: String,
    error: Option<String>,
}

impl Display {
    fn waits_for_a_manager(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    fn show(&mut self, seen: LiveLeague) -> Result<()> {
        match self {
            Self::Live(live) => live.draw(seen),
            Self::Lines(lines) => lines.show(&seen)?,
        }
        Ok(())
    }

    fn show_error(&mut self, why: String) {
        match self {
            Self::Live(live) => live.draw_error(why),
            Self::Lines(lines) if lines.error.as_ref() != Some(&why) => {
                notice(&format!("{why} - waiting for it"));
                lines.error = Some(why);
            }
            Self::Lines(_) => {}
        }
    }
}

impl Lines {
    fn show(&mut self, seen: &LiveLeague) -> Result<()> {
        if self.error.take().is_some() {
            notice("the manager answers again");
        }
        let line = if self.as_json {
            serde_json::to_string(seen)?
        } else {
            in_words(seen)
        };
        if line != self.last {
            say(&line);
            self.last = line;
        }
        Ok(())
    }
}

fn in_words(seen: &LiveLeague) -> String {
    let progress = Progress::of(&seen.status, seen.matches);
    let progress = headline(&progress, seen.status.round_title.as_deref(), None, None);
    match seen.status.status {
        Phase::Completed => {
            let table = standings_table(&seen.standings, usize::MAX);
            format!("{progress}\n{}", table.text(Paint::Plain))
        }
        _ => progress,
    }
}

/// Where the live view has its league from: a manager, and the boards from its dashboard.
pub(super) struct LiveSource {
    client: ManagerClient,
    /// How many rounds there were when the matches were counted, and how many matches.
    counted: (u32, usize),
    /// What players say that they play by, asked for when their number has changed.
    strategies: (usize, BTreeMap<String, String>),
    round_seen: u32,
    recent: Vec<ScheduledMatch>,
    /// Shown until another match has a position.
    board: Option<Board>,
}

/// How many decided matches are remembered.
const RECENT_MAX: usize = 8;

impl LiveSource {
    pub(super) fn new(client: ManagerClient) -> Self {
        Self {
            client,
            counted: (0, 0),
            strategies: (0, BTreeMap::new()),
            round_seen: 0,
            recent: Vec::new(),
            board: None,
        }
    }

    pub(super) async fn ask(&mut self) -> Result<LiveLeague> {
        let status: LeagueStatus = in_our_form("status", self.client.status().await?)?;
        // The whole schedule of a large league has some megabytes, so it is asked for only when there is a new one.
        if self.counted.0 != status.total_rounds {
            let all = self.schedule(None).await?;
            self.counted = (
                status.total_rounds,
                all.rounds.iter().map(|round| round.matches.len()).sum(),
            );
        }
        let StandingsData { standings, .. } =
            in_our_form("standings", self.client.standings().await?)?;
        let round = match status.current_round {
            0 => None,
            number => self.schedule(Some(number)).await?.rounds.into_iter().next(),
        };
        // Its last matches may have been decided in the moment in which the next round was announced.
        if status.current_round > 1 && status.current_round != self.round_seen {
            let before = self.schedule(Some(status.current_round - 1)).await?;
            before.rounds.iter().for_each(|round| self.remember(round));
        }
        self.round_seen = status.current_round;
        round.iter().for_each(|round| self.remember(round));
        let playing = round.as_ref().and_then(featured).cloned();
        if let Some(game) = playing.or_else(|| self.recent.last().cloned())
            && let Some(board) = self.board(&game).await
        {
            self.board = Some(board);
        }
        let mut standings: Vec<Standing> = standings.iter().map(Into::into).collect();
        if self.strategies.0 != standings.len() {
            self.strategies = (standings.len(), strategies(&self.client).await);
        }
        for row in &mut standings {
            row.who.strategy = self.strategies.1.get(&row.who.id).cloned();
        }
        Ok(LiveLeague {
            status,
            matches: self.counted.1,
            standings,
            round,
            recent: self.recent.clone(),
            board: self.board.clone(),
        })
    }

    /// Remembers the matches of a round that are decided, as long as there are not too many.
    fn remember(&mut self, round: &ScheduledRound) {
        for game in round.matches.iter().filter(|game| game.result.is_some()) {
            let is_known = |known: &ScheduledMatch| known.match_id == game.match_id;
            if !self.recent.iter().any(is_known) {
                self.recent.push(game.clone());
            }
        }
        let old = self.recent.len().saturating_sub(RECENT_MAX);
        self.recent.drain(..old);
    }

    /// The position of a match; none if the manager has no dashboard, or the match none that may be seen.
    async fn board(&self, game: &ScheduledMatch) -> Option<Board> {
        #[derive(Deserialize)]
        struct Page {
            boards: Vec<Shown>,
        }
        #[derive(Deserialize)]
        struct Shown {
            id: MatchId,
            view: Option<Position>,
            outlook: Option<Outlook>,
        }
        let path = format!("api/boards?limit=1&match={}", game.match_id);
        let page = self.client.dashboard_page(&path).await?;
        let page: Page = serde_json::from_slice(&page).ok()?;
        let shown = page.boards.into_iter().next()?;
        let position = shown.view.filter(|view| view.check().is_ok())?;
        let players = [game.player_a_id.clone(), game.player_b_id.clone()];
        (shown.id == game.match_id).then_some(Board {
            match_id: shown.id,
            players,
            position,
            outlook: shown.outlook,
        })
    }

    async fn schedule(&self, round: Option<u32>) -> Result<ScheduleData> {
        in_our_form("schedule", self.client.schedule(round).await?)
    }
}

/// What players say that they play by: from the dashboard, if there is one.
pub(super) async fn strategies(client: &ManagerClient) -> BTreeMap<String, String> {
    #[derive(Deserialize, Default)]
    struct Page {
        rows: Vec<Row>,
    }
    #[derive(Deserialize)]
    struct Row {
        id: String,
        strategy: Option<String>,
    }
    let page = client.dashboard_page("api/standings").await;
    let page: Page = page
        .and_then(|page| serde_json::from_slice(&page).ok())
        .unwrap_or_default();
    let known = page.rows.into_iter();
    known
        .filter_map(|row| Some((row.id, row.strategy?)))
        .collect()
}
