//! The draw is uniform, can be recomputed by anyone, and cannot be bent.

use matchday_core::entropy::Entropy;
use matchday_core::fair::{Dice, MatchDraw, Secret, Unfair, verify};
use matchday_core::protocol::draw::{Commitment, Reveal};
use matchday_core::protocol::messages::ByPlayer;
use matchday_core::protocol::nonce::Nonce;
use matchday_core::protocol::{Attempt, LeagueId, MatchId, PlayerId, RoundId};
use matchday_core::signature::SigningKey;
use matchday_core::signed_move::SignedMoves;

fn league() -> LeagueId {
    LeagueId::new("league_2025_even_odd")
}

fn match_id() -> MatchId {
    MatchId::numbered(RoundId(1), 1)
}

fn players() -> (PlayerId, PlayerId) {
    (PlayerId::numbered(1), PlayerId::numbered(2))
}

fn secret() -> Secret {
    Secret::from_bytes(std::array::from_fn(|i| i as u8))
}

fn nonce(text: &str) -> Nonce {
    Nonce(text.into())
}

fn nonces(a: &str, b: &str) -> ByPlayer<Nonce> {
    let (p1, p2) = players();
    ByPlayer::pair((p1, nonce(a)), (p2, nonce(b)))
}

fn draw_of<'a>(league_id: &'a LeagueId, match_id: &'a MatchId, attempt: u32) -> MatchDraw<'a> {
    MatchDraw {
        league_id,
        match_id,
        attempt: Attempt(attempt),
    }
}

fn reveal() -> Reveal {
    draw_of(&league(), &match_id(), 1).reveal(&secret(), nonces("red", "blue"))
}

fn dice(match_id: &MatchId, attempt: u32, secret: &Secret, nonces: [&Nonce; 2]) -> Dice {
    draw_of(&league(), match_id, attempt).dice(secret, nonces)
}

fn check(reveal: &Reveal) -> Result<Vec<u32>, Unfair> {
    let (a, b) = players();
    verify(reveal, &league(), &match_id(), Attempt::FIRST, &a, &b).map(numbers)
}

fn numbers(mut dice: Dice) -> Vec<u32> {
    (0..40).map(|_| dice.uniform(1..=10)).collect()
}

fn honest() -> Vec<u32> {
    numbers(dice(
        &match_id(),
        1,
        &secret(),
        [&nonce("red"), &nonce("blue")],
    ))
}

/// Of ten equally likely numbers; 27.877 is passed by one honest source in a thousand.
fn chi_squared(counts: [u32; 10]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / 10.0;
    counts
        .iter()
        .map(|&n| (f64::from(n) - expected).powi(2) / expected)
        .sum()
}

#[test]
fn a_million_matches_draw_uniformly() {
    let mut entropy = Entropy::numbered(2025);
    let mut counts = [0; 10];
    for n in 0..1_000_000_u64 {
        let nonces = [nonce("P01"), Nonce(smol_str::format_smolstr!("{n}"))];
        let mut dice = dice(
            &match_id(),
            1,
            &Secret::draw(&mut entropy),
            nonces.each_ref(),
        );
        counts[dice.uniform(1..=10) as usize - 1] += 1;
    }
    let statistic = chi_squared(counts);
    println!("1,000,000 draws: {counts:?}, chi-squared {statistic:.3} with 9 degrees of freedom");
    assert!(statistic < 27.877, "{counts:?}: {statistic}");
}

#[test]
fn a_reveal_gives_the_very_draw() {
    assert_eq!(check(&reveal()), Ok(honest()));
}

/// The expected values were computed by a separate program from the description of the scheme.
#[test]
fn the_scheme_gives_what_it_always_gave() {
    let commitment = "ff969728639875bd72723d19ce8eb6e0bd73009efefcbda4ccc7c175ded18edb";
    assert_eq!(reveal().commitment, Commitment(commitment.into()));
    assert_eq!(
        check(&reveal()).unwrap()[..10],
        [5, 1, 4, 2, 1, 3, 8, 8, 3, 3]
    );
}

