//! `matchday-bench --service`, as small as it goes: what it prints, never how fast it was.

use matchday_testkit::cli::Cli;

#[test]
fn a_short_bench_of_a_service_measures_everything_it_promises() {
    let cli = Cli::new(crate::BENCH);
    let done = cli.run(&["--service", "--quick", "--json"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    let found = done.json();
    for figure in [
        "/at_rest/restart_ms",
        "/at_rest/memory_bytes",
        "/at_once/matches_per_s",
        "/at_once/one_matches_per_s",
        "/at_once/large_matches_per_s",
        "/flood/answered_per_s",
        "/flood/calm_p99_ms",
        "/flood/beside_p99_ms",
        "/flood/elsewhere_p99_ms",
    ] {
        assert!(
            found.pointer(figure).unwrap().as_f64().unwrap() > 0.0,
            "{figure}: {found}"
        );
    }
    assert!(
        found["at_rest"]["idle_cpu_percent"].as_f64().unwrap() >= 0.0,
        "{found}"
    );
    assert_eq!(found["at_once"]["technical_losses"], 0, "{found}");
    assert_eq!(found["targets"].as_array().unwrap().len(), 5, "{found}");
    assert_eq!(
        std::fs::read_dir(cli.path()).unwrap().count(),
        0,
        "nothing is left behind"
    );
    let both = cli.run(&["--service", "--runs", "3"]);
    assert!(
        both.code == 2 && both.err.contains("cannot be used with"),
        "{both:?}"
    );
}
