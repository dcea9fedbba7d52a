//! Moves leagues between the service and files of their own, with their chains as they are.

use super::changes::check_id;
use super::quota::Usage;
use super::registry::ServiceEvent;
use super::slot::SlotState;
use super::{Service, ServiceError, lock};
use crate::league::{BUILT_IN_STREAM, LeaguePlan, built_in_name};
use anyhow::{Context, Result, anyhow, bail};
use matchday_audit::league_log::LeagueLog;
use matchday_audit::transfer;
use matchday_core::entropy::Entropy;
use matchday_core::event_codec;
use matchday_core::league::{Invitation, League, LeagueEvent, LossCause};
use matchday_core::protocol::messages::{AgentRole, Culprit, Phase, RefereeMeta};
use matchday_core::protocol::{LeagueId, RefereeId, Sender, Timestamp, Token};
use matchday_runtime::entropy_from_system;
use matchday_store::{LeagueChoice, Location, StoreError, StoreUrl};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl Service {
    /// Writes a league into a file beside the store, and removes it once that has been verified.
    pub(super) async fn archive(&self, id: &LeagueId) -> Result<PathBuf, ServiceError> {
        let (registered, mut state) = self.held(id).await?;
        self.refuse_current(id)?;
        let number = registered.number;
        if state.unload().await {
            // If it cannot be archived, it goes on.
            lock(&self.wake_times).insert(number, Timestamp::EPOCH);
        }
        let folder = self.archive_folder();
        let to = folder.join(format!("{id}.db"));
        let location = self.location(number);
        let file = to.clone();
        let written = tokio::task::spawn_blocking(move || -> Result<()> {
            std::fs::create_dir_all(&folder)
                .with_context(|| format!("{} cannot be made", folder.display()))?;
            let is_over = is_over(&location)?;
            let found = transfer::archive(&location, &to, |stream| {
                // Whoever reads the file could act in their name, and foresee draws.
                is_over || !stream.0.starts_with(BUILT_IN_STREAM)
            })?;
            match found.fault {
                None => Ok(()),
                // The file stays: it shows the fault to `matchday verify`.
                Some(fault) => bail!(
                    "{} does not verify, and the league stays: {fault}",
                    to.display()
                ),
            }
        });
        written
            .await
            .map_err(|error| anyhow!(error))?
            .map_err(|error| match error.downcast_ref::<StoreError>() {
                Some(StoreError::Exists(file)) => ServiceError::Conflict(format!(
                    "{} exists already: move it away before you archive the league",
                    file.display()
                )),
                _ => ServiceError::Failed(error),
            })?;
        let event = ServiceEvent::LeagueArchived {
            number,
            file: file.display().to_string(),
        };
        self.record(&[event]).await?;
        *state = SlotState::Removed;
        self.remove_rows(number, registered.plan.seats.is_some())
            .await?;
        Ok(file)
    }

    pub(super) fn archive_folder(&self) -> PathBuf {
        let base = self.store.url().file_base().unwrap_or_default();
        let folder = base.with_extension("archive");
        // Whoever is told of a file in it works in another directory.
        std::path::absolute(&folder).unwrap_or(folder)
    }

    /// Takes a league out of a file of this machine into the service, with its chains as they are.
    pub(super) async fn import(
        &self,
        file: PathBuf,
        id: Option<LeagueId>,
    ) -> Result<LeagueId, ServiceError> {
        let _alone = self.changing.lock().await;
        let invalid = |error: StoreError| ServiceError::Invalid(error.to_string());
        let (location, choice) = (
            StoreUrl::from(&file),
            id.map_or(LeagueChoice::Latest, LeagueChoice::Named),
        );
        let read = tokio::task::spawn_blocking(move || {
            let reader = Location {
                store: location,
                league: choice,
            }
            .open()?;
            Ok((LeagueLog::load(&reader)?, reader.league_number()))
        });
        let (log, source) = read
            .await
            .map_err(|error| anyhow!(error))?
            .map_err(invalid)?;
        let mut entropy = entropy_from_system().map_err(anyhow::Error::from)?;
        let mut plan = plan_of(&log);
        let (secrets, renewals) = built_in_again(&log.league, &mut entropy);
        if !secrets.is_empty() {
            plan.built_in_codes = secrets;
        }
        let id = plan.league.league_id.clone();
        check_id(id.as_str()).map_err(ServiceError::Invalid)?;
        let number = {
            let registry = lock(&self.registry);
            if registry.get(&id).is_some() {
                return Err(ServiceError::Conflict(format!(
                    "the league id {id} is taken: archive that league first"
                )));
            }
            let mut usage = Usage::default();
            registry
                .leagues()
                .for_each(|(_, league)| usage.add(&league.plan));
            self.settings
                .quota
                .check(&plan, usage)
                .map_err(ServiceError::Conflict)?;
            registry.next_number(self.number_in_store()?)
        };
        let store = self.store.in_league(number);
        let to = store.clone();
        let last_at = log
            .entries
            .last()
            .map_or(Timestamp::EPOCH, |entry| entry.at);
        let at = self.settings.host.now().max(last_at);
        let lines: Result<Vec<String>, _> = renewals
            .iter()
            .map(|event| event_codec::encode(at, event))
            .collect();
        let lines = lines.map_err(anyhow::Error::from)?;
        let copied = tokio::task::spawn_blocking(move || {
            let reader = Location {
                store: file.into(),
                league: LeagueChoice::Number(source),
            }
            .open()?;
            transfer::copy_league(&reader, &to)?;
            if !lines.is_empty() {
                transfer::append(&to, at, &reader.league(), lines)?;
            }
            Ok(())
        });
        if let Err(error) = copied.await.map_err(|error| anyhow!(error))? {
            store.remove_league().await.map_err(anyhow::Error::from)?;
            return Err(invalid(error));
        }
        store.set_wake_at(Some(Timestamp::EPOCH));
        if let Some(cluster) = &self.cluster {
            cluster.mark_created(number);
        }
        self.record(&[ServiceEvent::LeagueCreated {
            number,
            plan: Box::new(plan),
        }])
        .await?;
        lock(&self.wake_times).insert(number, Timestamp::EPOCH);
        Ok(id)
    }
}

