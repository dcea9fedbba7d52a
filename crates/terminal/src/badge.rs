//! The colour and the mark by which a player is known: as on the page. Pure.

use super::Colour;
use matchday_audit::design::{self, HUES};

/// The palette of the page, as near as terminals of 256 colours come to it.
pub(crate) const COLOURS: [u8; HUES] = [33, 208, 36, 170, 105, 178, 38, 137];

/// `●`, and the player's colour.
pub fn badge(player_id: &str) -> (&'static str, Colour) {
    let badge = design::badge(player_id);
    let colour = COLOURS.get(badge.hue).copied();
    (badge.mark, Colour::Of256(colour.unwrap_or_default()))
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
