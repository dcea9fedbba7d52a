//! A referee that cheats: what it reports is checked against what the players signed and what it was bound to, before
//! anything is recorded.

use crate::desk::*;
use matchday_core::fair::{MatchDraw, Secret};
use matchday_core::league::{LeagueEvent, LeagueSettings, LossCause, ResultProof};
use matchday_core::protocol::draw::{Proof, Reveal};
use matchday_core::protocol::messages::*;
use matchday_core::protocol::nonce::{Nonce, NonceCommitment};
use matchday_core::protocol::{
    Attempt, Body, ConversationId, ErrorCode, MatchId, PlayerId, RefereeId, Sender,
};
use matchday_core::signature::SigningKey;
use matchday_core::signed_move::SignedMoves;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn key(player: u32) -> SigningKey {
    SigningKey::from_seed([u8::try_from(player).unwrap(); 32])
}

pub(crate) fn p(number: u32) -> PlayerId {
    PlayerId::numbered(number)
}

pub(crate) fn r1m1() -> MatchId {
    MatchId::new("R1M1")
}

/// A league of two players that sign, if they are among `keyed`, and of `referees` that announce the new scheme.
fn signed_league(keyed: &[u32], referees: u32, capabilities: &[&str]) -> Desk {
    let referees: Vec<&[&str]> = (0..referees).map(|_| capabilities).collect();
    mixed_league(quick(), keyed, &referees)
}

/// A league of two players that sign, if they are among `keyed`, and of referees with these capabilities.
pub(crate) fn mixed_league(settings: LeagueSettings, keyed: &[u32], referees: &[&[&str]]) -> Desk {
    let mut desk = Desk::new(settings);
    for (number, capabilities) in (1..).zip(referees) {
        let capabilities = capabilities.iter().map(|name| (*name).into()).collect();
        let meta = RefereeMeta {
            capabilities,
            ..referee_meta(number, 2)
        };
        let sender = Sender::Referee(RefereeId::new(format!("agent{number}")));
        let message = desk.message(
            &sender,
            RefereeRegisterRequest {
                join_code: None,
                referee_meta: meta,
            },
        );
        let answer = desk.ask(message);
        desk.tokens
            .insert(answer_id(&answer.body), answer.envelope.auth_token.unwrap());
    }
    for number in 1..=2 {
        let public_key = keyed.contains(&number).then(|| key(number).public_key());
        let meta = PlayerMeta {
            public_key,
            ..player_meta(number)
        };
        let sender = Sender::Player(PlayerId::new(format!("agent{number}")));
        desk.ask_as(
            &sender,
            LeagueRegisterRequest {
                join_code: None,
                player_meta: meta,
            },
        );
    }
    desk.start();
    desk.settle_received();
    desk
}

/// A league of two players that sign.
fn two_signers(referees: u32) -> Desk {
    signed_league(&[1, 2], referees, &[MATCH_TOKENS, DRAW_2])
}

/// An attempt at R1M1 as players and referee go through it.
pub(crate) struct Played {
    pub(crate) attempt: Attempt,
    pub(crate) secret: Secret,
    pub(crate) nonces: [Nonce; 2],
    pub(crate) choices: [Parity; 2],
    pub(crate) keyed: Vec<u32>,
}

impl Played {
    pub(crate) fn new(attempt: u32) -> Self {
        let nonces = ["red", "blue"].map(|text| Nonce(format!("{text}-{attempt}").into()));
        let secret = Secret::from_bytes([9; 32]);
        let choices = [Parity::Even, Parity::Odd];
        Self {
            attempt: Attempt(attempt),
            secret,
            nonces,
            choices,
            keyed: vec![1, 2],
        }
    }

