//! Observes every message between hosts: checks that messages agree, and that no secret leaks.

use super::agent_id::AgentId;
use super::check::draw;
use super::failure::{Checker, Fault};
use matchday_core::protocol::messages::{AnnouncedMatch, MatchTokens};
use matchday_core::protocol::{Body, ConversationId, LeagueId, Message, PlayerId, Token};
use std::collections::{BTreeMap, BTreeSet};

/// More than any simulated league has.
const PLAYERS_MAX: u32 = 32;

#[derive(Debug, Default)]
pub(super) struct Wiretap {
    /// Who may be shown which token.
    tokens: BTreeMap<String, BTreeSet<AgentId>>,
    /// The token with which each agent speaks to the manager.
    own: BTreeMap<AgentId, Token>,
    /// In which conversation each agent registers: it stands in logs.
    conversations: BTreeMap<AgentId, ConversationId>,
    /// The tokens made for matches, which are worth nothing to the manager.
    for_matches: Vec<Token>,
    /// What was said to end each attempt at a match: to the players, and to the manager.
    endings: BTreeMap<String, String>,
    reports: BTreeMap<String, (Message, String)>,
    /// The promise in each invitation of an attempt.
    promises: BTreeMap<(String, AgentId), String>,
    pub told_the_end: BTreeSet<AgentId>,
    /// All that was said, if it is to be kept.
    said: Option<Vec<Message>>,
}

impl Wiretap {
    pub(super) fn new(keep_messages: bool) -> Self {
        Self {
            said: keep_messages.then(Vec::new),
            ..Self::default()
        }
    }

    pub(super) fn into_messages(self) -> Vec<Message> {
        self.said.unwrap_or_default()
    }

    /// The token with which an agent speaks to the manager, if it has one.
    pub(super) fn token_of(&self, who: AgentId) -> Option<&Token> {
        self.own.get(&who)
    }

    pub(super) fn conversation_of(&self, who: AgentId) -> Option<&ConversationId> {
        self.conversations.get(&who)
    }

    pub(super) fn match_tokens(&self) -> &[Token] {
        &self.for_matches
    }

    /// Reports that were sent in earnest.
    pub(super) fn reports(&self) -> Vec<&Message> {
        self.reports.values().map(|(message, _)| message).collect()
    }

    /// Takes in a message that leaves `from` for `to`.
    pub(super) fn hear(
        &mut self,
        from: AgentId,
        to: AgentId,
        message: &Message,
        league: &LeagueId,
    ) -> Result<(), Fault> {
        if let Some(said) = &mut self.said {
            said.push(message.clone());
        }
        self.learn_tokens(from, to, message, league);
        self.one_story(from, to, message, league)?;
        self.no_secret_out(from, to, message)
    }

    fn allow(&mut self, token: &Token, who: impl IntoIterator<Item = AgentId>) {
        self.tokens
            .entry(token.reveal().to_owned())
            .or_default()
            .extend(who);
    }

    fn learn_tokens(&mut self, from: AgentId, to: AgentId, message: &Message, league: &LeagueId) {
        if from != AgentId::Manager {
            return self.learn_key(from, message, league);
        }
        match (&message.body, &message.envelope.auth_token) {
            (Body::LeagueRegisterResponse(_) | Body::RefereeRegisterResponse(_), Some(token)) => {
                self.allow(token, [AgentId::Manager, to]);
                self.allow(&token.hash().notice_token(league), [to]);
                self.own.insert(to, token.clone());
            }
            // Made of a token that was lost on its way to the agent, in a crash: still, it is meant for that agent.
            (_, Some(token)) if !self.tokens.contains_key(token.reveal()) => {
                self.allow(token, [to])
            }
            _ => {}
        }
        if let Body::RoundAnnouncement(announcement) = &message.body {
            for game in announcement.matches.iter() {
                self.learn_match_tokens(to, game);
            }
        }
    }

