//! Where an agent's entropy comes from: the system, or a number when a run is to be repeated.

use matchday_core::entropy::Entropy;
use sha2::{Digest, Sha256};

#[derive(Debug, thiserror::Error)]
#[error("the system gives no random numbers: {0}")]
pub struct NoEntropy(getrandom::Error);

pub fn entropy_from_system() -> Result<Entropy, NoEntropy> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(NoEntropy)?;
    Ok(Entropy::from_seed(seed))
}

/// The same for the same number and agent, and different for any other. Tokens made of it can be guessed from
/// the number.
pub fn entropy_numbered(number: u64, agent: &str) -> Entropy {
    let seed = Sha256::new()
        .chain_update(number.to_le_bytes())
        .chain_update(agent)
        .finalize();
    Entropy::from_seed(seed.into())
}