    fn draw<'a>(
        &self,
        league_id: &'a matchday_core::protocol::LeagueId,
        match_id: &'a MatchId,
    ) -> MatchDraw<'a> {
        MatchDraw {
            league_id,
            match_id,
            attempt: self.attempt,
        }
    }

    /// What each player signs, with the commitments that it was shown.
    fn reveal(&self) -> Reveal {
        let league_id = league_id();
        let match_id = r1m1();
        let draw = self.draw(&league_id, &match_id);
        let [a, b] = self.nonces.clone();
        let commitments: [NonceCommitment; 2] = [
            draw.nonce_commitment(&p(1), &a),
            draw.nonce_commitment(&p(2), &b),
        ];
        let commitment = draw.commitment(&self.secret);
        let sign = |number: u32| {
            let own = usize::try_from(number).unwrap() - 1;
            let choice = json!(self.choices[own].as_str());
            let moves = SignedMoves {
                draw,
                player_id: &p(number),
                commitment: &commitment,
                opponent_nonce: Some(&commitments[1 - own]),
                nonce: &self.nonces[own],
                choices: vec![&choice],
            };
            (p(number), moves.sign(&key(number)))
        };
        let reveal = draw.reveal(&self.secret, ByPlayer::pair((p(1), a), (p(2), b)));
        Reveal {
            nonce_commitments: Some(Box::new(
                [1, 2].map(p).into_iter().zip(commitments).collect(),
            )),
            signatures: Some(Box::new(
                self.keyed.iter().map(|number| sign(*number)).collect(),
            )),
            ..reveal
        }
        .with_proof()
    }

    fn number(&self) -> u8 {
        let league_id = league_id();
        let match_id = r1m1();
        let [a, b] = &self.nonces;
        self.draw(&league_id, &match_id)
            .dice(&self.secret, [a, b])
            .uniform(1..=10) as u8
    }

    /// The honest report.
    pub(crate) fn report(&self, desk: &Desk) -> MatchResultReport {
        let number = self.number();
        let right = self.choices.map(|choice| choice == Parity::of(number));
        let (score, status) = match right {
            [true, false] => ((3, 0), GameStatus::Win),
            [false, true] => ((0, 3), GameStatus::Win),
            _ => ((1, 1), GameStatus::Draw),
        };
        let mut report = desk.report_of("R1M1", score);
        let result = Arc::make_mut(&mut report.result);
        result.status = Some(status);
        result.details.game = GameDetails::Parity(ParityDetails {
            drawn_number: Some(number),
            number_parity: Some(Parity::of(number)),
            choices: ByPlayer::pair((p(1), Some(self.choices[0])), (p(2), Some(self.choices[1]))),
        });
        result.details.fairness = Some(self.reveal());
        report
    }
}

/// What is recorded of the proof of R1M1.
pub(crate) fn proof(desk: &Desk) -> Option<ResultProof> {
    desk.manager.league().matches[&r1m1()]
        .decision
        .as_ref()
        .map(|decision| decision.proof)
}

pub(crate) fn holder(desk: &Desk) -> Option<RefereeId> {
    desk.open_matches()
        .into_iter()
        .find(|(id, ..)| *id == r1m1())
        .map(|(.., referee)| referee)
}

pub(crate) fn send(desk: &mut Desk, attempt: u32, report: MatchResultReport) -> Body {
    let by = Sender::Referee(holder(desk).unwrap());
    let mut message = desk.message(&by, report);
    message.envelope.conversation_id = ConversationId::of_match(&r1m1(), Attempt(attempt));
    desk.ask(message).body
}

