//! The rows of the table. Paths of agents, dashboards, relays, seats and referees are beneath the address of their agent; in a
//! service that is `/leagues/ID`, and the root too while there is one league. All others are beneath the root of a service.

use super::AgentRoute::{
    Checkpoint, JoinMessage, Live, McpEnd, McpStream, Message, Metrics, Ready, Schema, Schemas,
};
use super::DashboardRoute as Page;
use super::RelayRoute as Mailboxes;
use super::ServiceRoute as Api;
use super::Target::{Agent, Dashboard, Referee, Relay, Root, Seats, Service};
use super::{Answered, BodyLimit, Cost, Permission, RootRoute, Route, Target};
use hyper::Method;

/// Twelve sections with rosters of a hundred fit many times.
const PLAN: BodyLimit = BodyLimit::Bytes(4 << 20);
const ORDER: BodyLimit = BodyLimit::Bytes(4096);

/// Every path that a listener of ours answers.
pub const ROUTES: &[Route] = &[
    // At every agent.
    post(Agent(Message), "/mcp", "League messages, and the Model Context Protocol")
        .by(Permission::Agent)
        .body(BodyLimit::Message)
        .cost(Cost::Counted),
    post(Agent(JoinMessage), "/join/{code}/mcp", "League messages with a join code")
        .by(Permission::Agent)
        .body(BodyLimit::Message)
        .cost(Cost::Counted),
    get(Agent(McpStream), "/mcp", "Notices of the Model Context Protocol").cost(Cost::Counted),
    delete(Agent(McpEnd), "/mcp", "Ends a session of the Model Context Protocol").cost(Cost::Counted),
    get(Agent(Checkpoint), "/checkpoint", "The latest checkpoint of the log").by(Permission::Reader),
    get(Agent(Schemas), "/schema", "The list of schemas"),
    get(Agent(Schema), "/schema/{*name}", "A JSON Schema, or the OpenRPC document"),
    get(Agent(Live), "/health/live", "Whether the process answers").cost(Cost::Counted),
    get(Agent(Ready), "/health/ready", "Whether it can do its work").cost(Cost::Counted),
    get(Agent(Metrics), "/metrics", "Metrics for Prometheus, if they are shown").cost(Cost::Counted),
    // The dashboard of a league.
    get(Dashboard(Page::Page), "/", "The dashboard"),
    get(Dashboard(Page::Asset), "/assets/{file}", "Files of the dashboard"),
    read(Page::League, "/api/league", "The league"),
    read(Page::Connections, "/api/connections", "How each agent is reached, and whether it can be"),
    read(Page::Standings, "/api/standings", "The standings"),
    read(Page::Rounds, "/api/rounds", "The rounds"),
    read(Page::Round, "/api/rounds/{round}", "The matches of a round"),
    read(Page::CrossTable, "/api/cross", "Everybody against everybody"),
    read(Page::Race, "/api/race", "Points by round"),
    read(Page::Latency, "/api/latency", "Times to answer"),
    read(Page::Boards, "/api/boards", "Boards of matches that are played"),
    read(Page::Player, "/api/players/{player}", "A player"),
    read(Page::Compare, "/api/compare/{first}/{second}", "Two players beside each other"),
    read(Page::Match, "/api/matches/{match}", "A match, move by move"),
    read(Page::Messages, "/api/messages", "Recorded messages"),
    read(Page::Referees, "/api/referees", "The referees"),
    read(Page::QrCode, "/api/qr", "An address as a QR code"),
    read(Page::Events, "/api/events", "A stream of changes"),
    read(Page::Report, "/api/report", "The report as one page").cost(Cost::Expensive),
    post(Dashboard(Page::Order), "/api/orders", "An order of the operator").by(Permission::Operator).body(ORDER),
    // Agents that dial out.
    get(Relay(Mailboxes::List), "/relay", "Which agents dial out").by(Permission::Reader),
    post(Relay(Mailboxes::Open), "/relay", "Opens a mailbox").by(Permission::Registrant),
    post(Relay(Mailboxes::Call), "/relay/{mailbox}/mcp", "Calls the agent of a mailbox").body(BodyLimit::Message),
    get(Relay(Mailboxes::Stream), "/relay/{mailbox}/stream", "Calls as they come").by(Permission::Mailbox),
    get(Relay(Mailboxes::Next), "/relay/{mailbox}/next", "Waits for the next call").by(Permission::Mailbox),
    post(Relay(Mailboxes::Answer), "/relay/{mailbox}/answers/{call}", "Answers a call")
        .by(Permission::Mailbox)
        .body(BodyLimit::Message),
    // Players in seats, and referees of a service.
    post(Seats, "/seats/{seat}/mcp", "League messages to the player of a seat")
        .by(Permission::Agent)
        .body(BodyLimit::Message)
        .cost(Cost::Counted),
    post(Referee, "/referees/{referee}/mcp", "League messages to a built-in referee")
        .by(Permission::Agent)
        .body(BodyLimit::Message)
        .cost(Cost::Counted),
    // A service.
    get(Service(Api::OpenApi), "/api/openapi.json", "This API"),
    get(Service(Api::ListLeagues), "/api/leagues", "The leagues that the caller may see"),
    change(Api::CreateLeagues, Method::POST, "/api/leagues", "Create leagues, all of them or none").body(PLAN),
    change(
        Api::ImportLeague,
        Method::POST,
        "/api/leagues/import",
        "Take a league out of a file of the service's machine, with its chains as they are",
    )
    .body(PLAN),
    get(Service(Api::ShowLeague), "/api/leagues/{id}", "A league, with how far it has come")
        .by(Permission::Reader)
        .cost(Cost::Expensive)
        .answered(Answered::ByLeagueOwner),
    change(
        Api::ConfigureLeague,
        Method::PATCH,
        "/api/leagues/{id}",
        "Change settings; once the league has begun, only those that its log does not hold",
    )
    .body(PLAN)
    .answered(Answered::ByLeagueOwner),
    change(Api::DeleteLeague, Method::DELETE, "/api/leagues/{id}", "Remove a league for good")
        .answered(Answered::ByLeagueOwner),
    change(
        Api::ArchiveLeague,
        Method::POST,
        "/api/leagues/{id}/archive",
        "Write a league into a file beside the store, verify that, and remove the league",
    )
    .answered(Answered::ByLeagueOwner),
    get(Service(Api::ListSeasons), "/api/seasons", "The seasons that the caller may see"),
    change(
        Api::CreateSeason,
        Method::POST,
        "/api/seasons",
        "Create a season with its first league, which takes registrations at once",
    )
    .body(PLAN),
    get(Service(Api::ShowSeason), "/api/seasons/{name}", "A season with its leagues and its table")
        .by(Permission::Reader),
    change(
        Api::ConfigureSeason,
        Method::PATCH,
        "/api/seasons/{name}",
        "Change when the leagues of a season start, and with what the following ones are created",
    )
    .body(PLAN),
    change(Api::RunSeason, Method::POST, "/api/seasons/{name}/run", "Start the current league now"),
    change(
        Api::PauseSeason,
        Method::POST,
        "/api/seasons/{name}/pause",
        "Start no league by schedule until the season is resumed",
    ),
    change(Api::ResumeSeason, Method::POST, "/api/seasons/{name}/resume", "Continue the schedule"),
    change(
        Api::EndSeason,
        Method::POST,
        "/api/seasons/{name}/end",
        "End the season: a league that has not started is removed, one that is being played is finished",
    ),
    get(
        Service(Api::SeasonPlayer),
        "/api/seasons/{name}/players/{player}",
        "What a player has done in each league of a season",
    )
    .by(Permission::Reader),
    get(Service(Api::SeasonPage), "/seasons/{name}", "The page of a season"),
    get(Service(Api::LeagueList), "/leagues", "The list of leagues and seasons"),
    get(Service(Api::Asset), "/assets/{file}", "Files of these pages"),
    get(
        Service(Api::Cluster),
        "/api/cluster",
        "The services that share the store: their leases, versions, leagues and weights; none if it is a file",
    )
    .by(Permission::Service),
    get(Service(Api::Live), "/health/live", "Whether the process answers").cost(Cost::Counted),
    get(Service(Api::Ready), "/health/ready", "Whether it can do its work").cost(Cost::Counted),
    get(Service(Api::Metrics), "/metrics", "Metrics for Prometheus, if they are shown").cost(Cost::Counted),
    get(Service(Api::LeagueRedirect), "/leagues/{id}", "Leads to the page of a league"),
    get(Root(RootRoute::LeagueList), "/", "The list of leagues"),
    post(Root(RootRoute::NoLeague), "/mcp", "E007, with the leagues that there are").body(BodyLimit::Message),
];

