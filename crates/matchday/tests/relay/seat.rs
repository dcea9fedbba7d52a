//! Seats that dial out, with their client at the standard input: a process without any socket.

use crate::MATCHDAY;
use crate::dial::{assert_no_technical_loss, listening_sockets};
use matchday_testkit::cli::Cli;
use matchday_testkit::seat_client::SeatClient;
use serde_json::json;

fn dialling(cli: &Cli) -> SeatClient {
    let mut command = cli.command(&[
        "seat",
        "--stdio",
        "--dial",
        "--fallback",
        "none",
        "--store",
        "s.db",
    ]);
    command.args(["--manager", &cli.manager]);
    SeatClient::start(command)
}

#[test]
fn a_seat_without_a_socket_plays_a_league() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ]);
    let mut client = dialling(&cli);
    let seat = client.call("join_league", &json!({"name": "Ann"}))["seat"].clone();
    assert_eq!(listening_sockets(client.id()), 0);
    let _agents = [cli.agent(&["player"]), cli.agent(&["referee"])];
    assert!(client.play(&seat) > 0);
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
}

#[test]
fn a_seat_keeps_its_mailbox_when_it_is_started_again() {
    let cli = Cli::new(MATCHDAY);
    let _manager = cli.manager(&[
        "--relay",
        "on",
        "--lead",
        "0",
        "--start-when",
        "players=2,referees=1",
    ]);
    let seat = dialling(&cli).call("join_league", &json!({"name": "Ann"}))["seat"].clone();
    let saved = || std::fs::read_to_string(cli.path().join("s.db.seat-1.mailbox.json")).unwrap();
    let before = saved();
    let mut client = dialling(&cli);
    let _agents = [cli.agent(&["player"]), cli.agent(&["referee"])];
    assert!(client.play(&seat) > 0);
    assert_eq!(saved(), before);
    cli.until_status("completed");
    assert_no_technical_loss(&cli);
}
