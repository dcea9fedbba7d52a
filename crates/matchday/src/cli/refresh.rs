//! The display of `--watch`: on a terminal a frame takes the place of the one before; elsewhere it is printed if it is another.

use super::notice;
use matchday_terminal::screen::{Screen, Size};
use matchday_terminal::{draw, say};

#[derive(Debug)]
pub(super) struct Refresh {
    /// On a terminal, unless lines of data are asked for, which are for a program to read.
    screen: Option<Screen>,
    last: String,
    error: Option<String>,
}

impl Refresh {
    pub(super) fn new(data: bool) -> Self {
        let screen = (!data && Size::of_terminal().is_some()).then(Screen::default);
        Self { screen, last: String::new(), error: None }
    }

    pub(super) fn show(&mut self, frame: String) {
        let back = self.error.take().is_some();
        let is_news = frame != self.last;
        self.last = frame;
        if self.screen.is_some() {
            self.draw();
            return;
        }
        if back {
            notice("the manager answers again");
        }
        if is_news {
            say(&self.last);
        }
    }

    /// Says what keeps the next frame from coming: below the last one, or once.
    pub(super) fn show_error(&mut self, why: String) {
        let is_news = self.error.as_ref() != Some(&why);
        self.error = Some(why);
        if self.screen.is_some() {
            self.draw();
        } else if let (true, Some(why)) = (is_news, &self.error) {
            notice(&format!("{why} - waiting for it"));
        }
    }

    /// Takes away what the terminal has written for Ctrl-C. The last frame stays.
    pub(super) fn interrupted(&mut self) {
        if self.screen.is_some() {
            draw("\r\x1b[K");
        }
    }

    fn draw(&mut self) {
        let (Some(screen), Some(size)) = (&mut self.screen, Size::of_terminal()) else { return };
        let mut lines: Vec<String> = self.last.lines().map(str::to_owned).collect();
        if let Some(why) = &self.error {
            // What is said last must be seen, however long the frame is.
            lines.truncate(size.rows.saturating_sub(4));
            lines.push(String::new());
            lines.extend(["this is how it was; waiting for the manager:".to_owned(), why.clone()]);
        }
        draw(&screen.draw(&lines, size));
    }
}
