//! The Python starter with one fault planted in it each time: the check must name the rule that the fault breaks.

use crate::report::{Report as _, program};
use matchday_testkit::address::free_address;
use matchday_testkit::address::until_listening;
use matchday_testkit::cli::{Output, Process};
use matchday_testkit::tools;
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

/// How many are checked at once: most of the time of a check is waiting.
const AT_ONCE: usize = 5;

struct Mutation {
    name: &'static str,
    old: &'static str,
    new: &'static str,
    /// The rule that it breaks.
    rule: &'static str,
    harm: Harm,
}

/// Where a fault loses matches.
#[derive(Clone, Copy, PartialEq)]
enum Harm {
    Any,
    Strict,
    Clean,
}

impl Harm {
    fn verdict(self) -> &'static str {
        match self {
            Self::Any => "fail",
            Self::Strict => "strict_only",
            Self::Clean => "warning",
        }
    }
}

macro_rules! mutations {
    ($($harm:ident $rule:literal, $name:literal: $old:literal => $new:literal;)*) => {
        &[$(Mutation { name: $name, old: $old, new: $new, rule: $rule, harm: Harm::$harm },)*]
    };
}

const ANSWERS: &[Mutation] = mutations! {
    Any "register.envelope", "signs with the bare id": "\"sender\": f\"player:{player_id}\"," => "\"sender\": player_id,";
    Strict "envelope.sender", "signs with a name of its own": "envelope(message_type, self.player_id, " => "envelope(message_type, \"P01\", ";
    Strict "envelope.timestamp", "isoformat and Z": ".strftime(\"%Y-%m-%dT%H:%M:%SZ\")" => ".isoformat() + \"Z\"";
    Clean "envelope.clock", "a wrong clock": "datetime.now(timezone.utc)" => "datetime(2025, 1, 15, tzinfo=timezone.utc)";
    Clean "envelope.clock", "a frozen clock": "def now():\n    return datetime.now(timezone.utc)" => "def now(at=datetime.now(timezone.utc)):\n    return at";
    Strict "envelope.conversation", "a conversation of its own": "\"conversation_id\": conversation_id," => "\"conversation_id\": \"conv-1\",";
    Strict "envelope.token", "no token": "\"auth_token\": token, \"match_id\"" => "\"match_id\"";
    Clean "envelope.token", "the referee's token back": "self.match_token(asked, \"player-to-referee\")" => "asked[\"auth_token\"]";
    Strict "register.identity", "a token of its own making": "self.match_token(asked, \"player-to-referee\")" => "\"tok_p01_of_my_own\"";
    Strict "join.player-id", "player_id hard-coded": "\"player_id\": self.player_id, **fields" => "\"player_id\": \"P01\", **fields";
    Any "join.match-id", "match_id hard-coded": "\"match_id\": asked[\"match_id\"], \"player_id\"" => "\"match_id\": \"R1M1\", \"player_id\"";
    Strict "join.arrival", "no arrival_timestamp": "arrival_timestamp=now(), " => "";
    Any "join.accept", "accept as text": "accept=accept)" => "accept=str(accept))";
};

const CHOICES: &[Mutation] = mutations! {
    Any "join.accept", "declines": "invitation.get(\"game_type\") in self.games" => "invitation.get(\"game_type\") == \"parity\"";
    Any "join.message", "another type of answer": "\"GAME_JOIN_ACK\"" => "\"GAME_JOIN\"";
    Any "join.in-time", "joins too late": "        accept = invitation" => "        time.sleep(6)\n        accept = invitation";
    Any "choice.parity", "a capital": "parity_choice=parity," => "parity_choice=parity.title(),";
    Strict "choice.parity", "another name for the field": "parity_choice=parity," => "choice=parity,";
    Any "choice.parity", "a boolean": "parity_choice=parity," => "parity_choice=parity == \"even\",";
    Any "choice.message", "another type of choice": "\"CHOOSE_PARITY_RESPONSE\"" => "\"CHOICE\"";
    Any "choice.match-id", "a choice for another match": "self.reply(call, \"CHOOSE_PARITY_RESPONSE\"," => "self.reply({**call, \"match_id\": \"R1M1\"}, \"CHOOSE_PARITY_RESPONSE\",";
    Clean "choice.nonce", "no nonce": "parity_choice=parity, nonce=nonce)" => "parity_choice=parity)";
    Clean "choice.nonce", "a constant nonce": "self.nonce = secrets.token_hex(16)" => "self.nonce = \"00112233445566778899aabbccddeeff\"";
    Clean "retry.same-choice", "chooses anew when asked again": "            if question not in match.choices:" => "            if True:\n                match.nonce = secrets.token_hex(16)";
    Clean "retry.same-choice", "another nonce when asked again": "return match.choices[question], match.nonce" => "return match.choices[question], secrets.token_hex(16)";
    Clean "choice.generic", "does not know GAME_MOVE_CALL": "\"GAME_MOVE_CALL\": self.choose_move," => "";
};

