//! What a client of the relay tells its user: whether it is connected, how many calls there were, the slowest answer, the last
//! error. One live line on a terminal, a line for each change elsewhere.

use matchday_core::protocol::Untrusted;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Connected,
    Polling,
    Disconnected(String),
    Answered(Duration),
    CallFailed(String),
    Trouble(String),
}

#[derive(Debug, Clone, Default)]
struct State {
    connected: bool,
    polling: bool,
    calls: u64,
    slowest: Duration,
    last_error: Option<String>,
}

type Tell = Box<dyn Fn(&Change, &str) + Send + Sync>;

/// Shared by all that report changes.
#[derive(Clone)]
pub struct Status(Arc<(Mutex<State>, Tell)>);

impl Status {
    /// `tell` hears of every change, with the live line as it is then.
    pub fn new(tell: impl Fn(&Change, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new((Mutex::default(), Box::new(tell))))
    }

    /// Every change is a line of its own, but for calls that were answered.
    pub fn notices(notice: fn(&str)) -> Self {
        Self::new(move |change, _| match change {
            Change::Answered(_) => {}
            change => notice(&change.to_string()),
        })
    }

    pub fn tell(&self, change: Change) {
        let (state, tell) = &*self.0;
        let line = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            state.apply(&change);
            state.line()
        };
        tell(&change, &line);
    }
}

impl std::fmt::Debug for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Status")
    }
}

impl State {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Connected => self.connected = true,
            Change::Polling => (self.connected, self.polling) = (true, true),
            Change::Disconnected(why) => {
                (self.connected, self.last_error) = (false, Some(why.clone()));
            }
            Change::Answered(took) => {
                self.calls += 1;
                self.slowest = self.slowest.max(*took);
            }
            Change::CallFailed(why) => {
                self.calls += 1;
                self.last_error = Some(why.clone());
            }
            Change::Trouble(why) => self.last_error = Some(why.clone()),
        }
    }

    fn line(&self) -> String {
        let connected = match (self.connected, self.polling) {
            (true, false) => "connected",
            (true, true) => "connected, polling",
            (false, _) => "not connected",
        };
        let calls = if self.calls == 1 {
            "1 call".to_owned()
        } else {
            format!("{} calls", self.calls)
        };
        let error = self.last_error.as_ref();
        let error = error
            .map(|why| format!(" · last error: {}", Untrusted::new(why).escaped()))
            .unwrap_or_default();
        format!(
            "{connected} · {calls} · slowest answer {:.1} ms{error}",
            self.slowest.as_secs_f64() * 1000.0
        )
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escaped = |text: &str| Untrusted::new(text).escaped().to_string();
        match self {
            Self::Connected => f.write_str("connected to the league"),
            Self::Polling => f.write_str(
                "connected to the league by polling: a proxy in between holds the stream back",
            ),
            Self::Disconnected(why) => write!(f, "not connected: {} - trying again", escaped(why)),
            Self::Answered(took) => write!(
                f,
                "answered a call in {:.1} ms",
                took.as_secs_f64() * 1000.0
            ),
            Self::CallFailed(why) => write!(f, "a call was not answered: {}", escaped(why)),
            Self::Trouble(why) => f.write_str(&escaped(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_live_line_tells_what_a_user_needs() {
        let mut state = State::default();
        let mut lines = vec![state.line()];
        for change in [
            Change::Connected,
            Change::Answered(Duration::from_millis(12)),
            Change::CallFailed("the agent is not listening\x1b[2J".to_owned()),
            Change::Disconnected("the stream was cut".to_owned()),
            Change::Polling,
        ] {
            state.apply(&change);
            lines.push(format!("{}   [{change}]", state.line()));
        }
        insta::assert_snapshot!(lines.join("\n"));
    }
}
