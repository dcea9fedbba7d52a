//! Told to stop, every agent ends soon and in good order.

use matchday_testkit::cli::Cli;
use std::time::{Duration, Instant};

#[test]
fn sigterm_and_ctrl_c_end_every_agent_quickly_with_zero() {
    let cli = Cli::new(crate::MATCHDAY);
    let manager = cli.manager(&[]);
    let mut running = cli.agents(1, 1);
    running.push(manager);
    running.push(cli.start(&[
        "player",
        "--listen",
        "127.0.0.1:0",
        "--manager",
        "http://127.0.0.1:1/mcp",
    ]));
    running[3].until("cannot register");
    for (agent, signal) in running.iter_mut().zip(["TERM", "INT", "TERM", "INT"]) {
        let began = Instant::now();
        agent.signal(signal);
        let status = agent.wait();
        assert!(status.success(), "{signal}: {status} {}", agent.err());
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "{signal}: {:?}",
            began.elapsed()
        );
        agent.until("stopped cleanly");
    }
}
