//! One number decides a whole run: the same seed gives the same trace, byte for byte.

use matchday_sim::Options;

#[test]
fn the_same_seed_gives_the_same_trace() {
    let options = Options {
        keep_trace: true,
        ..Options::default()
    };
    for seed in 0..40 {
        let first = matchday_sim::run(seed, &options);
        let second = matchday_sim::run(seed, &options);
        assert_eq!(first.trace, second.trace, "seed {seed}");
        assert_eq!(first.trace_hash, second.trace_hash, "seed {seed}");
    }
}

#[test]
fn different_seeds_give_different_traces() {
    let hashes: std::collections::BTreeSet<_> = (0..40)
        .map(|seed| matchday_sim::run(seed, &Options::default()).trace_hash)
        .collect();
    assert_eq!(hashes.len(), 40);
}

#[test]
fn keeping_the_trace_changes_nothing() {
    let kept = matchday_sim::run(
        7,
        &Options {
            keep_trace: true,
            ..Options::default()
        },
    );
    let not_kept = matchday_sim::run(7, &Options::default());
    assert_eq!(kept.trace_hash, not_kept.trace_hash);
    assert!(!kept.trace.is_empty() && not_kept.trace.is_empty());
}