    /// What an agent shows when it registers is for the manager alone, and so are the tokens that follow from it.
    fn learn_key(&mut self, from: AgentId, message: &Message, league: &LeagueId) {
        let registers = matches!(
            message.body,
            Body::LeagueRegisterRequest(_) | Body::RefereeRegisterRequest(_)
        );
        if registers {
            self.conversations
                .insert(from, message.envelope.conversation_id.clone());
        }
        let shown = message.envelope.auth_token.as_ref();
        if let Some(key) = shown.filter(|token| registers && token.is_registration_key()) {
            self.allow(key, [AgentId::Manager]);
            for number in 1..=PLAYERS_MAX {
                let id = PlayerId::numbered(number);
                self.allow(&key.league_token(league, id.as_str()), [AgentId::Manager]);
            }
        }
    }

    fn learn_match_tokens(&mut self, referee: AgentId, game: &AnnouncedMatch) {
        let Some(briefing) = &game.briefing else {
            return;
        };
        for (endpoint, tokens) in [
            (&briefing.player_a_endpoint, &briefing.player_a_tokens),
            (&briefing.player_b_endpoint, &briefing.player_b_tokens),
        ] {
            let Some(MatchTokens {
                to_player,
                from_player,
            }) = tokens
            else {
                continue;
            };
            self.allow(
                to_player,
                [referee].into_iter().chain(AgentId::at(endpoint)),
            );
            self.allow(from_player, [referee]);
            for token in [to_player, from_player] {
                if !self.for_matches.contains(token) {
                    self.for_matches.push(token.clone());
                }
            }
        }
    }

