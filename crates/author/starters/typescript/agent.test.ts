import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { mock, test } from "node:test";
import { Agent, GAME } from "./agent.ts";
import type { Json, Strategy } from "./agent.ts";
import { rows, show } from "./board.ts";
import { serve } from "./main.ts";
import type { Turn } from "./strategy.ts";
import { matchToken, noticeToken } from "./tokens.ts";

const TOKEN = `tok_p01_${"0".repeat(64)}`;
const LEAGUE = "league_2025_even_odd";
const REFEREE = "tok_r1m1_8aa0bf04930f5811e822092823e6f4c08f95eb5e2e20c20d894716ec522318cc";
const PLAYER = "tok_r1m1_3845220ebebd1549dff420b3de925f10e9b44815a7dca78497e6672bf2103ee6";
const MANAGER = "tok_league_manager_bb02e302b7ffb96a2121afeef2f45c0bbb8ecee015d4a5d1c4e50942a0f34128";

/** What a passing test logs is no news. */
const logged = mock.method(console, "error", () => {});

function player(strategy: Strategy = () => "odd"): Agent {
  const agent = new Agent(strategy);
  agent.registered({ player_id: "P01", auth_token: TOKEN, league_id: LEAGUE, match_tokens: true });
  return agent;
}

function message(message_type: string, fields: Json = {}): Json {
  return {
    protocol: "league.v2",
    message_type,
    sender: "referee:REF01",
    timestamp: "2026-03-02T09:01:00Z",
    conversation_id: "conv-r1m1-001",
    auth_token: REFEREE,
    match_id: "R1M1",
    ...fields,
  };
}

async function send(agent: Agent, body: string): Promise<any> {
  return agent.answer(Buffer.from(body));
}

async function ask(agent: Agent, params: Json): Promise<Json> {
  return (await send(agent, JSON.stringify({ jsonrpc: "2.0", id: 7, method: "anything", params }))).result;
}

test("joins when invited", async () => {
  const answer = await ask(player(), message("GAME_INVITATION", { game_type: GAME, opponent_id: "P02" }));
  const { timestamp, arrival_timestamp, ...rest } = answer;
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.match(String(arrival_timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    protocol: "league.v2",
    message_type: "GAME_JOIN_ACK",
    sender: "player:P01",
    conversation_id: "conv-r1m1-001",
    auth_token: PLAYER,
    match_id: "R1M1",
    player_id: "P01",
    accept: true,
  });
});

test("gives what the strategy chose, and the same again", async () => {
  const choices = ["odd", "even"] as const;
  let calls = 0;
  const agent = player(() => choices[calls++] ?? "even");
  const first = await ask(agent, message("CHOOSE_PARITY_CALL"));
  const second = await ask(agent, message("CHOOSE_PARITY_CALL"));
  assert.equal(first.message_type, "CHOOSE_PARITY_RESPONSE");
  assert.equal(first.parity_choice, "odd");
  assert.deepEqual([second.parity_choice, second.nonce], ["odd", first.nonce]);
});

test("chooses by chance if the strategy fails", async () => {
  const broken: [Strategy, string][] = [
    [() => "Even", "returned 'Even'"],
    [() => assert.fail("broken"), "threw AssertionError"],
    [async () => assert.fail("broken"), "threw AssertionError"],
  ];
  for (const [strategy, why] of broken) {
    const answer = await ask(player(strategy), message("CHOOSE_PARITY_CALL"));
    assert.ok(["even", "odd"].includes(String(answer.parity_choice)));
    assert.ok(String(logged.mock.calls.at(-1)?.arguments).includes(why));
  }
});

test("makes a move of any game, and the same again", async () => {
  const agent = player((turn) => turn.options[rows(turn.context).length - 3]);
  const lines = ["..", "xo", "..", ".."];
  const turns: [Json, unknown][] = [
    [{ board: ["X", ...Array(8).fill(null)] }, 0],
    [{ board: lines }, { to: 4 }],
    [{ view: { kind: "grid", columns: 1, cells: ["a", "", "b"] } }, 0],
  ];
  for (const [context, choice] of [...turns, ...turns]) {
    const move_request = { move_type: "place", valid_options: [0, { to: 4 }], context };
    const answer = await ask(agent, message("GAME_MOVE_CALL", { move_request }));
    assert.deepEqual([answer.message_type, answer.game_type], ["GAME_MOVE_RESPONSE", GAME]);
    assert.deepEqual(answer.move_data, { move_type: "place", choice });
  }
  assert.equal(show(rows({ board: lines })), ". .\nx o\n. .\n. .");
  const wrong = await ask(agent, message("GAME_MOVE_CALL", { move_request: { move_type: "place" } }));
  assert.equal(wrong.error_code, "E003");
});