/// Spoils the honest report; the manager must refuse it by naming `path`, blame the referee, and give the match to another.
fn refused(spoil: impl FnOnce(&mut MatchResult), path: &str) {
    let mut desk = two_signers(2);
    let cheat = holder(&desk).unwrap();
    let mut report = Played::new(1).report(&desk);
    spoil(Arc::make_mut(&mut report.result));
    let Body::LeagueError(error) = send(&mut desk, 1, report) else {
        panic!("{path}: it was recorded")
    };
    assert_eq!(error.error_code, ErrorCode::InvalidFormat, "{error:?}");
    assert_eq!(
        error.context.as_ref().and_then(|it| it["path"].as_str()),
        Some(path),
        "{error:?}"
    );
    assert_eq!(desk.manager.league().matches_decided, 0);
    let blamed = desk.events.iter().find_map(|(_, event)| match event {
        LeagueEvent::AttemptLost {
            referee_id,
            culprit,
            cause,
            reason,
            ..
        } => Some((referee_id.clone(), *culprit, *cause, reason.clone())),
        _ => None,
    });
    let (referee, culprit, cause, reason) = blamed.expect("somebody is blamed");
    assert_eq!(
        (referee, culprit, cause),
        (cheat.clone(), Culprit::Referee, LossCause::Refused)
    );
    assert!(reason.raw().contains(path), "{reason:?}");
    assert_ne!(
        holder(&desk).unwrap(),
        cheat,
        "another referee plays it again"
    );
}

fn parity(result: &mut MatchResult) -> &mut ParityDetails {
    match &mut result.details.game {
        GameDetails::Parity(details) => details,
        GameDetails::Other(_) => panic!("even/odd"),
    }
}

fn reveal(result: &mut MatchResult) -> &mut Reveal {
    result.details.fairness.as_mut().unwrap()
}

/// Gives the win to whom the number gives it, so that nothing but the proof speaks against the report.
fn follow(result: &mut MatchResult, winner: Option<u32>) {
    let points = |number| match winner {
        Some(winner) if winner == number => 3,
        Some(_) => 0,
        None => 1,
    };
    result.winner = winner.map(p);
    result.score = ByPlayer::pair((p(1), points(1)), (p(2), points(2)));
    result.status = Some(if winner.is_some() {
        GameStatus::Win
    } else {
        GameStatus::Draw
    });
}

#[test]
fn an_honest_signed_report_is_recorded() {
    let mut desk = two_signers(1);
    let report = Played::new(1).report(&desk);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    assert_eq!(desk.manager.league().phase, Phase::Completed);
    assert_eq!(proof(&desk), Some(ResultProof::Proven));
}

#[test]
fn a_victims_choice_that_is_reported_reversed_is_refused() {
    refused(
        |result| {
            let details = parity(result);
            details.choices = ByPlayer::pair((p(1), Some(Parity::Odd)), (p(2), Some(Parity::Odd)));
            follow(result, None);
        },
        "result.details.fairness.signatures.P01",
    );
}

#[test]
fn another_secret_than_the_one_that_was_committed_to_is_refused() {
    let path = "result.details.fairness.commitment";
    refused(
        |result| reveal(result).secret = "00".repeat(32).into(),
        path,
    );
    // A secret and a commitment that fit each other, and not what the players were shown.
    let other = Played {
        secret: Secret::from_bytes([1; 32]),
        ..Played::new(1)
    };
    let honest = Played::new(1).reveal();
    refused(
        |result| {
            let forged = Reveal {
                signatures: honest.signatures.clone(),
                ..other.reveal()
            };
            result.details.fairness = Some(forged);
        },
        "result.details.fairness.signatures.P01",
    );
}

#[test]
fn a_number_that_was_not_drawn_is_refused_whichever_player_wins_by_it() {
    let number = Played::new(1).number();
    for other in (1..=10).filter(|other| *other != number) {
        refused(
            |result| {
                let details = parity(result);
                (details.drawn_number, details.number_parity) =
                    (Some(other), Some(Parity::of(other)));
                let winner = if Parity::of(other) == Parity::Even {
                    1
                } else {
                    2
                };
                follow(result, Some(winner));
            },
            if Parity::of(other) == Parity::of(number) {
                "result.details"
            } else {
                "result.winner"
            },
        );
    }
}

