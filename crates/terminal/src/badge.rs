//! The colour and the mark by which a player is known: the same on the page, in `parts.js`. Pure.

use super::Colour;

const MARKS: [&str; 4] = ["●", "■", "▲", "◆"];
/// The palette of the page, as near as terminals of 256 colours come to it.
pub(crate) const COLOURS: [u8; 8] = [33, 208, 36, 170, 105, 178, 38, 137];

/// `●`, and the player's colour. Whoever is not numbered has those of the first.
pub fn badge(player_id: &str) -> (&'static str, Colour) {
    let digits: String = player_id.chars().filter(char::is_ascii_digit).collect();
    let place = digits.parse::<usize>().unwrap_or(1).saturating_sub(1);
    let colour = COLOURS.get(place % COLOURS.len()).copied();
    let mark = MARKS.get(place / COLOURS.len() % MARKS.len());
    (
        mark.copied().unwrap_or_default(),
        Colour::Of256(colour.unwrap_or_default()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_have_other_colours_and_a_mark_comes_back_with_another_colour_alone() {
        assert_eq!(badge("P01"), ("●", Colour::Of256(33)));
        assert_eq!(badge("P02").1, Colour::Of256(208));
        assert_eq!(badge("P09"), ("■", Colour::Of256(33)));
        assert_eq!(badge("P33"), badge("P01"));
        assert_eq!(badge("visitor"), badge("P01"));
    }
}
