//! What is being looked at, and what keys and news make of it. Pure.

use super::{Messages, News, Wanted};

#[derive(Debug, Default)]
pub(crate) struct App {
    pub(super) pane: Pane,
    /// The round that is looked at; none to go along with the league.
    pub(super) round: Option<u32>,
    /// How many lines of each pane are above the screen.
    scroll: [usize; 3],
    pub(super) help: bool,
    pub(super) news: Option<News>,
    /// What keeps news from coming.
    pub(super) trouble: Option<String>,
    /// How many lines the last frame had room for.
    room: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Pane {
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

/// What somebody wants, whichever key it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
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
    /// Goes along with the league again.
    CurrentRound,
    Help,
    /// Leaves the help, or else the program.
    Back,
    Quit,
}

/// What comes of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    GoOn,
    Quit,
}

impl App {
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { round: self.round, messages: self.pane == Pane::Messages }
    }

    /// Takes in what the manager has answered, or why it has not.
    /// Whether the manager has ever told how the league stands.
    pub(crate) fn has_news(&self) -> bool {
        self.news.is_some()
    }

    pub(crate) fn take(&mut self, news: Result<News, String>) {
        match news {
            Ok(mut news) => {
                // Messages that were not asked for again are still the last ones known.
                if let (Messages::NotAsked, Some(last)) = (&news.messages, self.news.take()) {
                    news.messages = last.messages;
                }
                self.news = Some(news);
                self.trouble = None;
            }
            Err(why) => self.trouble = Some(why),
        }
    }

    pub(crate) fn press(&mut self, key: Key) -> Then {
        match key {
            Key::Quit => return Then::Quit,
            Key::Back if !self.help => return Then::Quit,
            Key::Back => self.help = false,
            Key::Help => self.help = !self.help,
            // Any other key is about what the help hides.
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
            Key::CurrentRound => self.turn_to(None),
        }
        Then::GoOn
    }

    /// Lines to be left out above, now that it is known how many there are and how many there is room for.
    pub(super) fn scrolled(&mut self, lines: usize, room: usize) -> usize {
        self.room = room;
        let most = lines.saturating_sub(room);
        let scroll = self.scroll_mut();
        *scroll = (*scroll).min(most);
        *scroll
    }

    /// The round that is shown: the one that was chosen, or the one that is being played.
    pub(super) fn round_shown(&self) -> u32 {
        self.round.unwrap_or_else(|| self.news.as_ref().map_or(0, |news| news.status.current_round))
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
        let Some(news) = &self.news else { return };
        let (current, rounds) = (news.status.current_round, news.status.total_rounds);
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