const STRAINS: &[Mutation] = mutations! {
    Any "retry.answered", "answers a question once": "            if question not in match.choices:" => "            if question in match.choices:\n                raise ValueError(\"answered\")\n            if True:";
    Any "retry.invitation", "accepts an invitation once": "        accept = invitation" => "        if self.match(self.key(invitation)).choices:\n            raise ValueError(\"joined\")\n        accept = invitation";
    Any "robust.alive", "ends at the first GAME_ERROR": "log(f\"{kind} {message.get('error_code')}: {message.get('error_message')}\")" => "os._exit(1)";
    Any "robust.unknown-fields", "fails on a field that it does not know": "            kind = text(message, \"message_type\")" => "            kind = text(message, \"message_type\")\n            assert \"x_weather\" not in message";
    Clean "robust.unknown-message", "fails on a message that it does not know": "answers[kind](message) if kind in answers else RECEIVED" => "answers[kind](message)";
    Any "robust.two-matches", "knows one match at a time": "        parity, nonce = self.choice(call," => "        call = {**call, \"match_id\": list(self.matches)[-1][1]}\n        parity, nonce = self.choice(call,";
    Clean "robust.technical-loss", "computes with a number that was not drawn": "theirs, result.get(\"drawn_number\"))" => "theirs, result[\"drawn_number\"] % 2)";
    Clean "robust.technical-loss", "expects a winner": "log(f\"{match_id} is over: {over.get('reason') or result.get('reason')}\")" => "log(result[\"winner_player_id\"].strip())";
    Clean "robust.game-over-twice", "fails on a result that it knows": "self.history.setdefault(key, past)" => "assert key not in self.history\n                self.history[key] = past";
    Any "robust.alive", "ends when a result comes twice": "self.history.setdefault(key, past)" => "_ = os._exit(1) if key in self.history else self.history.update({key: past})";
    Clean "notice.game-over", "fails on every GAME_OVER": "text(over, \"match_id\"), over.get(\"game_result\")" => "text(over, \"match\"), over[\"result\"]";
    Any "robust.utf-8", "reads Latin-1": "body.decode(\"utf-8\")" => "body.decode(\"latin-1\")";
    Clean "robust.full-table", "reads 4 KB": "BODY_BYTES_MAX = 1024 * 1024" => "BODY_BYTES_MAX = 4096";
};

const FORMS: &[Mutation] = mutations! {
    Any "transport.length", "a Content-Length that is too long": "str(len(body)))" => "str(len(body) + 2))";
    Any "transport.length", "a Content-Length that is too short": "str(len(body)))" => "str(len(body) - 2))";
    Any "transport.length", "no Content-Length": "        self.send_header(\"Content-Length\", str(len(body)))\n" => "";
    Clean "transport.status", "another status": "self.send(202 if response is None else 200, response)" => "self.send(201, response)";
    Any "rpc.form", "a result that is encoded twice": "\"result\": self.call(request[\"method\"], request.get(\"params\", {}))" => "\"result\": json.dumps(self.call(request[\"method\"], request.get(\"params\", {})))";
    Any "rpc.form", "a response that is encoded twice": "else json.dumps(response).encode()" => "else json.dumps(json.dumps(response)).encode()";
    Clean "rpc.id", "the id as text": "\"id\": id_, \"result\"" => "\"id\": str(id_), \"result\"";
    Clean "rpc.version", "no version": "response = {\"jsonrpc\": \"2.0\", " => "response = {";
    Clean "rpc.parse-error", "fails on what is not JSON": "except (ValueError, RecursionError) as error:" => "except RecursionError as error:";
    Any "register.accepted", "registers a version that is none": "\"version\": VERSION," => "\"version\": 1,";
    Any "register.form", "registers without an id": "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"register_player\"" => "{\"jsonrpc\": \"2.0\", \"method\": \"register_player\"";
    Clean "trust.false-token", "believes any token": "if not isinstance(shown, str) or not tokens.same(shown, token):" => "if False:";
    Clean "trust.own-token", "shows its league token to referees": "self.match_token(asked, \"player-to-referee\")" => "self.token";
};

