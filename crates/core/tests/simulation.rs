//! Whole leagues in hostile worlds. A failing seed can be watched:
//! `cargo run --release -p matchday-core --example soak -- --seed N --trace`.

use matchday_core::sim::{self, Options};

fn all_hold(seeds: std::ops::Range<u64>) {
    let failures: Vec<_> = seeds
        .filter_map(|seed| {
            sim::run(seed, &Options::default()).failure.map(|failure| format!("seed {seed}: {failure}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

macro_rules! slices {
    ($($name:ident $from:literal;)*) => {$(
        #[test]
        fn $name() {
            all_hold($from..$from + 250);
        }
    )*};
}

slices! {
    seeds_from_0 0;
    seeds_from_250 250;
    seeds_from_500 500;
    seeds_from_750 750;
    seeds_from_1000 1000;
    seeds_from_1250 1250;
    seeds_from_1500 1500;
    seeds_from_1750 1750;
    seeds_from_2000 2000;
    seeds_from_2250 2250;
    seeds_from_2500 2500;
    seeds_from_2750 2750;
}
