//! A league flat out: how fast it is, and how long those wait who ask meanwhile.

use crate::figures::{Figures, alone, head};
use crate::ground::{Ground, query};
use anyhow::{Context, Result};
use matchday_core::protocol::messages::{GameStatus, Phase};
use std::time::{Duration, Instant};
use tokio::time::sleep;

const PLAYERS: usize = 50;
const REFEREES: usize = 10;
/// What `matchday run` gives each of ten referees for fifty players.
const MATCHES_EACH: u32 = 3;

pub(crate) async fn league() -> Result<()> {
    println!("\nFlat out: {PLAYERS} players, {REFEREES} referees, no lead, every event and exchange stored");
    play(false).await?;
    play(true).await
}

async fn play(asking: bool) -> Result<()> {
    let ground = Ground::new().await?;
    let (mut referees, mut players) = (Vec::new(), Vec::new());
    for number in 1..=REFEREES {
        referees.push(ground.referee(number, MATCHES_EACH).await?);
    }
    for number in 1..=PLAYERS {
        players.push(ground.player(number).await?);
    }
    ground.registered(PLAYERS, REFEREES).await?;
    let first = players.first().context("a player")?;
    // The manager knows of a player a moment before the player does.
    let identity = loop {
        match first.inspect(|player| player.identity().cloned()).await.context("P01 has stopped")? {
            Some(identity) => break identity,
            None => sleep(Duration::from_millis(1)).await,
        }
    };
    let token = identity.auth_token.context("a token")?;
    let questions = ["GET_STANDINGS", "GET_NEXT_MATCH"]
        .map(|kind| (kind, query(kind, identity.id.as_str(), token.reveal(), ground.clock)));
    ground.start().await?;
    let began = Instant::now();
    let mut figures = [Figures::default(), Figures::default()];
    if asking {
        while ground.manager.inspect(|manager| manager.league().phase).await != Some(Phase::Completed) {
            for ((_, question), figures) in questions.iter().zip(&mut figures) {
                let body = question.to_string().into();
                let began = Instant::now();
                ground.post(ground.manager.address(), body).await?;
                figures.add(began.elapsed());
            }
        }
    } else {
        ground.completed().await?;
    }
    told(&ground, began, asking).await?;
    if asking {
        head(
            "Asked by P01 all the while, one question at a time",
            ["tries", "p50", "p90", "p99", "p99.9", "max"],
        );
        for ((kind, question), figures) in questions.iter().zip(figures) {
            ground.ask(question).await?;
            alone(&format!("LEAGUE_QUERY {kind}"), figures);
        }
    }
    for player in players {
        player.shutdown().await?;
    }
    for referee in referees {
        referee.shutdown().await?;
    }
    ground.end().await.map(drop)
}

async fn told(ground: &Ground, began: Instant, asking: bool) -> Result<()> {
    let took = began.elapsed().as_secs_f64();
    let counts = ground.manager.inspect(|manager| {
        let matches = manager.league().matches.values();
        let technical = |game: &&matchday_core::league::fixture::Match| {
            game.decision.as_ref().is_some_and(|decision| decision.status == GameStatus::TechnicalLoss)
        };
        (matches.len(), matches.filter(technical).count())
    });
    let (matches, technical) = counts.await.context("the manager has stopped")?;
    let stats = ground.store.stats();
    println!(
        "  {}: {matches} matches in {took:.2} s, {:.0} a second; {technical} technical losses; {:.2} ms a commit, \
         {:.1} steps in each",
        if asking { "while asked  " } else { "left in peace" },
        matches as f64 / took,
        stats.commit_total.as_secs_f64() * 1000.0 / stats.commits.max(1) as f64,
        stats.batches_per_commit(),
    );
    Ok(())
}