/// What an agent takes from one match into the next, and what keeps it from playing at all.
const LEAGUES: &[Mutation] = mutations! {
    Clean "notice.game-over", "takes the first of the choices for its own": "mine, theirs = choices.get(self.player_id), choices.get(opponent_id)" => "assert not choices or list(choices)[0] == self.player_id\n            mine, theirs = list(choices.values())";
    Any "league.played", "dies of choices in another order": "mine, theirs = choices.get(self.player_id), choices.get(opponent_id)" => "mine, theirs = os._exit(1) if choices and list(choices)[0] != self.player_id else list(choices.values())";
    Any "league.played", "fails at its second match": "        accept = invitation" => "        assert not self.history or self.key(invitation) in self.history\n        accept = invitation";
    Any "league.played", "chooses by a history that has no such number": "history = list(self.history.values())" => "history = list(self.history.values())\n                    sum(past.number % 2 for past in history)";
    Any "league.played", "meets each opponent once": "        self.match(self.key(invitation)).opponent_id = str" => "        assert all(past.opponent_id != invitation[\"opponent_id\"] or known == self.key(invitation) for known, past in self.history.items())\n        self.match(self.key(invitation)).opponent_id = str";
    Any "transport.reachable", "registers a path that it does not serve": ":{port}/mcp\"" => ":{port}/mpc\"";
};

/// Writes the starter into a folder, with `old` replaced by `new` in its agent.
fn plant(folder: &Path, old: &str, new: &str) {
    let starter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../author/starters/python");
    for name in ["dial.py", "strategy.py", "tokens.py"] {
        fs::copy(starter.join(name), folder.join(name)).unwrap();
    }
    let agent = fs::read_to_string(starter.join("agent.py")).unwrap();
    assert!(
        old.is_empty() || agent.matches(old).count() == 1,
        "the starter must hold this once: {old}"
    );
    let agent = if old.is_empty() {
        agent
    } else {
        agent.replace(old, new)
    };
    fs::write(folder.join("agent.py"), agent.replace("{{NAME}}", "Mutant")).unwrap();
}

fn check(old: &str, new: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    plant(folder.path(), old, new);
    let listen = free_address().to_string();
    let check = program(&["check", "player", "--wait", "--listen", &listen, "--json"])
        .spawn()
        .unwrap();
    until_listening(&listen);
    let mut agent = Command::new("python3");
    agent.args([
        "agent.py",
        "--listen",
        "127.0.0.1:0",
        "--manager",
        &format!("http://{listen}/mcp"),
    ]);
    agent
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder.path());
    let _agent = Process::start(agent);
    Output::from(check.wait_with_output().unwrap())
}

/// Checks all of them, and returns what the check says of those that it does not name.
fn missed(mutations: &[Mutation]) -> Vec<String> {
    let waiting = Mutex::new(mutations.iter().collect::<VecDeque<_>>());
    let missed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let Some(mutation) = waiting.lock().unwrap().pop_front() else {
                        break;
                    };
                    let Mutation {
                        name,
                        old,
                        new,
                        rule,
                        harm,
                    } = mutation;
                    let done = check(old, new);
                    let found = done.rule(rule);
                    println!(
                        "{name}: {} {rule}: {}\n    {}",
                        found["verdict"], found["note"], found["fix"]
                    );
                    let is_named = found["verdict"] == harm.verdict()
                        && found["fix"].as_str().is_some_and(|fix| !fix.is_empty());
                    // What loses matches in the league that was asked about never ends with 0.
                    if !is_named || *harm == Harm::Any && done.code != 1 {
                        missed.lock().unwrap().push(format!(
                            "{name}:\n{}\n{}",
                            done.troubles(),
                            done.err
                        ));
                    }
                }
            });
        }
    });
    missed.into_inner().unwrap()
}

fn holds(mutations: &[Mutation]) {
    if tools::require("python3") {
        let missed = missed(mutations);
        assert!(
            missed.is_empty(),
            "{} of {}:\n{}",
            missed.len(),
            mutations.len(),
            missed.join("\n\n")
        );
    }
}

#[test]
fn the_starter_itself_passes() {
    if tools::require("python3") {
        let done = check("", "");
        for verdict in ["fail", "warning", "not_checked"] {
            assert!(done.rules(verdict).is_empty(), "{}", done.troubles());
        }
    }
}

#[test]
fn none_is_forgotten() {
    let groups = [ANSWERS, CHOICES, STRAINS, FORMS, LEAGUES];
    assert_eq!(groups.map(<[_]>::len), [13, 13, 13, 13, 6]);
}

#[test]
fn faults_in_its_answers_are_named() {
    holds(ANSWERS);
}

#[test]
fn faults_in_joining_and_choosing_are_named() {
    holds(CHOICES);
}

#[test]
fn faults_under_strain_are_named() {
    holds(STRAINS);
}

#[test]
fn faults_of_form_and_trust_are_named() {
    holds(FORMS);
}

#[test]
fn faults_that_show_from_one_match_to_the_next_are_named() {
    holds(LEAGUES);
}