const fn row(target: Target, method: Method, path: &'static str, summary: &'static str) -> Route {
    let answered = match target {
        Service(_) | Root(_) => Answered::Here,
        _ => Answered::ByLeagueOwner,
    };
    let permission = Permission::Anyone;
    let body = BodyLimit::Unread;
    let cost = Cost::Cheap;
    Route {
        target,
        method,
        path,
        permission,
        body,
        cost,
        answered,
        summary,
    }
}

const fn get(target: Target, path: &'static str, summary: &'static str) -> Route {
    row(target, Method::GET, path, summary)
}

const fn post(target: Target, path: &'static str, summary: &'static str) -> Route {
    row(target, Method::POST, path, summary)
}

const fn delete(target: Target, path: &'static str, summary: &'static str) -> Route {
    row(target, Method::DELETE, path, summary)
}

/// A page of the dashboard's API.
const fn read(page: Page, path: &'static str, summary: &'static str) -> Route {
    get(Dashboard(page), path, summary).by(Permission::Reader)
}

/// A change of a service.
const fn change(target: Api, method: Method, path: &'static str, summary: &'static str) -> Route {
    row(Service(target), method, path, summary)
        .by(Permission::Service)
        .answered(Answered::ByLogOwner)
}

impl Route {
    const fn by(mut self, permission: Permission) -> Self {
        self.permission = permission;
        self
    }

    const fn body(mut self, body: BodyLimit) -> Self {
        self.body = body;
        self
    }

    const fn cost(mut self, cost: Cost) -> Self {
        self.cost = cost;
        self
    }

    const fn answered(mut self, answered: Answered) -> Self {
        self.answered = answered;
        self
    }
}