/// Whether a league is over; one without events is not.
fn is_over(location: &Location) -> Result<bool, StoreError> {
    match LeagueLog::load(&location.open()?) {
        Err(StoreError::NoLeague(_)) => Ok(false),
        log => Ok(log?.league.phase == Phase::Completed),
    }
}

/// New tokens and join codes for the built-in referees, and the events by which the league knows them: an archive leaves out
/// what they had, and others may have read it. They do not know of the matches that they were at, which are assigned again.
fn built_in_again(
    league: &League,
    entropy: &mut Entropy,
) -> (Vec<Option<String>>, Vec<LeagueEvent>) {
    let mut secrets = Vec::new();
    let mut events = Vec::new();
    if league.phase == Phase::Completed || league.settings.external_game.is_some() {
        return (secrets, events);
    }
    for name in (1..).map(built_in_name) {
        let is_it = |referee: &RefereeMeta| referee.display_name.raw() == name;
        let place = league
            .roster
            .iter()
            .map(|place| &place.invitation)
            .find(|invitation| {
                invitation.role == AgentRole::Referee
                    && invitation
                        .name
                        .as_ref()
                        .is_some_and(|known| known.raw() == name)
            });
        if let Some((id, _)) = league
            .referees
            .iter()
            .find(|(_, referee)| is_it(&referee.meta))
        {
            let token = Token::issue(id.as_str(), entropy);
            events.extend(lost_attempts(league, id));
            events.push(LeagueEvent::TokenRotated {
                agent: Sender::Referee(id.clone()),
                token: token.hash(),
            });
            secrets.push(Some(token.reveal().to_owned()));
        } else if let Some(invitation) = place {
            let code = Token::new_join_code(entropy);
            let invitation = Invitation {
                code: code.hash(),
                ..invitation.clone()
            };
            events.push(LeagueEvent::JoinCodeIssued { invitation });
            secrets.push(Some(code.reveal().to_owned()));
        } else {
            break;
        }
    }
    (secrets, events)
}

fn lost_attempts<'a>(
    league: &'a League,
    id: &'a RefereeId,
) -> impl Iterator<Item = LeagueEvent> + 'a {
    let held = league
        .awaited()
        .filter(move |(_, game)| game.in_play && game.referee() == Some(id));
    held.filter_map(move |(match_id, game)| {
        Some(LeagueEvent::AttemptLost {
            match_id: match_id.clone(),
            attempt: game.attempt()?,
            referee_id: id.clone(),
            culprit: Culprit::Referee,
            reason: "the league was archived meanwhile, without the log of its referee".into(),
            cause: LossCause::Revoked,
        })
    })
}

/// What an imported league is played with.
fn plan_of(log: &LeagueLog) -> LeaguePlan {
    let league = &log.league;
    let mut settings = league.settings.clone();
    let rotated = log
        .entries
        .iter()
        .rev()
        .find_map(|entry| match &entry.event {
            LeagueEvent::OperatorTokenRotated { token } => Some(*token),
            _ => None,
        });
    settings.operator_token = rotated.or(settings.operator_token);
    let is_open_to_referees = !league
        .roster
        .iter()
        .any(|place| place.invitation.role == AgentRole::Referee);
    let has_built_in =
        is_open_to_referees && league.phase != Phase::Completed && settings.external_game.is_none();
    LeaguePlan {
        league: settings,
        given: BTreeMap::new(),
        start_when: None,
        built_in_codes: if has_built_in { vec![None] } else { Vec::new() },
        seats: None,
        dashboard: true,
        exchanges: true,
        exchanges_bytes_max: 1 << 30,
        program: None,
    }
}
