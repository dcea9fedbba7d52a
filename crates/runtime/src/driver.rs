//! The task that owns an agent: I/O around the core's [`Driver`]. It hands in what arrives and polls at deadlines; the outbox
//! stores what comes of it. It never waits for the disk or for a peer.

use crate::Runnable;
use crate::call::Reach;
use crate::checkpoint_signer::CheckpointSigner;
use crate::context::{AgentInfo, Context};
use crate::inbox::{Arrived, ReplySlot};
use crate::log::{Header, emit, log_milestone};
use crate::outbox::{Outbox, Release};
use matchday_core::agent::{Input, RequestId};
use matchday_core::driver::{Arrival, Batch, Batches, Driver};
use matchday_core::protocol::Timestamp;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, watch};
use tracing::Level;

/// What the holder of the handle asks for.
pub(super) enum Control<A> {
    Inspect(Box<dyn FnOnce(&A) + Send>),
    Stop,
}

pub(super) struct DriverTask<A: Runnable> {
    pub(super) driver: Driver<A>,
    pub(super) outbox: Outbox,
    pub(super) context: Arc<Context>,
    pub(super) info: watch::Sender<AgentInfo>,
    /// Notified after each step.
    pub(super) steps: Arc<Notify>,
    /// Where the replies to open requests go.
    pub(super) reply_slots: HashMap<RequestId, ReplySlot>,
    pub(super) last_request: u64,
    /// If a key is kept for the agent.
    pub(super) signer: Option<CheckpointSigner>,
}

impl<A: Runnable> DriverTask<A> {
    /// Runs until it is told to stop, or can store no more: then with the reason.
    pub(super) async fn run(
        mut self,
        mut arrivals: UnboundedReceiver<Arrived>,
        mut control: UnboundedReceiver<Control<A>>,
        url: &str,
        wakes: bool,
    ) -> Result<(), String> {
        self.log("started", Level::INFO, || format!("listening on {url}"));
        let mut outcome = if wakes { self.wake() } else { Ok(()) };
        if outcome.is_ok() {
            outcome = self.work(&mut arrivals, &mut control).await;
        }
        if outcome.is_ok() {
            outcome = self.outbox.flush().await;
        }
        match &outcome {
            Ok(()) => self.log("stopped", Level::INFO, || "stopped cleanly".to_owned()),
            // Nothing is broken: the league goes on elsewhere.
            Err(why) if self.outbox.is_fenced() => {
                self.log("taken_over", Level::INFO, || format!("stopped: {why}"));
            }
            Err(why) => self.log("store_failed", Level::ERROR, || format!("stopped: {why}")),
        }
        outcome
    }

    async fn work(
        &mut self,
        arrivals: &mut UnboundedReceiver<Arrived>,
        control: &mut UnboundedReceiver<Control<A>>,
    ) -> Result<(), String> {
        // One timer for all deadlines, reset only if it would fire too late: deadlines move with every step, and most are
        // never reached. A poll too many now and then costs less.
        let mut timer = pin!(tokio::time::sleep(Duration::ZERO));
        loop {
            tokio::task::coop::consume_budget().await;
            let deadline = self
                .driver
                .deadline()
                .map(|at| self.context.clock.instant(at));
            if let Some(at) = deadline.filter(|at| *at < timer.deadline() || timer.is_elapsed()) {
                timer.as_mut().reset(at);
            }
            tokio::select! {
                biased;
                command = control.recv() => match command {
                    Some(Control::Inspect(look)) => look(self.driver.agent()),
                    Some(Control::Stop) | None => return Ok(()),
                },
                () = timer.as_mut(), if deadline.is_some() => {
                    let now = self.context.clock.now();
                    while let Ok(arrived) = arrivals.try_recv() {
                        self.take_in(now, arrived)?;
                    }
                    let batches = self.driver.poll(now);
                    self.carry_out(batches)?;
                }
                Some(arrived) = arrivals.recv() => self.take_in(self.context.clock.now(), arrived)?,
            }
        }
    }

    fn wake(&mut self) -> Result<(), String> {
        let batches = self.driver.wake(self.context.clock.now());
        self.carry_out(batches)
    }

    fn take_in(&mut self, now: Timestamp, arrived: Arrived) -> Result<(), String> {
        let arrival = match arrived {
            Arrived::StoreFailed(why) => return Err(why),
            Arrived::Input(at, input) => Arrival {
                at,
                input,
                from_colocated: false,
            },
            Arrived::Request {
                at,
                mut request,
                reply,
            } => {
                self.last_request += 1;
                request.id = RequestId(self.last_request);
                let from_colocated = reply.is_colocated();
                self.reply_slots.insert(request.id, reply);
                Arrival {
                    at,
                    input: Input::Request(request),
                    from_colocated,
                }
            }
        };
        let batches = self.driver.arrive(now, arrival);
        self.carry_out(batches)
    }

    /// Stores what has come of some steps, and then what is signed for the agent.
    fn carry_out(&mut self, batches: Batches<A>) -> Result<(), String> {
        let mut batches = batches.map_err(|error| error.to_string())?;
        while !batches.is_empty() {
            for batch in batches {
                self.append(batch);
            }
            let Some(signer) = &mut self.signer else {
                break;
            };
            let signed = self.driver.sign(|due, entropy| signer.sign(due, entropy));
            batches = signed.map_err(|error| error.to_string())?;
        }
        self.announce_info();
        self.steps.notify_waiters();
        Ok(())
    }

    fn append(&mut self, batch: Batch<A::Event>) {
        self.count(&batch);
        if let Some(signer) = &mut self.signer {
            signer.extend(&batch.lines);
        }
        let Batch {
            at,
            lines,
            durability,
            when_ordered,
            when_durable,
            ..
        } = batch;
        let when_ordered = Release::new(when_ordered, Reach::Colocated, &mut self.reply_slots);
        let when_durable = Release::new(when_durable, Reach::Anywhere, &mut self.reply_slots);
        self.outbox
            .append(at, lines, durability, when_ordered, when_durable);
    }

    fn count(&self, batch: &Batch<A::Event>) {
        let context = &self.context;
        let sender = || self.driver.agent().sender();
        for milestone in batch.events.iter().filter_map(A::milestone) {
            context.telemetry.milestone(batch.at, &milestone, sender);
            context.log(|| log_milestone(batch.at, &sender(), &milestone));
        }
    }

    /// An agent has another id once it is registered.
    fn announce_info(&mut self) {
        let info = AgentInfo::of(self.driver.agent());
        if *self.info.borrow() != info {
            self.log("registered", Level::INFO, || {
                format!("registered as {}", info.sender)
            });
            self.info.send_replace(info);
        }
    }

    fn log(&self, event_type: &'static str, level: Level, message: impl FnOnce() -> String) {
        self.context.log(|| {
            let sender = self.driver.agent().sender();
            let header = Header::new(self.context.clock.now(), &sender, event_type);
            emit!(level, header, "{}", message());
        });
    }
}