#[test]
fn a_winner_whom_number_and_choices_contradict_is_refused() {
    let winner = if Parity::of(Played::new(1).number()) == Parity::Even {
        2
    } else {
        1
    };
    refused(|result| follow(result, Some(winner)), "result.winner");
    refused(|result| follow(result, None), "result.winner");
}

#[test]
fn nonces_and_signatures_that_do_not_fit_are_refused() {
    let fairness = |field: &str| format!("result.details.fairness.{field}");
    let others = |result: &mut MatchResult| {
        let [_, blue] = Played::new(1).nonces;
        reveal(result).nonces = ByPlayer::pair((p(1), Nonce("green".into())), (p(2), blue));
    };
    refused(others, &fairness("nonce_commitments"));
    let claimed = |result: &mut MatchResult| {
        reveal(result).proof = Some(Box::new(ByPlayer::pair(
            (p(1), Proof::Signed),
            (p(2), Proof::Nonce),
        )));
    };
    refused(claimed, &fairness("proof"));
}

#[test]
fn a_nonce_that_was_tried_after_the_opponents_was_known_is_refused() {
    // P02 is the referee's friend and signs whatever suits it; P01 was shown its first commitment, and signed that.
    let honest = Played::new(1);
    let friend = Played {
        nonces: [honest.nonces[0].clone(), Nonce("better".into())],
        ..Played::new(1)
    };
    let signed_by_victim = *honest.reveal().signature(&p(1)).unwrap();
    refused(
        |result| {
            let forged = friend.reveal();
            let of_friend = *forged.signature(&p(2)).unwrap();
            let signatures = ByPlayer::pair((p(1), signed_by_victim), (p(2), of_friend));
            let number = friend.number();
            result.details.fairness = Some(Reveal {
                signatures: Some(Box::new(signatures)),
                ..forged
            });
            let details = parity(result);
            (details.drawn_number, details.number_parity) =
                (Some(number), Some(Parity::of(number)));
            follow(
                result,
                Some(if Parity::of(number) == Parity::Even {
                    1
                } else {
                    2
                }),
            );
        },
        "result.details.fairness.signatures.P01",
    );
}

#[test]
fn a_signature_of_another_attempt_proves_nothing() {
    let earlier = Played::new(1).reveal().signatures;
    let mut desk = two_signers(1);
    // The first attempt is handed back; in the second the referee uses what was signed in the first.
    let context = json!({"match_id": "R1M1"}).as_object().cloned();
    desk.ask_any_as(
        &referee(1),
        LeagueError::new(ErrorCode::Internal, "no", None, context),
    );
    desk.pass(std::time::Duration::from_secs(3));
    desk.settle_received();
    let mut report = Played {
        nonces: Played::new(1).nonces,
        ..Played::new(2)
    }
    .report(&desk);
    reveal(Arc::make_mut(&mut report.result)).signatures = earlier;
    let Body::LeagueError(error) = send(&mut desk, 2, report) else {
        panic!("it was recorded")
    };
    assert!(
        error
            .error_message
            .as_ref()
            .unwrap()
            .raw()
            .contains("signatures.P01"),
        "{error:?}"
    );
}

#[test]
fn no_result_of_an_attempt_that_was_given_back_is_taken() {
    let mut desk = two_signers(1);
    let report = Played::new(1).report(&desk);
    let context = json!({"match_id": "R1M1"}).as_object().cloned();
    desk.ask_any_as(
        &referee(1),
        LeagueError::new(ErrorCode::Internal, "no", None, context),
    );
    desk.pass(std::time::Duration::from_secs(3));
    assert_eq!(
        error_code(&send(&mut desk, 1, report)),
        ErrorCode::ResultConflict
    );
    assert_eq!(desk.manager.league().matches_decided, 0);
}

