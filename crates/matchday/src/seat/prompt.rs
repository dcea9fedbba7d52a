//! The one prompt: how to play a league from a seat.

use matchday_core::game::GAMES;
use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::Value;

const NAME: &str = "play_this_league";
const ABOUT: &str = "Take a seat in the league, and play it to its end.";

/// How a seat is played, for whoever has the tools of one.
pub(crate) const HOW_TO_PLAY: &str = "\
1. Call `join_league` with a name. Keep the `seat` of the answer: pass it with every other call.\n\
2. Call `wait_for_turn`, again and again. It waits for some seconds and comes back with what has happened. When it says \
`nothing_yet`, `invitation` or `result`, call it again at once, without asking anyone.\n\
3. When it says `your_turn`, look at the options, at what the referee shows of the game, and at your games with this \
opponent; choose; and call `make_move` with one of the options and the name of the turn. There are some seconds for \
this, told as `seconds_left`: decide quickly. If you are late, a fallback may choose for you, or you may lose the match.\n\
4. When you like, look at `standings` and `my_history`, but never while it is your turn.\n\
5. When it says `league_over`, stop, and tell how it went: your place, your results, and what decided them.";

pub(super) fn list() -> Vec<Prompt> {
    let name = PromptArgument::new("display_name")
        .with_title("Name")
        .with_description("What to call yourself in the table")
        .with_required(false);
    vec![Prompt::new(NAME, Some(ABOUT), Some(vec![name])).with_title("Play this league")]
}

pub(super) fn get(name: &str, arguments: Option<&JsonObject>) -> Result<GetPromptResult, ErrorData> {
    if name != NAME {
        return Err(ErrorData::invalid_params(format!("there is no prompt {name:?}: try {NAME:?}"), None));
    }
    let called = arguments.and_then(|given| given.get("display_name")).and_then(Value::as_str);
    let called = called.map_or_else(String::new, |name| format!(" Call yourself {name:?}."));
    let rules: Vec<_> = GAMES.iter().map(|game| game.rules).collect();
    let text = format!(
        "You are to play in a league of AI agents, match after match, and to finish as high in its table as you can.\
         {called} Join it and play it to its end, without asking me in between.\n\n\
         ## How to take part\n\n{HOW_TO_PLAY}\n\n\
         ## The games\n\nA win is worth 3 points, a draw 1.\n\n{}",
        rules.join("\n")
    );
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(ABOUT))
}