test("tells the strategy how earlier matches ended", async () => {
  const seen: Turn[] = [];
  const agent = player((turn) => {
    seen.push(turn);
    return "even";
  });
  const game_result = { status: "WIN", choices: { P01: "odd", P02: "even" }, drawn_number: 4, reason: "4 is even" };
  await ask(agent, message("GAME_OVER", { game_result }));
  await ask(agent, message("CHOOSE_PARITY_CALL", { context: { opponent_id: "P02", round_id: 2 } }));
  const past = { matchId: "R1M1", opponentId: "P02", mine: "odd", theirs: "even", number: 4 };
  const context = { opponent_id: "P02", round_id: 2 };
  const options = ["even", "odd"];
  assert.deepEqual(seen, [{ matchId: "R1M1", opponentId: "P02", roundId: 2, history: [past], options, context }]);
});

test("plays the next league of a season without registering again", async () => {
  const choices = ["odd", "even"];
  const agent = player(() => choices.shift());
  const first = await ask(agent, message("CHOOSE_PARITY_CALL", { league_id: LEAGUE }));
  const tokenOf = (direction: "referee-to-player" | "player-to-referee") =>
    matchToken(TOKEN, "night_2", "R1M1", "conv-r1m1-001", direction);
  const next = { league_id: "night_2", auth_token: tokenOf("referee-to-player") };
  const second = await ask(agent, message("CHOOSE_PARITY_CALL", next));
  assert.deepEqual([first.parity_choice, second.parity_choice], ["odd", "even"]);
  assert.notEqual(first.nonce, second.nonce);
  assert.equal(second.auth_token, tokenOf("player-to-referee"));
  const refused = await ask(agent, message("CHOOSE_PARITY_CALL", { league_id: "night_2" }));
  assert.equal(refused.error_code, "E012");
});

test("computes the tokens of the protocol", () => {
  assert.equal(noticeToken(TOKEN, LEAGUE), MANAGER);
  assert.equal(matchToken(TOKEN, LEAGUE, "R1M1", "conv-r1m1-001", "referee-to-player"), REFEREE);
  assert.equal(matchToken(TOKEN, LEAGUE, "R1M1", "conv-r1m1-001", "player-to-referee"), PLAYER);
});

test("refuses who cannot prove who it is", async () => {
  const refused: [string, Json][] = [
    ["E011", message("CHOOSE_PARITY_CALL", { auth_token: null })],
    ["E012", message("CHOOSE_PARITY_CALL", { auth_token: PLAYER })],
    ["E003", message("CHOOSE_PARITY_CALL", { match_id: null })],
    ["E012", message("GAME_INVITATION", { sender: "player:P02" })],
    ["E012", message("LEAGUE_COMPLETED")],
  ];
  for (const [code, asked] of refused) {
    const answer = await ask(player(), asked);
    assert.deepEqual([answer.message_type, answer.error_code], ["LEAGUE_ERROR", code]);
  }
  const notice = message("LEAGUE_COMPLETED", { auth_token: MANAGER });
  assert.deepEqual(await ask(player(), notice), { status: "received" });
});

test("says what is wrong with a request", async () => {
  const wrong: [string, unknown, number][] = [
    ["{", null, -32700],
    ["[]", null, -32600],
    ['{"jsonrpc": "2.0", "id": 1}', 1, -32600],
    ['{"jsonrpc": "2.0", "id": "a", "method": "dance"}', "a", -32601],
    ['{"jsonrpc": "2.0", "id": 2, "method": "ping", "params": [1]}', 2, -32602],
  ];
  for (const [body, id, code] of wrong) {
    const answer = await send(player(), body);
    assert.deepEqual([answer.id, answer.error.code], [id, code], body);
  }
});

test("answers batches, and no notifications", async () => {
  const ping = { jsonrpc: "2.0", method: "ping" };
  assert.equal(await send(player(), JSON.stringify(ping)), undefined);
  const answers = await send(player(), JSON.stringify([{ ...ping, id: 1 }, ping, { ...ping, id: "b" }]));
  assert.deepEqual(answers.map((one: Json) => one.id), [1, "b"]);
});

test("listens on /mcp, and sends ids back as they came", async () => {
  const server = serve(player()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  for (const id of ["7", "9007199254740993", "-1.0", "1e400", '"\\"id\\":9007199254740993,"']) {
    const body = `{"jsonrpc":"2.0", "id" : ${id},"method":"ping"}`;
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "POST", body });
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(await response.text(), `{"jsonrpc":"2.0","id":${id},"result":{"status":"ok"}}`);
  }
  server.closeAllConnections();
  server.close();
});
