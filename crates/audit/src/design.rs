//! The one language of design: what the dashboard, the pages of a service and the report share.

/// Type, space and colour, by day and by night, as custom properties.
pub const TOKENS: &str = include_str!("../templates/tokens.css");

/// What pages are made of: head, buttons, cards, pills, names, tables, boards.
pub const COMPONENTS: &str = include_str!("../templates/components.css");

/// The sign of Matchday.
pub const ICON: &str = include_str!("../templates/icon.svg");

const MARKS: [&str; 4] = ["●", "■", "▲", "◆"];
/// How many colours there are for players, `--s0` and so on.
pub const HUES: usize = 8;

/// The colour and the mark by which a player is known: the same on pages (`parts.js`), in reports and in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Badge {
    /// The number of the colour.
    pub hue: usize,
    pub mark: &'static str,
}

/// Whoever is not numbered has the badge of the first.
pub fn badge(player_id: &str) -> Badge {
    let digits: String = player_id.chars().filter(char::is_ascii_digit).collect();
    let place = digits.parse::<usize>().unwrap_or(1).saturating_sub(1);
    let mark = MARKS.get(place / HUES % MARKS.len());
    Badge {
        hue: place % HUES,
        mark: mark.copied().unwrap_or_default(),
    }
}
