//! `matchday-bench --relay`, as small as it goes: what it prints, never how fast it was.

use matchday_testkit::cli::Cli;

#[test]
fn a_short_bench_of_the_relay_measures_everything_it_promises() {
    let cli = Cli::new(crate::BENCH);
    let done = cli.run(&["--relay", "--quick", "--json"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    let found = done.json();
    for figure in [
        "/calls/direct/p99_ms",
        "/calls/relayed/p99_ms",
        "/idle/memory_bytes",
        "/reconnect/most_s",
        "/league/direct_matches_per_s",
        "/league/relayed_matches_per_s",
    ] {
        assert!(
            found.pointer(figure).unwrap().as_f64().unwrap() > 0.0,
            "{figure}: {found}"
        );
    }
    assert_eq!(found["idle"]["streams"], 50, "all stay open: {found}");
    assert_eq!(found["league"]["technical_losses"], 0, "{found}");
    assert_eq!(found["targets"].as_array().unwrap().len(), 6, "{found}");
    assert_eq!(
        std::fs::read_dir(cli.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
}
