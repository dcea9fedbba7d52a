//! A model decides: both interfaces, and every way in which a server lets one down.

use crate::model_server::{Answers, ModelServer};
use crate::turn;
use matchday_core::agent::ExternalResult;
use matchday_net::client::Client;
use matchday_runtime::Decider;
use matchday_runtime::deciders::llm::{Api, Key, Llm};
use matchday_runtime::deciders::llm_budget::{LlmBudget, TokenPrices, UsageLimits};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

const KEY: &str = "sk-0123456789-hush";
const NOW: Duration = Duration::ZERO;
const OPENAI_ODD: &str =
    r#"{"choices": [{"message": {"role": "assistant", "content": "{\"move\": \"odd\"}"}}]}"#;

fn model(url: &str, api: Api) -> Llm {
    Llm::new(Client::new(), url, "some-model", api, Some(Key::new(KEY)))
}

async fn decide(answers: Answers<'_>) -> (ExternalResult, usize) {
    let server = ModelServer::start(answers).await;
    let decision = model(&server.url(), Api::OpenAi)
        .decide(turn(10_000))
        .await
        .decision;
    (decision, server.asked().len())
}

#[tokio::test]
async fn a_model_is_asked_as_openai_has_it() {
    let server = ModelServer::start(&[(200, OPENAI_ODD, NOW)]).await;
    let considered = model(&server.url(), Api::OpenAi).decide(turn(10_000)).await;
    assert_eq!(considered.decision, Ok(json!("odd")));
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/chat/completions");
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked.body["model"], "some-model");
    let messages = &asked.body["messages"];
    assert_eq!(
        (&messages[0]["role"], &messages[1]["role"]),
        (&json!("system"), &json!("user"))
    );
    assert!(
        messages[0]["content"]
            .as_str()
            .unwrap()
            .contains("Choose even or odd.")
    );
    insta::assert_snapshot!(messages[1]["content"].as_str().unwrap(), @r#"
    Match R1M1 of even_odd. You are P01, your opponent is P02.
    Your record: 1 won, 3 drawn, 2 lost.
    Options: ["even","odd"]
    You have 10 seconds.
    "#);
}

#[tokio::test]
async fn a_model_is_asked_as_anthropic_has_it() {
    let answer = r#"{"content": [{"type": "thinking", "thinking": "even?"}, {"type": "text", "text": "odd"}]}"#;
    let server = ModelServer::start(&[(200, answer, NOW)]).await;
    let considered = model(&format!("{}/v1", server.url()), Api::Anthropic)
        .decide(turn(10_000))
        .await;
    assert_eq!(considered.decision, Ok(json!("odd")));
    let asked = &server.asked()[0];
    assert_eq!(asked.path, "/v1/messages");
    assert_eq!(asked.headers["x-api-key"], KEY);
    assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
    assert!(asked.headers.get("authorization").is_none());
    assert!(asked.body["max_tokens"].is_u64() && asked.body["system"].is_string());
    assert_eq!(asked.body["messages"][0]["role"], "user");
}

#[tokio::test]
async fn a_server_that_needs_no_key_is_sent_none() {
    let server = ModelServer::start(&[(200, OPENAI_ODD, NOW)]).await;
    let llm = Llm::new(Client::new(), &server.url(), "m", Api::OpenAi, None);
    assert_eq!(llm.decide(turn(10_000)).await.decision, Ok(json!("odd")));
    assert!(server.asked()[0].headers.get("authorization").is_none());
}

#[tokio::test]
async fn a_server_that_is_busy_or_broken_is_asked_again() {
    let (decision, tries) =
        decide(&[(429, "{}", NOW), (500, "oh", NOW), (200, OPENAI_ODD, NOW)]).await;
    assert_eq!((decision, tries), (Ok(json!("odd")), 3));
}

