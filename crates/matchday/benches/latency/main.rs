//! How long an answer takes over real HTTP, with the real store on a temporary file, all in this process.
//!
//! `cargo bench -p matchday --bench latency` prints what the manager and a referee add to a bare exchange of the same
//! bytes when they are idle. How they do under load is for `matchday-bench` to tell.
//! Nothing is asserted: the figures depend on the machine and on what else it does.
//!
//! - `ground`: a league on free ports; `floor`: the bare exchange; `players`: players that note when they were asked
//! - `idle`: what is measured; `figures`: how it is shown

mod figures;
mod floor;
mod ground;
mod idle;
mod players;

use anyhow::Result;

fn main() -> Result<()> {
    // `cargo test --benches` runs this too, and wants to know only whether it builds.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("not measured: run it with `cargo bench -p matchday --bench latency`");
        return Ok(());
    }
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(async {
            idle::questions().await?;
            idle::matches().await
        })
}
