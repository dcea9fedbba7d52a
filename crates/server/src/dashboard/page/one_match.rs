//! A match as a line in a list, and as a page with its timeline. Pure.

use super::Versioned;
use super::positions::{self, Move};
use crate::dashboard::access::Access;
use crate::dashboard::exchanges::{MessageRenderer, MessageView};
use crate::dashboard::projection::{Projection, Snapshot};
use matchday_audit::describe;
use matchday_audit::league_view::MatchView;
use matchday_audit::log_set::LogSet;
use matchday_audit::model_calls::{ModelCallView, model_calls};
use matchday_audit::timeline::{self, absent_referees, paired};
use matchday_audit::verify::draw_proof;
use matchday_core::game::analysis::{Outlook, outlooks};
use matchday_core::game::view::View;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::protocol::messages::GameDetails;
use matchday_core::protocol::{GameType, MatchId};
use matchday_store::Exchange;
use matchday_store::redact::EndpointRedactor;
use serde::Serialize;
use serde_json::Value;

/// A match in a list.
pub(super) fn match_line(
    projection: &Projection,
    id: &MatchId,
    game: &Match,
    redactor: &EndpointRedactor,
    access: Access,
) -> MatchView {
    let text = |text: &str| {
        if access.endpoints() {
            text.to_owned()
        } else {
            redactor.redact(text)
        }
    };
    let assigned_at = projection.assigned_at.get(id).copied();
    MatchView::of(&projection.league, id, game, text).since(assigned_at, game)
}

