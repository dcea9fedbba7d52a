//! State of the `watch` screen: what is shown, and how keys and updates change it. Pure.

use super::{Messages, Update, UpdateRequest};
use crate::rank_changes::RankChanges;

#[derive(Debug, Default)]
pub struct App {
    pub(super) pane: Pane,
    /// The selected round; `None` follows the current one.
    pub(super) round: Option<u32>,
    /// Scroll offset of each pane.
    scroll: [usize; 3],
    pub(super) help: bool,
    /// How often another board was asked for.
    board: usize,
    pub(super) changes: RankChanges,
    pub(super) update: Option<Update>,
    /// Why the last update failed.
    pub(super) error: Option<String>,
    /// The number of body lines in the last frame.
    room: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pane {
    #[default]
    Table,
    Matches,
    Messages,
}

impl Pane {
    pub(super) const ALL: [Self; 3] = [Self::Table, Self::Matches, Self::Messages];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Table => "Table",
            Self::Matches => "Matches",
            Self::Messages => "Messages",
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Table => Self::Matches,
            Self::Matches => Self::Messages,
            Self::Messages => Self::Table,
        }
    }
}

/// An action that a key is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Look(Pane),
    NextPane,
    LastPane,
    Up,
    Down,
    PageUp,
    PageDown,
    Top,
    Bottom,
    EarlierRound,
    LaterRound,
    /// The board of another match.
    NextBoard,
    /// Follows the current round again.
    CurrentRound,
    Help,
    /// Closes the help, or else quits.
    Back,
    Quit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    Continue,
    Quit,
}

impl App {
    pub fn requested(&self) -> UpdateRequest {
        UpdateRequest { round: self.round, messages: self.pane == Pane::Messages, board: self.board }
    }

    pub fn has_update(&self) -> bool {
        self.update.is_some()
    }

    pub fn take(&mut self, update: Result<Update, String>) {
        match update {
            Ok(mut update) => {
                // Messages that were not requested are kept from the last update.
                if let (Messages::NotAsked, Some(last)) = (&update.messages, self.update.take()) {
                    update.messages = last.messages;
                }
                self.changes.take(update.status.current_round, &update.standings);
                self.update = Some(update);
                self.error = None;
            }
            Err(why) => self.error = Some(why),
        }
    }

    pub fn press(&mut self, key: Key) -> Flow {
        match key {
            Key::Quit => return Flow::Quit,
            Key::Back if !self.help => return Flow::Quit,
            Key::Back => self.help = false,
            Key::Help => self.help = !self.help,
            // Any other key closes the help.
            _ if self.help => self.help = false,
            Key::Look(pane) => self.pane = pane,
            Key::NextPane => self.pane = self.pane.next(),
            Key::LastPane => self.pane = self.pane.next().next(),
            Key::Up => self.scroll_by(-1),
            Key::Down => self.scroll_by(1),
            Key::PageUp => self.scroll_by(-self.page()),
            Key::PageDown => self.scroll_by(self.page()),
            Key::Top => *self.scroll_mut() = 0,
            Key::Bottom => *self.scroll_mut() = usize::MAX,
            Key::EarlierRound => self.turn(-1),
            Key::LaterRound => self.turn(1),
            Key::NextBoard => self.board = self.board.wrapping_add(1),
            Key::CurrentRound => self.turn_to(None),
        }
        Flow::Continue
    }

    /// Clamps the scroll offset to the content, and returns it.
    pub(super) fn scrolled(&mut self, lines: usize, room: usize) -> usize {
        self.room = room;
        let most = lines.saturating_sub(room);
        let scroll = self.scroll_mut();
        *scroll = (*scroll).min(most);
        *scroll
    }

    /// The selected round, or the current one.
    pub(super) fn round_shown(&self) -> u32 {
        self.round.unwrap_or_else(|| self.update.as_ref().map_or(0, |update| update.status.current_round))
    }

    fn scroll_mut(&mut self) -> &mut usize {
        let [table, matches, messages] = &mut self.scroll;
        match self.pane {
            Pane::Table => table,
            Pane::Matches => matches,
            Pane::Messages => messages,
        }
    }

    fn scroll_by(&mut self, lines: isize) {
        let scroll = self.scroll_mut();
        *scroll = scroll.saturating_add_signed(lines);
    }

    fn page(&self) -> isize {
        isize::try_from(self.room.saturating_sub(1).max(1)).unwrap_or(1)
    }

    fn turn(&mut self, by: i32) {
        let Some(update) = &self.update else { return };
        let (current, rounds) = (update.status.current_round, update.status.total_rounds);
        if self.pane != Pane::Matches || rounds == 0 {
            return;
        }
        let to = self.round.unwrap_or(current).max(1).saturating_add_signed(by).clamp(1, rounds);
        self.turn_to((to != current).then_some(to));
    }

    fn turn_to(&mut self, round: Option<u32>) {
        if self.round != round {
            self.round = round;
            let [_, matches, _] = &mut self.scroll;
            *matches = 0;
        }
    }
}
