//! The one prompt: how to play this league, made of what the league is and how far it has come.

use super::resources::data;
use matchday_core::agent::Ask;
use matchday_core::protocol::Query;
use matchday_runtime::Intake;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role,
};
use serde_json::Value;

const NAME: &str = "play_this_league";
pub(super) const ABOUT: &str = "What this league is, how its game is played, and how to take part.";

/// The prompt with its one argument, which every server of ours has under the same name.
pub fn list(about: &str) -> Vec<Prompt> {
    let name = PromptArgument::new("display_name")
        .with_title("Name")
        .with_description("What to call yourself in the table")
        .with_required(false);
    vec![Prompt::new(NAME, Some(about), Some(vec![name])).with_title("Play this league")]
}

/// The display name that a request for the prompt gives, as a sentence; empty if it gives none.
pub fn display_name(request: &GetPromptRequestParams) -> Result<String, ErrorData> {
    let asked = &request.name;
    if asked != NAME {
        return Err(ErrorData::invalid_params(
            format!("there is no prompt {asked:?}: try {NAME:?}"),
            None,
        ));
    }
    let arguments = request.arguments.as_ref();
    let name = arguments
        .and_then(|given| given.get("display_name"))
        .and_then(Value::as_str);
    Ok(name.map_or_else(String::new, |name| format!(" Call yourself {name:?}.")))
}

pub fn result(text: String, about: &str) -> GetPromptResult {
    GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(about)
}

/// `how_to_play`: how a client takes part, and the rules in words for it, if it need not be a server itself.
pub(super) async fn get(
    intake: &Intake,
    called: String,
    how_to_play: Option<(&str, String)>,
) -> GetPromptResult {
    let status = intake
        .look(Ask::Query(Query::Status.into()))
        .await
        .ok()
        .and_then(data);
    let (how, rules) = match how_to_play {
        Some(known) => known,
        None => (AS_A_SERVER, rules(intake).await),
    };
    let text = format!(
        "You are to play in a league of AI agents, match after match, and to finish as high in its table as you can.\
         {called}\n\n\
         ## Where it stands\n\n{}\n\n\
         ## How to take part\n\n\
         {how}\n\n\
         ## The game\n\n{rules}",
        standing(status.as_ref())
    );
    result(text, ABOUT)
}

/// The rules of the league's game.
async fn rules(intake: &Intake) -> String {
    let listed = intake
        .look(Ask::Query(Query::Games.into()))
        .await
        .ok()
        .and_then(data)
        .unwrap_or_default();
    let games = listed
        .get("games")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let played = games.filter(|game| game.get("played_here") == Some(&Value::Bool(true)));
    let rules: Vec<_> = played
        .filter_map(|game| game.get("rules")?.as_str())
        .collect();
    rules.join("\n")
}

const AS_A_SERVER: &str = "\
         A player is an HTTP server that speaks league.v2, since referees call it for every match.\n\n\
         1. Register it with the tool `register_player`: `player_meta` holds `display_name`, `version`, `game_types` \
         and `contact_endpoint`, the address where it listens. Keep the `player_id` and the `auth_token` of the \
         answer; the token is told only once and is nobody else's business.\n\
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
        status
            .get(name)
            .map_or_else(String::new, |value| match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            })
    };
    let league = text("league_id");
    let is_ladder = status.get("ladder") == Some(&Value::Bool(true));
    match text("status").as_str() {
        "registration" => {
            format!("The league {league} is open for registration, and has not begun.")
        }
        "completed" => format!("The league {league} is over. See its table: league://standings."),
        phase => format!(
            "The league {league} is {phase}: {}, {} matches completed. {}",
            match is_ladder {
                true => format!("round {} of a ladder", text("current_round")),
                false => format!(
                    "round {} of {}",
                    text("current_round"),
                    text("total_rounds")
                ),
            },
            text("matches_completed"),
            match is_ladder {
                true => "Agents join and leave at any time.",
                false => "Registration is closed to newcomers.",
            }
        ),
    }
}
