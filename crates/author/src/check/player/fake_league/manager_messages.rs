//! The messages of the fake manager: announcements, standings, notices. Pure.

use super::{FakeLeague, Fixture};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::{DisplayName, ErrorCode, Message, PlayerId, RoundId, Timestamp};
use serde_json::{Map, json};

impl FakeLeague {
    pub(crate) fn announcement(&self, now: Timestamp, fixtures: &[&Fixture]) -> Message {
        let matches: Vec<_> = fixtures
            .iter()
            .map(|fixture| self.announced(fixture))
            .collect();
        let round_id = fixtures
            .first()
            .map_or(RoundId(1), |fixture| fixture.round_id);
        let body = RoundAnnouncement {
            league_id: self.league_id.clone(),
            round_id,
            matches: matches.into(),
            starts_at: Some(now),
            remark: None,
        };
        self.as_manager(now, &format!("conv-round-{round_id}-announce"), body)
    }

    fn announced(&self, fixture: &Fixture) -> AnnouncedMatch {
        let [player_a_id, player_b_id] = self.players(fixture);
        AnnouncedMatch {
            match_id: fixture.match_id.clone(),
            game_type: self.game_type(),
            player_a_id,
            player_b_id,
            referee_id: Some(self.referee.clone()),
            referee_endpoint: self.referee_endpoint.clone(),
            conversation_id: Some(fixture.conversation_id.clone()),
            match_tokens: Some(true),
            referee_public_key: None,
            replay: None,
            briefing: None,
        }
    }

    /// The standings of a league of this size.
    pub(crate) fn standings(&self, now: Timestamp, round_id: RoundId, players: u32) -> Message {
        let rows: Vec<_> = (1..=players.max(2)).map(|rank| self.row(rank)).collect();
        let body = LeagueStandingsUpdate {
            league_id: self.league_id.clone(),
            round_id,
            standings: rows.into(),
        };
        self.as_manager(now, &format!("conv-round-{round_id}-standings"), body)
    }

    fn row(&self, rank: u32) -> StandingRow {
        let [own_name, other_name] = &self.names;
        let [opponent, _] = &self.opponents;
        let (player_id, display_name, won) = match rank {
            1 => (self.identity.player_id.clone(), own_name.clone(), 1),
            2 => (opponent.clone(), other_name.clone(), 0),
            other => (PlayerId::new(format!("C{other:02}")), other_name.clone(), 0),
        };
        StandingRow {
            rank,
            player_id,
            display_name,
            played: 1,
            wins: won,
            draws: 0,
            losses: 1 - won,
            points: 3 * won,
            shared_rank: None,
            technical_losses: Some(0),
            rating: None,
            rating_deviation: None,
            rank_reason: None,
        }
    }

    pub(crate) fn round_completed(&self, now: Timestamp, round_id: RoundId) -> Message {
        let body = RoundCompleted {
            league_id: self.league_id.clone(),
            round_id,
            matches_completed: 1,
            matches_played: 1,
            next_round_id: Some(RoundId(round_id.0 + 1)),
            summary: RoundSummary {
                total_matches: 1,
                wins: 1,
                draws: 0,
                technical_losses: 0,
            },
            checkpoint: None,
        };
        self.as_manager(now, &format!("conv-round-{round_id}-complete"), body)
    }

    pub(crate) fn league_error(&self, now: Timestamp) -> Message {
        let context = Map::from_iter([("reason".to_owned(), json!("this is a check"))]);
        let body = LeagueError::new(
            ErrorCode::InvalidState,
            "The league is not in a state that allows this.",
            Some("LEAGUE_QUERY".into()),
            Some(context),
        );
        self.as_manager(now, "conv-league-error", body)
    }

    pub(crate) fn league_completed(&self, now: Timestamp) -> Message {
        let own = &self.identity.player_id;
        let [other, _] = &self.opponents;
        let [own_name, other_name] = &self.names;
        let standing = |rank, id: &PlayerId, name: &DisplayName, points| FinalStanding {
            rank,
            player_id: id.clone(),
            display_name: Some(name.clone()),
            points,
        };
        let standings = vec![
            standing(1, own, own_name, 3),
            standing(2, other, other_name, 0),
        ];
        let body = LeagueCompleted {
            league_id: self.league_id.clone(),
            total_rounds: self.rounds.max(1),
            total_matches: self.rounds.max(1),
            champion: Champion {
                player_id: own.clone(),
                display_name: own_name.clone(),
                points: 3,
            },
            champions: Vec::new(),
            final_standings: standings.into(),
            checkpoint: None,
        };
        self.as_manager(now, "conv-league-complete", body)
    }
}
