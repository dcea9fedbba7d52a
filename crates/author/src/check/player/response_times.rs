//! Measures response times over many matches, and compares them with the timeouts of a league.

use super::rules;
use super::suite::Suite;
use crate::check::exchange::format_duration;
use crate::check::rule::Rule;
use matchday_stats::quantile::quantile;
use std::time::Duration;
use tokio::time::Instant;

const MATCHES: usize = 20;
const TIME_MAX: Duration = Duration::from_secs(8);

impl Suite {
    pub(super) async fn measure(&mut self) {
        let began = Instant::now();
        for _ in 0..MATCHES {
            if began.elapsed() > TIME_MAX || !self.joined || !self.chose {
                break;
            }
            let fixture = self.announce().await;
            if !self.invite(&fixture).await {
                break;
            }
            let Some(first) = self.ask(&fixture).await else {
                break;
            };
            // Repeated at once, to catch a player that answers at random and was consistent by luck so far.
            let message = self.league.question(self.probe.clock.now(), &fixture);
            let reply = self
                .send_question(&message, &fixture, self.timing.choice)
                .await;
            let again = self.without_recording(|suite| suite.check_choice(&reply, &fixture));
            self.check_repeat(&first, again.as_ref(), &reply);
            self.end_match(&fixture, Some(&first)).await;
        }
        let joins = std::mem::take(&mut self.joins);
        let choices = std::mem::take(&mut self.choices);
        self.check_times(&rules::JOIN_TIMES, joins, self.timing.join);
        self.check_times(&rules::CHOICE_TIMES, choices, self.timing.choice);
    }

    fn check_times(&mut self, rule: &'static Rule, times: Vec<Duration>, window: Duration) {
        let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        let [p50, p99] =
            [0.5, 0.99].map(|share| quantile(&seconds, share).map(Duration::from_secs_f64));
        let (Some(p50), Some(p99)) = (p50, p99) else {
            return self
                .findings
                .skip(rule, "no right answer came whose time could be taken");
        };
        let note = format!(
            "p50 {}, p99 {} of {} answers; the window is {}",
            format_duration(p50),
            format_duration(p99),
            times.len(),
            format_duration(window)
        );
        if p99 * 2 < window {
            self.findings.pass(rule, note);
        } else {
            self.findings.warn_unseen(rule, note);
        }
    }
}
