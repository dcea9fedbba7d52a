//! The members of a league, alike whatever their role.

use super::League;
use crate::league::member::{AgentMeta, Member};
use crate::protocol::messages::Phase;
use crate::protocol::{PlayerId, Sender, Token};

impl League {
    /// A registered player or referee.
    pub fn member(&self, agent: &Sender) -> Option<&Member<dyn AgentMeta>> {
        match agent {
            Sender::Player(id) => self.players.get(id).map(|player| player as _),
            Sender::Referee(id) => self.referees.get(id).map(|referee| referee as _),
            Sender::LeagueManager | Sender::Launcher => None,
        }
    }

    /// All members, referees first.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Sender, &Member<dyn AgentMeta>)> {
        let referees = self.referees.iter().map(|(id, referee)| {
            (
                Sender::Referee(id.clone()),
                referee as &Member<dyn AgentMeta>,
            )
        });
        let players = self
            .players
            .iter()
            .map(|(id, player)| (Sender::Player(id.clone()), player as _));
        referees.chain(players)
    }

    pub(super) fn change(
        &mut self,
        agent: &Sender,
        change: impl FnOnce(&mut Member<dyn AgentMeta>),
    ) {
        let member: Option<&mut Member<dyn AgentMeta>> = match agent {
            Sender::Player(id) => self.players.get_mut(id).map(|player| player as _),
            Sender::Referee(id) => self.referees.get_mut(id).map(|referee| referee as _),
            Sender::LeagueManager | Sender::Launcher => None,
        };
        if let Some(member) = member {
            change(member);
        }
    }

    /// Whose token this is.
    pub(crate) fn member_with(&self, token: &Token) -> Option<Sender> {
        let hash = token.hash();
        self.members()
            .find(|(_, member)| member.token.is(&hash))
            .map(|(agent, _)| agent)
    }

    pub(crate) fn is_revoked(&self, agent: &Sender) -> bool {
        self.member(agent).is_some_and(|member| member.revoked)
    }

    pub(crate) fn is_suspended(&self, agent: &Sender) -> bool {
        self.member(agent).is_some_and(Member::is_suspended)
    }

    /// The member that an id names, of either role.
    pub(crate) fn member_called(&self, id: &str) -> Option<Sender> {
        self.members()
            .map(|(agent, _)| agent)
            .find(|agent| agent.id() == id)
    }

    /// The participants of a league that starts: all registered players that were not withdrawn.
    pub(crate) fn entrants(&self) -> Vec<PlayerId> {
        let players = self.players.iter().filter(|(_, player)| !player.withdrawn);
        players.map(|(id, _)| id.clone()).collect()
    }

    /// Whether agents may register: until the start, and in a ladder until its end.
    pub fn is_open(&self) -> bool {
        match self.phase {
            Phase::Registration => true,
            Phase::Running | Phase::Paused => self.is_ladder(),
            Phase::Completed => false,
        }
    }
}
