//! The faults of a run: their frequency, severity and end. All drawn from the seed.

use matchday_core::entropy::Entropy;
use std::time::Duration;

/// The intensities. All zero is a sound network between computers that never fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    /// Every message takes some time in this range, in microseconds.
    pub latency_us: (u64, u64),
    /// A message in so many hundred takes up to `spike_us_max` longer.
    pub spike_percent: u64,
    /// In microseconds.
    pub spike_us_max: u64,
    /// A request or an answer is lost on its way.
    pub loss_percent: u64,
    /// A request arrives twice.
    pub duplicate_percent: u64,
    /// A connection is refused.
    pub refuse_percent: u64,
    /// How many in a hundred requests that are on their way when their target is restarted reach it all the same, as
    /// they may through a proxy. The others find the connection broken.
    pub stale_percent: u64,
    /// How often some hosts cannot reach the others for a while.
    pub partitions: u64,
    /// How often a host crashes at some time, and starts again.
    pub crashes: u64,
    /// In how many of ten thousand steps a host crashes right after the step, before it has reached the disk.
    pub crashes_per_10k_steps: u64,
    /// How long a partition or an outage lasts at most.
    pub outage_us_max: u64,
    /// How long the disk takes at most.
    pub disk_us_max: u64,
    /// By how much a host's clock is wrong at most, for ever.
    pub clock_error_us_max: u64,
    /// How many in a hundred players misbehave, for ever.
    pub bad_player_percent: u64,
    /// A call of the manager or of a referee fails on its own machine, which says nothing about whom it called.
    pub our_fault_percent: u64,
    /// So many referees find no way to any player.
    pub cut_off: u64,
    /// How many in a hundred seconds someone asks or forges something.
    pub meddling_percent: u64,
    /// When all of this ends, except the players that misbehave.
    pub heal_after: Duration,
}

impl Faults {
    /// A sound network, sound disks, sound players.
    pub const NONE: Self = Self {
        latency_us: (200, 2_000),
        spike_percent: 0,
        spike_us_max: 0,
        loss_percent: 0,
        duplicate_percent: 0,
        refuse_percent: 0,
        stale_percent: 0,
        partitions: 0,
        crashes: 0,
        crashes_per_10k_steps: 0,
        outage_us_max: 0,
        disk_us_max: 5_000,
        clock_error_us_max: 0,
        bad_player_percent: 0,
        our_fault_percent: 0,
        cut_off: 0,
        meddling_percent: 0,
        heal_after: Duration::ZERO,
    };

    /// Some of everything, much of it or none, as the seed has it.
    pub fn drawn(chance: &mut Entropy) -> Self {
        // Half of the kinds of fault are absent from any one run, so that each is also seen without the others.
        let mut some = |most: u64| {
            if chance.chance(50) {
                0
            } else {
                1 + chance.below(most)
            }
        };
        let (spike_percent, loss_percent, duplicate_percent, refuse_percent) =
            (some(10), some(30), some(25), some(15));
        let partitions = some(4);
        let crashes = some(8);
        let crashes_per_10k_steps = some(200);
        let clock_error_us_max = some(3_000_000);
        let bad_player_percent = some(60);
        let meddling_percent = some(90);
        // Short leagues need short troubles, long ones long: the scale is drawn, then the length.
        let scale_ms = *pick(chance, &[1_000, 4_000, 20_000, 60_000, 200_000]).unwrap_or(&1_000);
        let latency_ms_max = *pick(chance, &[1, 5, 50, 400]).unwrap_or(&1);
        let our_fault_percent = if chance.chance(70) {
            0
        } else {
            1 + chance.below(40)
        };
        let cut_off = if chance.chance(80) { 0 } else { 1 };
        Self {
            latency_us: (100, 100 + latency_ms_max * 1_000),
            spike_percent,
            spike_us_max: scale_ms * 500,
            loss_percent,
            duplicate_percent,
            refuse_percent,
            stale_percent: 1 + chance.below(100),
            partitions,
            crashes,
            crashes_per_10k_steps,
            outage_us_max: scale_ms * 700,
            disk_us_max: 5_000,
            clock_error_us_max,
            bad_player_percent,
            our_fault_percent,
            cut_off,
            meddling_percent,
            heal_after: Duration::from_millis(500 + scale_ms / 2 + chance.below(scale_ms)),
        }
    }

    /// Whether messages always arrive, and hosts always run. That a machine cannot send is no excuse for anyone to lose.
    pub fn is_sound(&self) -> bool {
        [
            self.spike_percent,
            self.loss_percent,
            self.duplicate_percent,
            self.refuse_percent,
            self.partitions,
            self.crashes,
            self.crashes_per_10k_steps,
        ]
        .into_iter()
        .all(|intensity| intensity == 0)
    }
}

/// One of several, all alike.
pub fn pick<'a, T>(chance: &mut Entropy, from: &'a [T]) -> Option<&'a T> {
    let index = usize::try_from(chance.below(from.len() as u64)).ok()?;
    from.get(index)
}