/// The expected values were computed by a separate program from the description of the scheme.
#[test]
fn what_a_player_commits_to_and_signs_is_what_the_description_says() {
    let (league, match_id, (a, b)) = (league(), match_id(), players());
    let draw = draw_of(&league, &match_id, 1);
    let theirs = draw.nonce_commitment(&b, &nonce("blue"));
    assert_eq!(
        theirs.text(),
        "5f964371914bd347952b00426fdf5522d7c5f4691da4884947d4155554a5142c"
    );
    let commitment = draw.commitment(&secret());
    let even = serde_json::json!("even");
    let moves = SignedMoves {
        draw,
        player_id: &a,
        commitment: &commitment,
        opponent_nonce: Some(&theirs),
        nonce: &nonce("red"),
        choices: vec![&even],
    };
    assert_eq!(
        moves.sign(&SigningKey::from_seed([1; 32])).to_string(),
        "205f36c82888361af2c61f8c52a7439f48fb53f4f58a7dc1350afc9704a04654\
         0abdc544f9d368e6389ec700d30a98f18a24a66b97e568fab96e4122eea9a90a"
    );
}

#[test]
fn a_changed_secret_is_found_out() {
    let reveal = reveal();
    for at in 0..reveal.secret.len() {
        let mut digits: Vec<u8> = reveal.secret.bytes().collect();
        digits[at] = if digits[at] == b'7' { b'8' } else { b'7' };
        let forged = Reveal {
            secret: String::from_utf8(digits).unwrap().into(),
            ..reveal.clone()
        };
        assert_eq!(
            check(&forged),
            Err(Unfair::Commitment(reveal.commitment.0.clone())),
            "{at}"
        );
    }
    for bad in ["", "00", &"g".repeat(64), &reveal.secret.to_uppercase()] {
        let forged = Reveal {
            secret: bad.into(),
            ..reveal.clone()
        };
        assert_eq!(check(&forged), Err(Unfair::Secret), "{bad}");
    }
}

#[test]
fn a_changed_nonce_changes_the_draw() {
    for (a, b) in [
        ("reD", "blue"),
        ("red", "blu"),
        ("redb", "lue"),
        ("blue", "red"),
        ("", "redblue"),
    ] {
        let forged = Reveal {
            nonces: nonces(a, b),
            ..reveal()
        };
        assert_ne!(check(&forged).unwrap(), honest(), "{a} {b}");
    }
}

#[test]
fn a_reveal_is_good_for_its_league_match_and_attempt_alone() {
    let (a, b) = players();
    let unfair = Unfair::Commitment(reveal().commitment.0);
    for (league, match_id, attempt) in [
        (LeagueId::new("league_2026"), match_id(), Attempt::FIRST),
        (league(), MatchId::numbered(RoundId(1), 2), Attempt::FIRST),
        (league(), match_id(), Attempt(2)),
    ] {
        let verdict = verify(&reveal(), &league, &match_id, attempt, &a, &b);
        assert_eq!(verdict.map(numbers), Err(unfair.clone()));
    }
}

#[test]
fn another_attempt_or_match_draws_anew_even_from_the_same_secret() {
    let nonces = [&nonce("red"), &nonce("blue")];
    assert_ne!(numbers(dice(&match_id(), 2, &secret(), nonces)), honest());
    assert_ne!(
        numbers(dice(&MatchId::new("R1M2"), 1, &secret(), nonces)),
        honest()
    );
}

#[test]
fn both_players_nonces_must_be_there_and_no_others() {
    let ((a, b), c) = (players(), PlayerId::numbered(3));
    let all = [
        (a.clone(), nonce("red")),
        (b.clone(), nonce("blue")),
        (c, nonce("green")),
    ];
    for picked in [&all[..1], &all[1..], &all[..]] {
        let forged = Reveal {
            nonces: picked.iter().cloned().collect(),
            ..reveal()
        };
        assert_eq!(check(&forged), Err(Unfair::Nonces(a.clone(), b.clone())));
    }
}

#[test]
fn another_scheme_is_not_guessed_at() {
    let forged = Reveal {
        scheme: "matchday-draw-9".into(),
        ..reveal()
    };
    assert_eq!(
        check(&forged),
        Err(Unfair::Scheme("matchday-draw-9".into()))
    );
}

#[test]
fn a_secret_is_stored_exactly_and_never_printed() {
    let stored = serde_json::to_string(&secret()).unwrap();
    assert_eq!(serde_json::from_str::<Secret>(&stored).unwrap(), secret());
    assert_eq!(format!("{:?}", secret()), "Secret(..)");
}

#[test]
fn a_range_is_kept_and_an_empty_one_gives_its_start() {
    let mut dice = dice(&match_id(), 1, &secret(), [&nonce("a"), &nonce("b")]);
    for _ in 0..100 {
        assert!((5..=7).contains(&dice.uniform(5..=7)));
        dice.uniform(0..=u32::MAX);
    }
    #[allow(clippy::reversed_empty_ranges, reason = "that is the case at hand")]
    let drawn = dice.uniform(4..=3);
    assert_eq!(drawn, 4);
}
