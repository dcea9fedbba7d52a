//! A match as a line in a list, and as a page that tells its story. Pure.

use super::{Named, Versioned};
use crate::dashboard::annals::{Annals, Snapshot};
use crate::dashboard::exchanges::{Showing, Shown};
use crate::dashboard::redact::Redactor;
use crate::dashboard::viewer::Sees;
use crate::store::Exchange;
use crate::store::chronicle::Chronicle;
use crate::store::timeline::{self, absent_referees, paired};
use crate::store::words::of_time;
use matchday_core::league::fixture::{Decision, Match};
use matchday_core::protocol::messages::{ByPlayer, Culprit, GameDetails, GameStatus};
use matchday_core::protocol::{MatchId, PlayerId};
use serde::Serialize;
use serde_json::Value;

/// A match in a list.
#[derive(Debug, Serialize)]
pub(in crate::dashboard) struct Line {
    id: String,
    round: u32,
    a: Named,
    b: Named,
    #[serde(skip_serializing_if = "Option::is_none")]
    referee: Option<String>,
    state: &'static str,
    attempts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<GameStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<PlayerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<ByPlayer<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blame: Option<Blame>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Blame {
    culprit: Culprit,
    cause: String,
    /// Whose fault it is.
    players: Vec<String>,
}

impl Line {
    pub(in crate::dashboard) fn of(
        annals: &Annals,
        id: &MatchId,
        game: &Match,
        redactor: &Redactor,
        sees: Sees,
    ) -> Self {
        let league = &annals.league;
        let text = |text: &str| if sees.endpoints() { text.to_owned() } else { redactor.redact(text) };
        let decision = game.decision.as_ref();
        let state = match (decision, game.in_play, &game.planned) {
            (Some(_), ..) => "decided",
            (None, true, _) => "playing",
            (None, false, Some(_)) => "assigned",
            (None, false, None) => "scheduled",
        };
        let took =
            decision.zip(annals.assigned_at.get(id)).map(|(decision, begun)| decision.at.since(*begun));
        Self {
            id: id.to_string(),
            round: game.round_id.0,
            a: Named::player(league, &game.a),
            b: Named::player(league, &game.b),
            referee: game.referee().or(game.planned.as_ref()).map(ToString::to_string),
            state,
            attempts: game.attempts.len(),
            status: decision.map(|decision| decision.status),
            winner: decision.and_then(|decision| decision.result.winner.clone()),
            score: decision.map(|decision| decision.result.score.clone()),
            reason: decision.and_then(|decision| decision.result.reason.as_ref()).map(|why| text(why.raw())),
            blame: decision.and_then(|decision| blame(game, decision, text)),
            decided_at: decision.map(|decision| of_time(decision.at)),
            took_ms: took.and_then(|took| u64::try_from(took.as_millis()).ok()),
        }
    }
}

/// Who is to blame for a match that was not played out, in a sentence for each of them.
fn blame(game: &Match, decision: &Decision, text: impl Fn(&str) -> String) -> Option<Blame> {
    let blamed: Vec<_> =
        [&game.a, &game.b].into_iter().filter_map(|id| Some((id, decision.blame(id)?))).collect();
    let (_, first) = blamed.first()?;
    let cause = |(id, blame): &(&PlayerId, matchday_core::protocol::messages::Blame)| {
        let fault = timeline::fault(blame, blame.cause.words());
        text(&format!("{id} {}.", fault.trim_end_matches('.')))
    };
    Some(Blame {
        culprit: first.culprit,
        cause: blamed.iter().map(cause).collect::<Vec<_>>().join(" "),
        players: blamed.iter().map(|(id, _)| id.to_string()).collect(),
    })
}

/// A match with its story.
#[derive(Debug, Serialize)]
pub(in crate::dashboard) struct Page {
    #[serde(flatten)]
    line: Line,
    #[serde(skip_serializing_if = "Option::is_none")]
    withheld: Option<&'static str>,
    steps: Vec<Step>,
    messages: Vec<Shown>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<Move>,
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
struct Move {
    turn: usize,
    player: String,
    #[serde(rename = "move")]
    made: Value,
}

#[derive(Debug, Serialize)]
struct Draw {
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parity: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<String>,
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

const WITHHELD: &str = "This match is not decided yet: what its players say and choose is shown once it is, so that nobody can profit.";

/// What the stores at hand tell of a match.
#[derive(Debug)]
pub(in crate::dashboard) struct Told {
    pub(in crate::dashboard) chronicle: Chronicle,
    pub(in crate::dashboard) exchanges: Vec<Exchange>,
    /// What is wrong with a store that could not be read.
    pub(in crate::dashboard) trouble: Vec<String>,
}

/// Whether a viewer may read more of a match than its line.
pub(in crate::dashboard) fn is_open(game: &Match, sees: Sees) -> bool {
    sees.undecided || game.decision.is_some()
}

/// `None` if there is no such match. `told` is for those who may read it.
pub(in crate::dashboard) fn page(
    snapshot: &Snapshot,
    id: &MatchId,
    told: Option<&Told>,
    sees: Sees,
    file: &str,
) -> Option<Versioned<Page>> {
    let annals = &*snapshot.annals;
    let game = annals.league.matches.get(id)?;
    let showing = Showing::new(&annals.league, sees);
    let line = Line::of(annals, id, game, &Redactor::of(&annals.league), sees);
    let told = told.filter(|_| is_open(game, sees));
    let decision = game.decision.as_ref();
    let begun = !game.attempts.is_empty();
    let page = Page {
        line,
        withheld: (!is_open(game, sees) && begun).then_some(WITHHELD),
        steps: told.map_or_else(Vec::new, |told| steps(told, id, &showing)),
        messages: told.map_or_else(Vec::new, |told| messages(told, &showing)),
        moves: decision.map_or_else(Vec::new, moves),
        draw: told.zip(decision).and_then(|(told, decision)| draw(told, id, decision, file)),
        missing: told.filter(|_| begun).and_then(|told| missing(told, id, &showing)),
    };
    Some(Versioned { version: snapshot.version(), page })
}

fn steps(told: &Told, id: &MatchId, showing: &Showing<'_>) -> Vec<Step> {
    let mut lines = timeline::happened(&told.chronicle, id, &told.exchanges);
    lines.sort_by_key(|(at, _)| *at);
    lines.into_iter().map(|(at, text)| Step { at: of_time(at), text: showing.text(&text) }).collect()
}

fn messages(told: &Told, showing: &Showing<'_>) -> Vec<Shown> {
    let mut pairs = paired(&told.exchanges);
    pairs.sort_by_key(|(told, _)| told.at);
    let numbered = (1..).zip(pairs);
    numbered.map(|(number, (told, heard))| showing.show(number, told, heard, true)).collect()
}

fn moves(decision: &Decision) -> Vec<Move> {
    let details = &decision.result.details;
    if let GameDetails::Parity(parity) = &details.game {
        let made = parity.choices.iter().filter_map(|(id, choice)| Some((id, (*choice)?)));
        let moved = |(id, choice): (&PlayerId, matchday_core::protocol::messages::Parity)| Move {
            turn: 1,
            player: id.to_string(),
            made: choice.as_str().into(),
        };
        return made.map(moved).collect();
    }
    let turns = (1..).zip(details.turn_log.iter().flatten());
    let of_turn = |(turn, made): (usize, &ByPlayer<Value>)| {
        let one = |(id, made): (&PlayerId, &Value)| Move { turn, player: id.to_string(), made: made.clone() };
        made.iter().map(one).collect::<Vec<_>>()
    };
    turns.flat_map(of_turn).collect()
}

fn draw(told: &Told, id: &MatchId, decision: &Decision, file: &str) -> Option<Draw> {
    let details = &decision.result.details;
    let number = match &details.game {
        GameDetails::Parity(parity) => parity.drawn_number,
        GameDetails::Other(_) => None,
    };
    let reveal = details.fairness.as_ref();
    if number.is_none() && reveal.is_none() {
        return None;
    }
    let proof = told.chronicle.league.as_ref().and_then(|history| history.proof(id));
    let how = match proof.as_deref() {
        Some("unproven") => {
            "The referee has offered no proof: of this draw nobody can say whether it was fair.".to_owned()
        }
        Some(wrong) if wrong != "proven" => format!("This draw does not hold: {wrong}."),
        _ => "The commitment stood in both invitations, before anyone had chosen. It is the hash of the secret together \
              with the league, the match and the attempt; what is drawn follows from the secret and both players' \
              nonces. So neither the referee nor a player could choose the outcome, and whoever has these values can \
              recompute it."
            .to_owned(),
    };
    Some(Draw {
        number,
        parity: number.map(|number| matchday_core::protocol::messages::Parity::of(number).as_str()),
        commitment: reveal.map(|reveal| reveal.commitment.0.to_string()),
        scheme: reveal.map(|reveal| reveal.scheme.to_string()),
        proof: reveal.and_then(|reveal| serde_json::to_value(reveal.proof.as_ref()?).ok()),
        secret: reveal.map(|reveal| reveal.secret.to_string()),
        nonces: reveal.and_then(|reveal| serde_json::to_value(&reveal.nonces).ok()),
        holds: reveal.is_some() && proof.as_deref().is_none_or(|proof| proof == "proven"),
        how,
        command: format!("matchday verify {file}"),
    })
}

/// Which store would tell more.
fn missing(told: &Told, id: &MatchId, showing: &Showing<'_>) -> Option<String> {
    let absent = absent_referees(&told.chronicle, id, &told.exchanges);
    let mut gaps: Vec<String> = absent
        .iter()
        .map(|(referee, _)| {
            format!(
                "What {referee} and the players said to each other is in the store of {referee}: name it with \
                 --dashboard-stores to see it here."
            )
        })
        .collect();
    if gaps.is_empty() && told.exchanges.is_empty() {
        gaps.push("No messages of this match were kept: its agents ran with --exchanges off.".to_owned());
    }
    gaps.extend(told.trouble.iter().map(|trouble| showing.text(trouble)));
    (!gaps.is_empty()).then(|| gaps.join(" "))
}
