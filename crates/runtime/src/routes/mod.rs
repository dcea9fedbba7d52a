//! The public surface of every listener, as one table: method, path, who may call, how long a body may be, what a request costs
//! and where it is answered. What is not in the table is HTTP 404 at the socket that received it. Values only.
//!
//! - `table`: the rows
//! - `matching`: finds the row of a request

mod matching;
mod table;

pub use matching::{Located, Matched, RouteTable};
pub use table::ROUTES;

use hyper::Method;

/// One row of the table.
#[derive(Debug)]
pub struct Route {
    pub target: Target,
    /// GET rows take HEAD too.
    pub method: Method,
    /// `{name}` stands for one segment, `{*name}` for the rest of the path.
    pub path: &'static str,
    pub permission: Permission,
    pub body: BodyLimit,
    pub cost: Cost,
    pub answered: Answered,
    /// What it is for, in a few words.
    pub summary: &'static str,
}

impl Route {
    /// Whether it changes the leagues or seasons of a service, which is not carried out twice.
    pub fn is_change(&self) -> bool {
        self.permission == Permission::Service && self.method != Method::GET
    }
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    Anyone,
    /// Anyone, if the league is open to readers; else its operator, or the service's.
    Reader,
    /// An agent or operator, by the token within the message; reading as [`Permission::Reader`].
    Agent,
    /// Who may register: by a join code where the league has a roster.
    Registrant,
    /// The holder of a mailbox's relay token.
    Mailbox,
    /// The league's operator.
    Operator,
    /// The holder of the service token.
    Service,
}

/// How long the body of a request may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLimit {
    /// It is not read.
    Unread,
    /// As long as a message of the league.
    Message,
    Bytes(usize),
}

impl BodyLimit {
    /// In bytes. `message_bytes_max` is the limit of the league's messages.
    pub fn bytes(self, message_bytes_max: usize) -> usize {
        match self {
            Self::Unread => 0,
            Self::Message => message_bytes_max,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// What a request counts for in the rate limit of its caller's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Limited elsewhere: league messages by what is in them, seats by the seat.
    Counted,
    Cheap,
    /// It reads a whole log, or makes a page of it.
    Expensive,
}

impl Cost {
    /// How many requests it counts for.
    pub fn requests(self) -> usize {
        match self {
            Self::Counted => 0,
            Self::Cheap => 1,
            Self::Expensive => 20,
        }
    }
}

/// Which of the services that share a store answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// The one that received the request, always.
    Here,
    /// The owner of the league that the path names.
    ByLeagueOwner,
    /// The owner of the service's own log.
    ByLogOwner,
}

/// What a row leads to, by the part of the program that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Agent(AgentRoute),
    Dashboard(DashboardRoute),
    Relay(RelayRoute),
    Seats,
    /// The endpoint of a referee that a service runs itself.
    Referee,
    Service(ServiceRoute),
    /// At the root of a service that has not exactly one league.
    Root(RootRoute),
}

/// A part of the program that answers requests. Each listener has some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Agent,
    Dashboard,
    Relay,
    Seats,
    Referees,
    Service,
    Root,
}

impl Target {
    pub fn part(self) -> Part {
        match self {
            Self::Agent(_) => Part::Agent,
            Self::Dashboard(_) => Part::Dashboard,
            Self::Relay(_) => Part::Relay,
            Self::Seats => Part::Seats,
            Self::Referee => Part::Referees,
            Self::Service(_) => Part::Service,
            Self::Root(_) => Part::Root,
        }
    }
}

/// At the address of every agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentRoute {
    Message,
    /// A message with a join code in its path: a manager's alone.
    JoinMessage,
    McpStream,
    McpEnd,
    Checkpoint,
    Schemas,
    Schema,
    Live,
    Ready,
    Metrics,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DashboardRoute {
    Page,
    Asset,
    League,
    Connections,
    Standings,
    Rounds,
    Round,
    CrossTable,
    Race,
    Latency,
    Boards,
    Player,
    Compare,
    Match,
    Messages,
    Referees,
    QrCode,
    Events,
    Report,
    Order,
}

/// Agents that dial out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayRoute {
    List,
    Open,
    Call,
    Stream,
    Next,
    Answer,
}

/// The API and the pages of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceRoute {
    OpenApi,
    ListLeagues,
    CreateLeagues,
    ImportLeague,
    ShowLeague,
    ConfigureLeague,
    DeleteLeague,
    ArchiveLeague,
    ListSeasons,
    CreateSeason,
    ShowSeason,
    ConfigureSeason,
    RunSeason,
    PauseSeason,
    ResumeSeason,
    EndSeason,
    SeasonPage,
    Cluster,
    Live,
    Ready,
    Metrics,
    /// `/leagues/ID`, whose page needs the slash.
    LeagueRedirect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootRoute {
    LeagueList,
    /// E007, with the leagues that there are.
    NoLeague,
}