#[test]
fn a_referee_that_announced_the_scheme_cannot_fall_back_behind_it() {
    refused(
        |result| result.details.fairness = None,
        "result.details.fairness",
    );
    refused(
        |result| reveal(result).scheme = "coin-toss-1".into(),
        "result.details.fairness.scheme",
    );
    refused(
        |result| reveal(result).signatures = None,
        "result.details.fairness.proof",
    );
    refused(
        |result| {
            let bare = reveal(result).clone();
            result.details.fairness = Some(
                Reveal {
                    signatures: None,
                    ..bare
                }
                .with_proof(),
            );
        },
        "result.details.fairness.signatures.P01",
    );
}

/// A referee reports a match without having announced that it proves.
fn told_by_another_make(keyed: &[u32], fairness: Option<Reveal>) -> Body {
    let mut desk = signed_league(keyed, 1, &[MATCH_TOKENS]);
    let mut report = desk.report_of("R1M1", (3, 0));
    Arc::make_mut(&mut report.result).details.fairness = fairness;
    send(&mut desk, 1, report)
}

#[test]
fn where_no_referee_proves_one_may_report_without_proof() {
    assert!(matches!(
        told_by_another_make(&[1, 2], None),
        Body::MatchResultAck(_)
    ));
}

#[test]
fn a_reveal_that_nobody_asked_for_must_fit_too() {
    let league_id = league_id();
    let match_id = r1m1();
    let draw = MatchDraw {
        league_id: &league_id,
        match_id: &match_id,
        attempt: Attempt(1),
    };
    let reveal = (1..=255).find_map(|byte| {
        let (secret, [a, b]) = (Secret::from_bytes([byte; 32]), Played::new(1).nonces);
        let eight = draw.dice(&secret, [&a, &b]).uniform(1..=10) == 8;
        eight.then(|| draw.reveal(&secret, ByPlayer::pair((p(1), a), (p(2), b))))
    });
    assert!(matches!(
        told_by_another_make(&[], reveal.clone()),
        Body::MatchResultAck(_)
    ));
    let with_secret = |reveal| Reveal {
        secret: "00".repeat(32).into(),
        ..reveal
    };
    let by_another_scheme = |reveal| Reveal {
        scheme: "coin-toss-1".into(),
        ..reveal
    };
    for forged in [
        reveal.clone().map(with_secret),
        reveal.map(by_another_scheme),
    ] {
        assert_eq!(
            error_code(&told_by_another_make(&[], forged)),
            ErrorCode::InvalidFormat
        );
    }
}

#[test]
fn players_without_a_key_prove_their_nonces_and_nobody_signs_for_them() {
    let mut desk = signed_league(&[1], 1, &[MATCH_TOKENS, DRAW_2]);
    let report = Played {
        keyed: vec![1],
        ..Played::new(1)
    }
    .report(&desk);
    let told = report.result.details.fairness.clone().unwrap();
    let proof = serde_json::to_value(told.proof).unwrap();
    assert_eq!(proof, json!({"P01": "signed", "P02": "nonce"}));
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
    let mut desk = signed_league(&[1], 1, &[MATCH_TOKENS, DRAW_2]);
    let report = Played::new(1).report(&desk);
    let Body::LeagueError(error) = send(&mut desk, 1, report) else {
        panic!("it was recorded")
    };
    assert!(
        error
            .error_message
            .as_ref()
            .unwrap()
            .raw()
            .contains("registered no key"),
        "{error:?}"
    );
}

#[test]
fn a_player_that_registers_another_key_during_a_match_does_not_make_its_report_wrong() {
    let mut desk = two_signers(1);
    let report = Played::new(1).report(&desk);
    let meta = PlayerMeta {
        public_key: Some(key(7).public_key()),
        ..player_meta(1)
    };
    let rejoined = LeagueEvent::PlayerRejoined {
        player_id: p(1),
        meta,
        dialect: matchday_core::protocol::dialect::Dialect::Standard,
        request: requested(desk.now),
    };
    matchday_core::agent::Agent::apply(&mut desk.manager, desk.now, &rejoined);
    assert!(matches!(
        send(&mut desk, 1, report),
        Body::MatchResultAck(_)
    ));
}
