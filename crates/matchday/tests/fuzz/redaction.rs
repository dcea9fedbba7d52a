//! What is kept of bodies: whatever they look like, no secret is kept whole.

use bolero::check;
use matchday_store::redact::redact_tokens;
use matchday_testkit::mutation::mutated_text;
use serde_json::{Value, json};

/// How many random inputs an ordinary test takes, beside its corpus: about a second of them.
const RUNS: usize = 20_000;

const SHOWN_CHARS: usize = 8;

#[test]
fn no_token_is_kept() {
    check!()
        .with_iterations(RUNS)
        .with_max_len(200)
        .for_each(|input: &[u8]| {
            by_its_shape(input);
            by_its_field(input);
        });
}

fn by_its_shape(input: &[u8]) {
    let good = [
        r#"{"auth_token":"tok_p01_abcdef","x":1}"#,
        r#"{"message":"wrong token tok_p01_abcdef!","to_player":"0123456789"}"#,
        r#"{"text":"{\"auth_token\":\"0123456789\",\"n\":\"\u0074ok_p01_abcdef\"}"}"#,
    ];
    let kept = redact_tokens(mutated_text(&good, input).as_bytes());
    let is_token = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    for (at, _) in kept.match_indices("tok_") {
        let shown = kept[at..].chars().take_while(is_token).count();
        assert!(shown <= SHOWN_CHARS, "{kept}");
    }
}

/// Another manager's tokens may be any text at all; and a message may lie as text within another.
fn by_its_field(input: &[u8]) {
    let secret = String::from_utf8_lossy(input);
    for field in ["auth_token", "provided_token", "to_player", "from_player"] {
        let message = json!({ "a": 1, field: secret, "z": "end" });
        let within = json!({ "text": message.to_string() });
        let (kept, kept_within) = (
            redact_tokens(message.to_string().as_bytes()),
            redact_tokens(within.to_string().as_bytes()),
        );
        is_cut(&secret, field, &read(&kept));
        is_cut(
            &secret,
            field,
            &read(read(&kept_within)["text"].as_str().unwrap()),
        );
    }
}

fn read(kept: &str) -> Value {
    serde_json::from_str(kept)
        .unwrap_or_else(|error| panic!("what is kept is still JSON: {error}\n{kept}"))
}

fn is_cut(secret: &str, field: &str, kept: &Value) {
    assert_eq!(
        (&kept["a"], &kept["z"]),
        (&json!(1), &json!("end")),
        "nothing else is touched"
    );
    let shown = kept[field].as_str().unwrap();
    if secret.chars().count() > SHOWN_CHARS {
        let shown = shown
            .strip_suffix("...")
            .unwrap_or_else(|| panic!("not cut: {shown:?}"));
        assert!(shown.chars().count() <= SHOWN_CHARS, "{shown:?}");
    }
}
