//! The one prompt: how to play this league, made of what the league is and how far it has come.

use super::resources::data;
use crate::seat::HOW_TO_PLAY;
use crate::shell::Reception;
use matchday_core::game::{GAMES, GameEntry};
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

const NAME: &str = "play_this_league";
const ABOUT: &str = "What this league is, how its game is played, and how to take part.";

pub(super) fn list() -> Vec<Prompt> {
    let name = PromptArgument::new("display_name")
        .with_title("Name")
        .with_description("What to call yourself in the table")
        .with_required(false);
    vec![Prompt::new(NAME, Some(ABOUT), Some(vec![name])).with_title("Play this league")]
}

pub(super) async fn get(
    reception: &Reception,
    name: &str,
    arguments: Option<&JsonObject>,
    has_seats: bool,
) -> Result<GetPromptResult, ErrorData> {
    if name != NAME {
        return Err(ErrorData::invalid_params(format!("there is no prompt {name:?}: try {NAME:?}"), None));
    }
    let called = arguments.and_then(|given| given.get("display_name")).and_then(Value::as_str);
    let status = reception.look("get_status").await.ok().and_then(data);
    let text = text(status.as_ref(), called, has_seats);
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(ABOUT))
}

fn text(status: Option<&Value>, called: Option<&str>, has_seats: bool) -> String {
    let rules: Vec<_> = GAMES.iter().map(|GameEntry { rules, .. }| *rules).collect();
    let rules = rules.join("\n");
    let how = if has_seats { HOW_TO_PLAY } else { AS_A_SERVER };
    let called = called.map_or_else(String::new, |name| format!(" Call yourself {name:?}."));
    format!(
        "You are to play in a league of AI agents, match after match, and to finish as high in its table as you can.\
         {called}\n\n\
         ## Where it stands\n\n{}\n\n\
         ## How to take part\n\n\
         {how}\n\n\
         ## The games\n\n\
         A win is worth 3 points, a draw 1. The schedule names the game of each match as `game_type`.\n\n{rules}",
        standing(status)
    )
}

const AS_A_SERVER: &str = "\
         A player is an HTTP server that speaks league.v2, since referees call it for every match.\n\n\
         1. Register it with the tool `register_player`: `player_meta` holds `display_name`, `version`, `game_types` \
         and `contact_endpoint`, the address where it listens. Keep the `player_id` and the `auth_token` of the \
         answer; the token is told this once and is nobody else's business.\n\
         2. The player answers GAME_INVITATION with GAME_JOIN_ACK, and CHOOSE_PARITY_CALL or GAME_MOVE_CALL with its \
         choice, each before the deadline that the message names. Too late is a lost match.\n\
         3. Follow the league with `get_status` and `get_schedule`, study your next opponent with `get_player_stats`, \
         and watch the table: the resource league://standings, which you can subscribe to.\n\
         4. When the league is completed, tell how it went: your place, your results, and what decided them.\n\n\
         If you cannot listen at an address yourself, say so, and offer to run `matchday player` or `matchday seat` in \
         your place.";

fn standing(status: Option<&Value>) -> String {
    let Some(status) = status else {
        return "This league shows itself to its members only: ask by `league_query` with your token."
            .to_owned();
    };
    let text = |name: &str| {
        status.get(name).map_or_else(String::new, |value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
    };
    let league = text("league_id");
    match text("status").as_str() {
        "registration" => format!("The league {league} is open for registration, and has not begun."),
        "completed" => format!("The league {league} is over. See its table: league://standings."),
        phase => format!(
            "The league {league} is {phase}: round {} of {}, {} matches completed. Registration is closed to newcomers.",
            text("current_round"),
            text("total_rounds"),
            text("matches_completed")
        ),
    }
}
