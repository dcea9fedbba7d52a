//! DrawnRound lots: chance that anyone can draw again from the seed in the log. Pure arithmetic.

use crate::protocol::PlayerId;
use sha2::{Digest, Sha256};

/// The lot of a player for some purpose; the greater is ahead. It is the first 63 bits of the SHA-256 of the seed (eight
/// bytes, the highest first), the purpose, a zero byte, and the player's id.
pub fn of_player(seed: u64, purpose: &str, player: &PlayerId) -> i64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(purpose.as_bytes());
    hash.update([0]);
    hash.update(player.as_str().as_bytes());
    let digest = hash.finalize();
    let first = digest
        .iter()
        .take(8)
        .fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    i64::try_from(first >> 1).unwrap_or(i64::MAX)
}

/// Whether the first of two players who are level has the better lot.
pub(super) fn favour_first(seed: u64, stage: u32, first: &PlayerId, second: &PlayerId) -> bool {
    let purpose = format!("tie of stage {stage}");
    let lot = |player| (of_player(seed, &purpose, player), player);
    lot(first) > lot(second)
}