/// A match with its timeline.
#[derive(Debug, Serialize)]
pub(crate) struct MatchPage {
    #[serde(flatten)]
    line: MatchView,
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<&'static str>,
    steps: Vec<Step>,
    messages: Vec<MessageView>,
    /// What models were told and said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    model_calls: Vec<ModelCallView>,
    /// Why that is not shown, if there is some of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    model_calls_withheld: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<Move>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    positions: Vec<View>,
    /// Who would win from each position, of a match that is decided: a running one must not get a solver.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outlook: Vec<Outlook>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<Draw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

#[derive(Debug, Serialize)]
struct Step {
    at: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct Draw {
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commitment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// How much of each player's part is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonces: Option<Value>,
    holds: bool,
    how: String,
    command: String,
}

const MODEL_CALLS_WITHHELD: &str = "What the models were told and what they said is shown when the league is over: an opponent must not read it before.";
const WITHHELD: &str = "This match is not decided yet: what its players say and choose is shown after that, so that nobody gains an advantage.";

/// What the stores hold of a match.
#[derive(Debug)]
pub(crate) struct MatchRecords {
    pub logs: LogSet,
    pub exchanges: Vec<Exchange>,
    /// Errors of stores that could not be read.
    pub errors: Vec<String>,
}

/// Whether a request may see the positions of a match: if both players see them, while it is played.
pub(crate) fn shows_positions(game_type: &GameType, game: &Match, access: Access) -> bool {
    is_open(game, access) || (game.in_play && positions::is_open_information(game_type))
}

/// Whether a request may see more of a match than its line and its positions.
fn is_open(game: &Match, access: Access) -> bool {
    access.undecided || game.decision.is_some()
}

/// `None` if there is no such match. `records` is shown only if the request may see it.
pub(crate) fn page(
    snapshot: &Snapshot,
    id: &MatchId,
    records: Option<&MatchRecords>,
    access: Access,
    file: &str,
) -> Option<Versioned<MatchPage>> {
    let projection = &*snapshot.projection;
    let game = projection.league.matches.get(id)?;
    let renderer = MessageRenderer::new(&projection.league, access);
    let line = match_line(
        projection,
        id,
        game,
        &EndpointRedactor::of(&projection.league),
        access,
    );
    let game_type = &projection.league.settings.game_type;
    let positions = if shows_positions(game_type, game, access) {
        positions::positions(game_type, game, exchanges(records))
    } else {
        Vec::new()
    };
    let records = records.filter(|_| is_open(game, access));
    let shown: Vec<Exchange> = exchanges(records)
        .iter()
        .filter(|exchange| !renderer.hides(exchange))
        .cloned()
        .collect();
    let withheld = shown.len() < exchanges(records).len();
    let decision = game.decision.as_ref();
    let begun = !game.attempts.is_empty();
    let page = MatchPage {
        line,
        withheld: (!is_open(game, access) && begun).then_some(WITHHELD),
        steps: records.map_or_else(Vec::new, |records| steps(records, id, &renderer)),
        messages: messages(&shown, &renderer),
        model_calls: model_calls(&shown),
        model_calls_withheld: withheld.then_some(MODEL_CALLS_WITHHELD),
        moves: decision.map_or_else(Vec::new, |decision| {
            positions::moves(game_type, decision, exchanges(records))
        }),
        outlook: decision.map_or_else(Vec::new, |decision| {
            outlooks(game_type, [&game.a, &game.b], &decision.result.details)
        }),
        positions,
        draw: records
            .zip(decision)
            .and_then(|(records, decision)| draw(records, id, decision, file)),
        missing: records
            .filter(|_| begun)
            .and_then(|records| missing(records, id, &renderer)),
    };
    Some(Versioned {
        version: snapshot.version(),
        page,
    })
}

fn exchanges(records: Option<&MatchRecords>) -> &[Exchange] {
    records.map_or(&[], |records| &records.exchanges)
}

fn steps(records: &MatchRecords, id: &MatchId, renderer: &MessageRenderer<'_>) -> Vec<Step> {
    let mut lines = timeline::match_events(&records.logs, id, &records.exchanges);
    lines.sort_by_key(|(at, _)| *at);
    lines
        .into_iter()
        .map(|(at, text)| Step {
            at: describe::time(at),
            text: renderer.text(&text),
        })
        .collect()
}

fn messages(exchanges: &[Exchange], renderer: &MessageRenderer<'_>) -> Vec<MessageView> {
    let mut pairs = paired(exchanges);
    pairs.sort_by_key(|(sent, _)| sent.at);
    let numbered = (1..).zip(pairs);
    numbered
        .map(|(number, (sent, received))| renderer.show(number, sent, received, true))
        .collect()
}

fn draw(records: &MatchRecords, id: &MatchId, decision: &Decision, file: &str) -> Option<Draw> {
    let details = &decision.result.details;
    let number = match &details.game {
        GameDetails::Parity(parity) => parity.drawn_number,
        GameDetails::Other(_) => None,
    };
    let reveal = details.fairness.as_ref();
    if number.is_none() && reveal.is_none() {
        return None;
    }
    let proof = records
        .logs
        .league
        .as_ref()
        .and_then(|log| draw_proof(&log.league, id));
    let how = match proof.as_deref() {
        Some("unproven") => {
            "The referee has given no proof, so nobody can check whether this number is fair.".to_owned()
        }
        Some(wrong) if wrong != "proven" => format!("This number failed the check: {wrong}."),
        _ => "The commitment stood in both invitations, before anyone had chosen. It is the hash of the secret together \
              with the league, the match and the attempt; what is drawn follows from the secret and both players' \
              nonces. So neither the referee nor a player could choose the outcome, and anyone who has these values can \
              recompute it."
            .to_owned(),
    };
    Some(Draw {
        number,
        parity: number.map(|number| matchday_core::protocol::messages::Parity::of(number).as_str()),
        commitment: reveal.map(|reveal| reveal.commitment.0.to_string()),
        proof: reveal.and_then(|reveal| serde_json::to_value(reveal.proof.as_ref()?).ok()),
        secret: reveal.map(|reveal| reveal.secret.to_string()),
        nonces: reveal.and_then(|reveal| serde_json::to_value(&reveal.nonces).ok()),
        holds: reveal.is_some() && proof.as_deref().is_none_or(|proof| proof == "proven"),
        how,
        command: format!("matchday verify {file}"),
    })
}

/// Says which store would add messages.
fn missing(records: &MatchRecords, id: &MatchId, renderer: &MessageRenderer<'_>) -> Option<String> {
    let absent = absent_referees(&records.logs, id, &records.exchanges);
    let mut gaps: Vec<String> = absent
        .iter()
        .map(|(referee, _)| {
            format!(
                "What {referee} and the players said to each other is in the store of {referee}: name it with \
                 --dashboard-stores to see it here."
            )
        })
        .collect();
    if gaps.is_empty() && records.exchanges.is_empty() {
        gaps.push(
            "No messages of this match were kept: its agents ran with --exchanges off.".to_owned(),
        );
    }
    gaps.extend(records.errors.iter().map(|error| renderer.text(error)));
    (!gaps.is_empty()).then(|| gaps.join(" "))
}
