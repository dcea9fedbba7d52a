//! What the league announces: rounds with their matches, and what has ended.

use super::League;
use crate::league::fixture::Round;
use crate::protocol::ids::{
    Attempt, ConversationId, LeagueId, MatchId, PlayerId, RefereeId, RoundId,
};
use crate::protocol::messages::{
    AnnouncedMatch, Champion, FinalStanding, GameStatus, LeagueCompleted, LeagueStandingsUpdate,
    LeagueStatus, MATCH_TOKENS, RoundAnnouncement, RoundCompleted, RoundSummary, Shared,
    StandingRow,
};
use crate::protocol::{Timestamp, UntrustedText};
use std::collections::BTreeMap;

fn count(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}

impl League {
    fn league_id(&self) -> LeagueId {
        self.settings.league_id.clone()
    }

    /// A match as everyone's announcement shows it.
    pub(crate) fn announced(&self, match_id: &MatchId) -> Option<AnnouncedMatch> {
        let fixture = self.matches.get(match_id)?;
        let referee_id = fixture.planned.as_ref()?;
        let referee = self.referees.get(referee_id)?;
        let attempt = fixture.attempt().unwrap_or(Attempt::FIRST);
        Some(AnnouncedMatch {
            match_id: match_id.clone(),
            game_type: self.settings.game_type.clone(),
            player_a_id: fixture.a.clone(),
            player_b_id: fixture.b.clone(),
            referee_id: Some(referee_id.clone()),
            referee_endpoint: referee.meta.contact_endpoint.clone(),
            conversation_id: Some(ConversationId::of_match(match_id, attempt)),
            match_tokens: Some(referee.meta.has_capability(MATCH_TOKENS)),
            referee_public_key: referee.meta.public_key,
            replay: (fixture.voided_attempts > 0).then_some(true),
            briefing: None,
        })
    }

    /// What a referee is told of matches that it is not given.
    pub(crate) fn remark_to(&self, referee: &RefereeId) -> Option<UntrustedText> {
        let known = self.referees.get(referee)?;
        self.is_without_keyed_matches(known).then(|| {
            UntrustedText::new_static(
                "no match in which a player has a key is given to a referee that does not announce draw-2",
            )
        })
    }

    /// The announcement of the open round, with as much of each match as fits a message.
    pub(crate) fn open_announcement(&self) -> Option<RoundAnnouncement> {
        let round = self.open_round()?;
        let matches: Shared<_> = round
            .matches
            .iter()
            .filter_map(|id| self.announced(id))
            .collect();
        if matches.fits_message(1) {
            return Some(self.announcement(round.round_id, matches, round.starts_at));
        }
        let without_keys: Shared<_> = matches.iter().map(AnnouncedMatch::without_key).collect();
        if without_keys.fits_message(1) {
            return Some(self.announcement(round.round_id, without_keys, round.starts_at));
        }
        let matches = matches
            .iter()
            .map(AnnouncedMatch::without_additions)
            .collect();
        Some(self.announcement(round.round_id, matches, None))
    }

    pub(crate) fn announcement(
        &self,
        round_id: RoundId,
        matches: Shared<AnnouncedMatch>,
        starts_at: Option<Timestamp>,
    ) -> RoundAnnouncement {
        RoundAnnouncement {
            league_id: self.league_id(),
            round_id,
            matches,
            starts_at,
            remark: None,
        }
    }

    /// The players whose match is not assigned yet and who can be expected to acknowledge the announcement.
    pub(crate) fn players_to_notify(&self) -> BTreeMap<PlayerId, MatchId> {
        let listens = |id: &&PlayerId| {
            self.players
                .get(id)
                .is_some_and(|player| player.is_in() && !player.is_suspended())
        };
        let waiting = self.awaited().filter(|(id, _)| self.waiting.contains(*id));
        let players = waiting.flat_map(|(match_id, fixture)| {
            let both = [&fixture.a, &fixture.b].into_iter().filter(listens);
            both.map(|id| (id.clone(), match_id.clone()))
        });
        players.collect()
    }

    /// LEAGUE_STANDINGS_UPDATE after the current round.
    pub(crate) fn standings_update(&self) -> LeagueStandingsUpdate {
        let round_id = RoundId(self.current_round.max(1));
        LeagueStandingsUpdate {
            league_id: self.league_id(),
            round_id,
            standings: self.rows_to_send(),
        }
    }

    /// ROUND_COMPLETED, as far as it is known before its checkpoint.
    pub(crate) fn round_completed(&self, round_id: RoundId) -> Option<RoundCompleted> {
        let summary = self.summary(self.round(round_id)?);
        let next = RoundId(round_id.0.saturating_add(1));
        let follows = self.round(next).is_some();
        Some(RoundCompleted {
            league_id: self.league_id(),
            round_id,
            matches_completed: summary.total_matches,
            matches_played: summary.total_matches,
            next_round_id: follows.then_some(next),
            summary,
            checkpoint: None,
        })
    }

    fn summary(&self, round: &Round) -> RoundSummary {
        let decided_as = |wanted: GameStatus| {
            let decided = self
                .matches_of(round)
                .filter_map(|(_, fixture)| fixture.decision.as_ref());
            count(decided.filter(|decision| decision.status == wanted).count())
        };
        RoundSummary {
            total_matches: count(round.matches.len()),
            wins: decided_as(GameStatus::Win),
            draws: decided_as(GameStatus::Draw),
            technical_losses: decided_as(GameStatus::TechnicalLoss),
        }
    }

    /// LEAGUE_COMPLETED.
    pub(crate) fn completion(&self) -> Option<LeagueCompleted> {
        let rows = self.rows();
        let first = rows.first()?;
        let row = |row: &StandingRow| FinalStanding {
            rank: row.rank,
            player_id: row.player_id.clone(),
            display_name: Some(row.display_name.clone()),
            points: row.points,
        };
        let final_standings: Shared<_> = rows.iter().map(row).collect();
        let latest = self.checkpoints.latest.as_ref();
        Some(LeagueCompleted {
            league_id: self.league_id(),
            total_rounds: count(self.rounds.len()),
            total_matches: self.matches_decided,
            champion: Champion {
                player_id: first.player_id.clone(),
                display_name: first.display_name.clone(),
                points: first.points,
            },
            champions: match self.joint_champions() {
                level if level.is_empty() => vec![first.player_id.clone()],
                level => level,
            },
            checkpoint: latest
                .filter(|note| final_standings.fits_message_with(note))
                .cloned(),
            final_standings,
        })
    }

    /// The answer to status queries and to orders of the operator, without the roster.
    pub fn status(&self) -> LeagueStatus {
        // A started league counts as in its first round, though the roll call may still delay the announcement.
        let current_round = self.current_round.max(u32::from(!self.rounds.is_empty()));
        LeagueStatus {
            league_id: self.league_id(),
            status: self.phase,
            current_round,
            total_rounds: self.rounds_in_all(),
            ladder: self.is_ladder(),
            round_title: self.title(RoundId(current_round)).map(UntrustedText::from),
            starts_at: self.open_round().and_then(|round| round.starts_at),
            matches_completed: self.matches_decided,
            results_unproven: self.results_unproven(),
            matches_awaiting_prover: self.matches_awaiting_prover(),
            roster: None,
        }
    }
}
