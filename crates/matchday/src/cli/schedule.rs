//! `matchday schedule`: the rounds, their matches and results.

use super::query::{QueryArgs, columns, show};
use crate::manager_client::{ManagerClient, in_our_form};
use anyhow::Result;
use matchday_core::protocol::messages::query_data::ScheduleData;
use matchday_core::protocol::{PlayerId, Untrusted};
use matchday_terminal::Paint;
use matchday_terminal::schedule_table::schedule_table;
use serde_json::Value;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct ScheduleArgs {
    #[command(flatten)]
    query: QueryArgs,
    /// Show this round only
    #[arg(long, value_name = "N")]
    round: Option<u32>,
}

pub(super) async fn execute(args: ScheduleArgs) -> Result<ExitCode> {
    let ask = async |client: &ManagerClient| {
        let mut schedule = client.schedule(args.round).await?;
        // Names stand in the standings alone; a manager that withholds them still tells its schedule.
        if let (Some(data), Ok(standings)) = (schedule.as_object_mut(), client.standings().await) {
            data.insert(NAMES.to_owned(), names(&standings));
        }
        Ok(schedule)
    };
    show(&args.query, ask, for_people).await
}

/// Under which key the names of players are added to the schedule.
const NAMES: &str = "player_names";

fn names(standings: &Value) -> Value {
    let rows = standings
        .get("standings")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let named = rows.filter_map(|row| {
        Some((
            row.get("player_id")?.as_str()?.to_owned(),
            Value::from(row.get("display_name")?.as_str()?),
        ))
    });
    Value::Object(named.collect())
}

fn for_people(data: &Value) -> Result<String> {
    let names = data
        .get(NAMES)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let names = names.filter_map(|(id, name)| {
        Some((
            PlayerId::new(id),
            Untrusted::new(name.as_str()?).escaped().to_string(),
        ))
    });
    let ScheduleData {
        rounds,
        rounds_to_come,
    } = in_our_form("schedule", data.clone())?;
    if rounds.is_empty() {
        return Ok("the rounds are scheduled when the league starts".to_owned());
    }
    let table = schedule_table(&rounds, &names.collect()).fitted(columns());
    let mut text = table.text(Paint::of_stdout());
    if let Some(to_come) = rounds_to_come {
        text.push_str(&format!(
            "\nmore rounds follow, at least {to_come}: each is paired from the results before it"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn players_stand_there_by_name() {
        let game = json!({
            "match_id": "R1M1", "game_type": "even_odd", "player_A_id": "P01", "player_B_id": "P02",
            "referee_id": "REF01", "state": "playing",
        });
        let mut data = json!({ "rounds": [{ "round_id": 1, "matches": [game] }] });
        let rows = json!({ "standings": [{ "player_id": "P01", "display_name": "Ada" }] });
        data[NAMES] = names(&rows);
        insta::assert_snapshot!(for_people(&data).unwrap(), @r"
        ROUND  MATCH  PLAYER A  PLAYER B  REFEREE  RESULT
            1  R1M1   P01 Ada   P02       REF01    playing
        ");
    }
}
