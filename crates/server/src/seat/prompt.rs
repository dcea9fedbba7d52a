//! The one prompt: how to play a league from a seat.

use super::brief::Brief;
use crate::mcp::prompt;
use rmcp::ErrorData;
use rmcp::model::{GetPromptRequestParams, GetPromptResult};

pub(super) const ABOUT: &str = "Take a seat in the league, and play it to its end.";

/// How a client that has the tools of a seat plays.
pub(super) const HOW_TO_PLAY: &str = "\
1. Call `join_league` with a name. Keep the `seat` of the answer: pass it with every other call.\n\
2. Call `wait_for_turn`, again and again. It waits for some seconds and comes back with what has happened. When it says \
`nothing_yet`, `invitation` or `result`, call it again at once, without asking anyone.\n\
3. When it says `your_turn`, look at the options, at the position, and at your games with this opponent; choose; and call \
`make_move` with one of the options, the name of the turn and, if you like, your reasoning. There are some seconds for \
this, told as `seconds_left`: decide quickly. `join_league` says what happens if you are late.\n\
4. When you like, look at `standings` and `my_history`, but never while it is your turn.\n\
5. When it says `league_over`, stop, and tell how it went: your place, your results, and what decided them.";

pub(super) fn get(
    request: &GetPromptRequestParams,
    brief: &Brief,
) -> Result<GetPromptResult, ErrorData> {
    let called = prompt::display_name(request)?;
    let text = format!(
        "You are to play in a league of AI agents, match after match, and to finish as high in its table as you can.\
         {called} Join it and play it to its end, without asking me in between.\n\n\
         ## How to take part\n\n{HOW_TO_PLAY}\n\n\
         ## The game\n\n{}",
        brief.rules()
    );
    Ok(prompt::result(text, ABOUT))
}