    /// Both players hear the same end of a match, however often, and the manager hears it too.
    fn one_story(
        &mut self,
        from: AgentId,
        to: AgentId,
        message: &Message,
        league: &LeagueId,
    ) -> Result<(), Fault> {
        let conversation = message.envelope.conversation_id.as_str();
        match &message.body {
            Body::GameOver(over) => {
                if let Some(attempt) = message.envelope.conversation_id.attempt_of(&over.match_id) {
                    let promise = self.promises.get(&(conversation.to_owned(), to));
                    draw::recomputes(over, league, attempt, promise.map_or("", String::as_str))?;
                }
                let story = serde_json::to_string(over).unwrap_or_default();
                agree(
                    &mut self.endings,
                    format!("{conversation} by {from}"),
                    story,
                )
            }
            Body::MatchResultReport(report) if matches!(from, AgentId::Referee(_)) => {
                let story = serde_json::to_string(&report.result).unwrap_or_default();
                let key = format!("{conversation} by {from}");
                let (_, first) = self
                    .reports
                    .entry(key.clone())
                    .or_insert_with(|| (message.clone(), story.clone()));
                agree_on(&key, first, &story)
            }
            Body::LeagueCompleted(_) => {
                self.told_the_end.insert(to);
                Ok(())
            }
            Body::GameInvitation(invitation) => {
                let promise = invitation.draw_commitment.as_ref().map(|c| c.0.to_string());
                self.promises
                    .insert((conversation.to_owned(), to), promise.unwrap_or_default());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn no_secret_out(&self, from: AgentId, to: AgentId, message: &Message) -> Result<(), Fault> {
        let text = serde_json::to_string(message).unwrap_or_default();
        for token in tokens_in(&text) {
            match self.tokens.get(token) {
                Some(allowed) if allowed.contains(&to) => {}
                known => {
                    return Err(Fault::new(
                        Checker::TokensStaySecret,
                        format!(
                            "{from} shows {to} the token {}..., which is {} in {}",
                            token.get(..16).unwrap_or(token),
                            if known.is_some() {
                                "not for it"
                            } else {
                                "of unknown origin"
                            },
                            message.message_type()
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

fn agree(stories: &mut BTreeMap<String, String>, key: String, story: String) -> Result<(), Fault> {
    let first = stories.entry(key.clone()).or_insert_with(|| story.clone());
    agree_on(&key, first, &story)
}

fn agree_on(key: &str, first: &str, story: &str) -> Result<(), Fault> {
    if first == story {
        return Ok(());
    }
    Err(Fault::new(
        Checker::OneStory,
        format!("{key}: first {first}, then {story}"),
    ))
}

/// Every whole token in a text: `tok_`, an owner, `_` and 64 digits.
fn tokens_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("\"tok_").filter_map(move |(at, _)| {
        let rest = text.get(at + 1..)?;
        let token = rest.get(..rest.find('"')?)?;
        let digits = token.rsplit('_').next()?;
        (digits.len() == 64).then_some(token)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::START;
    use matchday_core::entropy::Entropy;
    use matchday_core::protocol::messages::{
        GameDetails, GameOver, GameResult, GameStatus, LeagueQuery, LeagueRegisterResponse,
        RegisterAnswer, RegisterStatus,
    };
    use matchday_core::protocol::{
        Envelope, GameType, MatchId, PlayerId, Query, QueryParams, RefereeId, Sender,
    };

    fn league() -> LeagueId {
        LeagueId::new("league_sim")
    }

    fn envelope(sender: Sender) -> Envelope {
        Envelope::new(sender, START, ConversationId::new("conv-r1m1-001"))
    }

    fn over(winner: &str) -> Message {
        let body = GameOver {
            league_id: None,
            round_id: None,
            match_id: MatchId::new("R1M1"),
            game_type: GameType::new("tic_tac_toe"),
            game_result: GameResult {
                status: GameStatus::Win,
                winner_player_id: Some(PlayerId::new(winner)),
                details: GameDetails::Other(serde_json::Map::new()),
                reason: None,
                fairness: None,
            },
            reason: None,
            signature: None,
        };
        Message::new(envelope(Sender::Referee(RefereeId::new("REF01"))), body)
    }

    #[test]
    fn two_stories_about_one_match_are_noticed() {
        let mut wiretap = Wiretap::default();
        let referee = AgentId::Referee(1);
        assert_eq!(
            wiretap.hear(referee, AgentId::Player(1), &over("P01"), &league()),
            Ok(())
        );
        assert_eq!(
            wiretap.hear(referee, AgentId::Player(2), &over("P01"), &league()),
            Ok(())
        );
        let fault = wiretap
            .hear(referee, AgentId::Player(2), &over("P02"), &league())
            .unwrap_err();
        assert_eq!(fault.checker, Checker::OneStory);
    }

    #[test]
    fn a_token_that_is_shown_to_another_agent_is_noticed() {
        let mut wiretap = Wiretap::default();
        let token = Token::issue("P01", &mut Entropy::numbered(1));
        let answer = RegisterAnswer {
            status: RegisterStatus::Accepted,
            reason: None,
            league_id: None,
            match_tokens: None,
            manager_public_key: None,
            error_code: None,
            error_name: None,
            context: None,
        };
        let granted = Message::new(
            envelope(Sender::LeagueManager).with_token(Some(token.clone())),
            LeagueRegisterResponse {
                player_id: Some(PlayerId::new("P01")),
                answer,
            },
        );
        let query = LeagueQuery {
            league_id: league(),
            query_type: Query::Standings,
            query_params: QueryParams::default(),
        };
        let asked = Message::new(
            envelope(Sender::Player(PlayerId::new("P01"))).with_token(Some(token)),
            query,
        );
        let player = AgentId::Player(1);
        assert_eq!(
            wiretap.hear(AgentId::Manager, player, &granted, &league()),
            Ok(())
        );
        assert_eq!(
            wiretap.hear(player, AgentId::Manager, &asked, &league()),
            Ok(())
        );
        let fault = wiretap
            .hear(player, AgentId::Referee(1), &asked, &league())
            .unwrap_err();
        assert_eq!(fault.checker, Checker::TokensStaySecret);
    }
}