#[tokio::test]
async fn a_server_that_stays_broken_is_asked_until_the_deadline() {
    let server = ModelServer::start(&[(503, r#"{"error": "overloaded"}"#, NOW)]).await;
    let decision = model(&server.url(), Api::OpenAi)
        .decide(turn(3_000))
        .await
        .decision;
    assert_eq!(
        decision,
        Err("the model's server answered HTTP 503: \"overloaded\"".to_owned())
    );
    assert!(server.asked().len() > 1);
}

#[tokio::test]
async fn a_server_that_says_when_to_come_again_is_believed() {
    let server = ModelServer::start(&[(429, "{}", NOW), (200, OPENAI_ODD, NOW)]).await;
    server.says_retry_after("1");
    let began = Instant::now();
    let decided = model(&server.url(), Api::OpenAi).decide(turn(10_000)).await;
    assert_eq!(decided.decision, Ok(json!("odd")));
    assert!(began.elapsed() >= Duration::from_secs(1));
    let began = Instant::now();
    let server_again = ModelServer::start(&[(429, "{}", NOW)]).await;
    server_again.says_retry_after("60");
    let decided = model(&server_again.url(), Api::OpenAi)
        .decide(turn(30_000))
        .await;
    assert!(decided.decision.is_err());
    assert_eq!(server_again.asked().len(), 1, "too late in any case");
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn an_answer_that_is_no_move_is_asked_again_with_what_was_wrong() {
    let illegal = r#"{"choices": [{"message": {"content": "It is even, or 7: {\"move\": 7}"}}]}"#;
    let server = ModelServer::start(&[(200, illegal, NOW), (200, OPENAI_ODD, NOW)]).await;
    let decided = model(&server.url(), Api::OpenAi).decide(turn(10_000)).await;
    assert_eq!(decided.decision, Ok(json!("odd")));
    assert_eq!(decided.usage.unwrap().calls, 2);
    let messages = server.asked()[1].body["messages"].clone();
    assert_eq!(messages[2]["role"], "assistant");
    insta::assert_snapshot!(messages[3]["content"].as_str().unwrap(), @r#"That is no move: "7" is not one of the options. Answer with one JSON object and nothing else: {"move": X}, where X is one of the options: ["even","odd"]"#);
}

#[tokio::test]
async fn a_refusal_is_final_and_tells_what_to_look_at_but_not_the_key() {
    let refused = r#"{"error": {"message": "Incorrect API key provided: sk-0123456789-hush."}}"#;
    let (decision, tries) = decide(&[(401, refused, NOW)]).await;
    let why = decision.unwrap_err();
    assert_eq!(tries, 1);
    assert_eq!(
        why,
        "the model's server answered HTTP 401: \"Incorrect API key provided: (the key).\" (is \
         MATCHDAY_LLM_API_KEY right?)"
    );
    let long = format!(r#"{{"error": {{"message": "{}{KEY}"}}}}"#, "x".repeat(75));
    let (decision, _) = decide(&[(400, long.as_str(), NOW)]).await;
    assert!(
        !decision.unwrap_err().contains("sk-"),
        "not even in part, where it is cut"
    );
    for (status, hint) in [(302, "not followed"), (404, "--llm-model")] {
        let (decision, _) = decide(&[(status, "", NOW)]).await;
        assert!(decision.unwrap_err().contains(hint));
    }
}

#[tokio::test]
async fn nonsense_is_not_guessed_at() {
    for (answer, words, asked) in [
        (
            r#"{"choices": [{"message": {"content": "Let us talk about the weather."}}]}"#,
            "holds no JSON object with a \"move\"",
            3,
        ),
        (
            r#"{"choices": [{"message": {"content": "I can't even say."}}]}"#,
            "holds no JSON object with a \"move\"",
            3,
        ),
        (
            r#"{"choices": [{"message": {"content": ""}}]}"#,
            "without a text",
            3,
        ),
        (r#"{"choices": []}"#, "without a text", 3),
        ("null", "without a text", 3),
        (
            "<html><body>Welcome to nginx!</body></html>",
            "is not JSON",
            1,
        ),
    ] {
        let (decision, tries) = decide(&[(200, answer, NOW)]).await;
        let why = decision.unwrap_err();
        assert!(why.contains(words), "{answer}: {why}");
        assert_eq!(tries, asked, "{answer}");
    }
}

#[tokio::test]
async fn a_slow_server_is_given_up_in_time() {
    let server = ModelServer::start(&[(200, OPENAI_ODD, Duration::from_secs(600))]).await;
    let decision = model(&server.url(), Api::OpenAi)
        .decide(turn(200))
        .await
        .decision;
    assert_eq!(
        decision,
        Err("the model's server: no answer in time".to_owned())
    );
}

#[tokio::test]
async fn an_answer_without_end_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = [b"1000\r\n".as_slice(), &[b'x'; 0x1000], b"\r\n"].concat();
        while stream.write_all(&chunk).is_ok() {}
    });
    let why = model(&url, Api::OpenAi)
        .decide(turn(10_000))
        .await
        .decision
        .unwrap_err();
    assert!(why.contains("which is too much"), "{why}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let why = model(&format!("http://{free}"), Api::OpenAi)
        .decide(turn(100))
        .await
        .decision
        .unwrap_err();
    assert!(
        why.starts_with("the model's server: no connection"),
        "{why}"
    );
}

#[tokio::test]
async fn earlier_games_are_told_to_the_model() {
    let server = ModelServer::start(&[(200, OPENAI_ODD, NOW)]).await;
    let mut turn = turn(10_000);
    let game: Value = json!({
        "match_id": "R1M2", "game_type": "even_odd", "opponent_id": "P02", "own_choice": "even",
        "opponent_choice": "odd", "drawn_parity": "even", "outcome": "win", "technical": false,
        "draw": "proven",
    });
    turn.history = vec![serde_json::from_value(game).unwrap()];
    let _ = model(&server.url(), Api::OpenAi).decide(turn).await;
    let question = server.asked()[0].body["messages"][1]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    let line = "- R1M2: you won; you chose even, they chose odd; the number was even";
    assert!(question.contains(line), "{question}");
}

#[tokio::test]
async fn what_a_model_used_is_told_with_its_decision_and_ends_with_its_budget() {
    let answer = r#"{"choices": [{"message": {"content": "odd"}}], "usage": {"prompt_tokens": 100, "completion_tokens": 7}}"#;
    let server = ModelServer::start(&[(200, answer, NOW)]).await;
    let prices = TokenPrices::parse("3,15").unwrap();
    let budget = Arc::new(LlmBudget::new(
        UsageLimits::parse("calls=2").unwrap(),
        prices,
    ));
    let llm = model(&server.url(), Api::OpenAi).with_budget(budget);
    for _ in 0..2 {
        let decided = llm.decide(turn(10_000)).await;
        let used = decided.usage.unwrap();
        assert_eq!(
            (
                used.calls,
                used.input_tokens,
                used.output_tokens,
                used.cost_micros
            ),
            (1, 100, 7, 405)
        );
    }
    let decided = llm.decide(turn(10_000)).await;
    let why = "the model's budget is used up: 2 of 2 calls";
    assert_eq!(
        (decided.decision, decided.usage),
        (Err(why.to_owned()), None)
    );
    assert_eq!(server.asked().len(), 2);
}
