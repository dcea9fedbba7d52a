//! A test that keeps the table of SECURITY.md as the table of routes is. To write it anew:
//! `UPDATE_DOCS=1 cargo test -p matchday --test docs routes`

use matchday_runtime::routes::{Answered, BodyLimit, Cost, Part, Permission, ROUTES, Route};
use std::{env, fs};

fn who(permission: Permission) -> &'static str {
    match permission {
        Permission::Anyone => "anyone",
        Permission::Reader => "readers",
        Permission::Agent => "by the token in the message",
        Permission::Registrant => "who may register",
        Permission::Mailbox => "relay token",
        Permission::Operator => "operator token",
        Permission::Service => "service token",
    }
}

fn body(limit: BodyLimit) -> String {
    match limit {
        BodyLimit::Unread => "none".to_owned(),
        BodyLimit::Message => "`message-bytes-max`".to_owned(),
        BodyLimit::Bytes(bytes) => match bytes >> 20 {
            0 => format!("{} KiB", bytes >> 10),
            mebibytes => format!("{mebibytes} MiB"),
        },
    }
}

fn cost(cost: Cost) -> String {
    match cost {
        Cost::Counted => "-".to_owned(),
        cost => cost.requests().to_string(),
    }
}

fn answered(answered: Answered) -> &'static str {
    match answered {
        Answered::Here => "here",
        Answered::ByLeagueOwner => "owner of the league",
        Answered::ByLogOwner => "owner of the service's log",
    }
}

fn place(part: Part) -> &'static str {
    match part {
        Part::Agent => "every agent",
        Part::Dashboard | Part::Relay => "manager",
        Part::Seats => "manager, `seat`",
        Part::Referees => "league of a service",
        Part::Service => "service",
        Part::Root => "service without or with several leagues",
    }
}

fn row(route: &Route) -> String {
    format!(
        "| {} | `{}` | {} | {} | {} | {} | {} |\n",
        route.method,
        route.path,
        place(route.target.part()),
        who(route.permission),
        body(route.body),
        cost(route.cost),
        answered(route.answered)
    )
}

#[test]
fn the_table_of_routes_in_security_md_is_the_table_of_routes() {
    let path = crate::root().join("SECURITY.md");
    let page = fs::read_to_string(&path).unwrap();
    let head = "| Method | Path | At | Who may call | Body | Counts as | Answered by |\n| --- | --- | --- | --- | --- | --- | --- |\n";
    let table: String = std::iter::once(head.to_owned())
        .chain(ROUTES.iter().map(row))
        .collect();
    let (before, rest) = page.split_once("<!-- routes -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- end of routes -->").unwrap();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(
            &path,
            format!("{before}<!-- routes -->\n{table}<!-- end of routes -->{after}"),
        )
        .unwrap();
    } else {
        assert_eq!(shown, table, "write it anew with UPDATE_DOCS=1");
    }
}
