/**
 * What the player knows, and what it says. Touches no network: that is in main.ts. What you will want to change is in
 * strategy.ts.
 */

import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { inspect, isDeepStrictEqual } from "node:util";
import { choose } from "./strategy.ts";
import type { Past, Turn } from "./strategy.ts";
import { matchToken, noticeToken, same } from "./tokens.ts";
import type { Direction } from "./tokens.ts";

export const GAME = "even_odd";
/** A referee waits 30 s for a choice. What the network and a busy machine need comes off that. */
export const THINKING_MS = 10_000;

const FROM_REFEREE = ["GAME_INVITATION", "CHOOSE_PARITY_CALL", "GAME_MOVE_CALL", "GAME_OVER", "GAME_ERROR"];
const FROM_MANAGER = [
  "ROUND_ANNOUNCEMENT",
  "LEAGUE_STANDINGS_UPDATE",
  "ROUND_COMPLETED",
  "LEAGUE_COMPLETED",
  "LEAGUE_ERROR",
];
const RECEIVED = { status: "received" };
const PARITY = "choose_parity";

export type Json = Record<string, unknown>;
export type Strategy = (turn: Turn) => unknown;
type Identity = { playerId: string; token: string; leagueId: string; matchTokens: boolean };
/** The nonce is the player's share in the draw: nobody knows the number before it is sent. */
type Match = { opponentId: string; nonce: string; choices: Map<string, Promise<unknown>> };

/** A league message that is not answered, with the league's code for the reason. */
class Refusal extends Error {
  code: string;
  errorName: string;

  constructor(code: string, errorName: string, words: string) {
    super(words);
    this.code = code;
    this.errorName = errorName;
  }
}

/** A request that JSON-RPC itself does not allow. */
class RpcError extends Error {
  code: number;

  constructor(code: number, words: string) {
    super(words);
    this.code = code;
  }
}

export class Agent {
  identity: Identity | undefined;
  #strategy: Strategy;
  // A season has a league each night, and the first match of each is R1M1: a match is known by its league, too.
  /** Matches whose referee cannot prove who it is. */
  #withoutToken = new Set<string>();
  #matches = new Map<string, Match>();
  #history = new Map<string, Past>();

  constructor(strategy: Strategy = choose) {
    this.#strategy = strategy;
  }

  /** Keeps what LEAGUE_REGISTER_RESPONSE says. */
  registered(response: Json): void {
    this.identity = {
      playerId: String(response.player_id),
      token: String(response.auth_token),
      leagueId: String(response.league_id ?? ""),
      matchTokens: response.match_tokens === true,
    };
  }

  // JSON-RPC

  /** The response to a request body; undefined if there is nothing to say. */
  async answer(body: Buffer): Promise<unknown> {
    let request: unknown;
    try {
      request = read(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch (error) {
      return failure(null, -32700, `Parse error: ${words(error)}`);
    }
    if (!Array.isArray(request) || request.length === 0) return this.#answerOne(request);
    const responses = await Promise.all(request.map((one) => this.#answerOne(one)));
    const said = responses.filter((response) => response !== undefined);
    return said.length > 0 ? said : undefined;
  }

  async #answerOne(request: unknown): Promise<unknown> {
    if (!isObject(request)) return failure(null, -32600, "Invalid Request: expected an object");
    const { id = null, method, params = {} } = request;
    if (!isId(id)) return failure(null, -32600, "Invalid Request: id must be a number, a text or null");
    if (request.jsonrpc !== "2.0" || typeof method !== "string") {
      return failure(id, -32600, 'Invalid Request: expected "jsonrpc": "2.0" and a method');
    }
    let response: unknown;
    try {
      response = { jsonrpc: "2.0", id, result: await this.#call(method, params) };
    } catch (error) {
      if (error instanceof RpcError) {
        response = failure(id, error.code, error.message);
      } else {
        console.error(error);
        response = failure(id, -32603, "Internal error");
      }
    }
    return "id" in request ? response : undefined;
  }

  #call(method: string, params: unknown): unknown {
    if (!isObject(params)) throw new RpcError(-32602, "Invalid params: expected an object");
    if ("message_type" in params) return this.#receive(params);
    if (method === "ping") return { status: "ok" };
    throw new RpcError(-32601, `Method not found: ${method}, and no league message came with it`);
  }

  // League messages

  async #receive(message: Json): Promise<Json> {
    try {
      if (message.protocol !== "league.v2") {
        throw new Refusal("E018", "PROTOCOL_VERSION_MISMATCH", "protocol: expected league.v2");
      }
      const kind = text(message, "message_type");
      if (FROM_MANAGER.includes(kind)) this.#trustManager(message);
      if (FROM_REFEREE.includes(kind)) return await this.#play(kind, message, this.#trustReferee(message));
      if (kind === "ROUND_ANNOUNCEMENT") this.#prepare(message);
      if (kind === "LEAGUE_ERROR") complain(message);
      return RECEIVED;
    } catch (error) {
      if (error instanceof Refusal) return this.#refuse(message, error);
      throw error;
    }
  }

  async #play(kind: string, message: Json, me: Identity): Promise<Json> {
    switch (kind) {
      case "GAME_INVITATION": {
        this.#match(this.#key(message)).opponentId = String(message.opponent_id ?? "");
        const accept = message.game_type === GAME;
        return this.#reply(me, message, "GAME_JOIN_ACK", { arrival_timestamp: now(), accept });
      }
      case "CHOOSE_PARITY_CALL": {
        const parity = await this.#choice(message, PARITY, ["even", "odd"], message.context);
        const { nonce } = this.#match(this.#key(message));
        return this.#reply(me, message, "CHOOSE_PARITY_RESPONSE", { parity_choice: parity, nonce });
      }
      case "GAME_MOVE_CALL": {
        // A turn of any game: one of the legal moves. A referee may ask for even or odd in this way, too.
        const asked = isObject(message.move_request) ? message.move_request : {};
        const { valid_options: options, move_type, context } = asked;
        if (!Array.isArray(options) || options.length === 0) {
          const why = "move_request.valid_options: expected the legal moves";
          throw new Refusal("E003", "MISSING_REQUIRED_FIELD", why);
        }
        const question = move_type === PARITY ? PARITY : JSON.stringify([options, context]);
        const choice = await this.#choice(message, question, options, context);
        const { nonce } = this.#match(this.#key(message));
        const move_data = { move_type, choice };
        return this.#reply(me, message, "GAME_MOVE_RESPONSE", { game_type: GAME, move_data, nonce });
      }
      case "GAME_OVER":
        this.#learn(message, me.playerId);
        return RECEIVED;
      default:
        complain(message);
        return RECEIVED;
    }
  }

  #learn(over: Json, me: string): void {
    const [key, matchId, result] = [this.#key(over), text(over, "match_id"), over.game_result];
    if (!isObject(result)) return;
    const choices = (isObject(result.choices) ? result.choices : {}) as Record<string, string | null>;
    const opponentId = Object.keys(choices).find((id) => id !== me) ?? this.#match(key).opponentId;
    const number = typeof result.drawn_number === "number" ? result.drawn_number : null;
    const past = { matchId, opponentId, mine: choices[me] ?? null, theirs: choices[opponentId] ?? null, number };
    if (!this.#history.has(key)) this.#history.set(key, past);
    console.error(`${matchId} is over: ${over.reason ?? result.reason}`);
  }

  #prepare(announcement: Json): void {
    const matches = Array.isArray(announcement.matches) ? announcement.matches.filter(isObject) : [];
    for (const match of matches) {
      if (match.match_tokens === false) this.#withoutToken.add(keyOf(this.#league(announcement), match.match_id));
    }
  }

  // The choice

  /** The league that a message is about. Who does not say it means the one that spoke last. */
  #league(message: Json): string {
    return String(message.league_id || this.identity?.leagueId);
  }

  #key(message: Json): string {
    return keyOf(this.#league(message), text(message, "match_id"));
  }

  #match(key: string): Match {
    const known = this.#matches.get(key);
    if (known) return known;
    const match = { opponentId: "", nonce: randomBytes(16).toString("hex"), choices: new Map() };
    this.#matches.set(key, match);
    return match;
  }

  /** The same choice whenever the same is asked: the first answer may have been lost. */
  #choice(call: Json, question: string, options: unknown[], context: unknown): Promise<unknown> {
    const match = this.#match(this.#key(call));
    const known = match.choices.get(question);
    if (known) return known;
    const about = isObject(context) ? context : {};
    const round = about.round_id ?? call.round_id;
    const turn: Turn = {
      matchId: text(call, "match_id"),
      opponentId: String(about.opponent_id ?? match.opponentId),
      roundId: typeof round === "number" ? round : null,
      history: [...this.#history.values()],
      options,
      context: about,
    };
    const choice = this.#decide(turn);
    match.choices.set(question, choice);
    return choice;
  }

  async #decide(turn: Turn): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    const timeUp = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(`took longer than ${THINKING_MS} ms`), THINKING_MS);
    });
    const thinking = (async () => this.#strategy(turn))();
    let why: string;
    try {
      const choice: unknown = await Promise.race([thinking, timeUp]);
      if (turn.options.some((option) => isDeepStrictEqual(option, choice))) return choice;
      why = `returned ${inspect(choice)}, which is no legal move`;
    } catch (error) {
      why = typeof error === "string" ? error : `threw ${inspect(error)}`;
    } finally {
      clearTimeout(timer);
    }
    console.error(`${turn.matchId}: a random move instead of the strategy's, which ${why}`);
    return turn.options[randomInt(turn.options.length)];
  }

  // Who speaks

  #trustReferee(message: Json): Identity {
    const key = this.#key(message);
    text(message, "conversation_id");
    const me = this.identity;
    if (!me) throw new Refusal("E008", "INVALID_STATE", "this player is not registered yet");
    if (!text(message, "sender").startsWith("referee:")) {
      throw new Refusal("E012", "AUTH_TOKEN_INVALID", "only a referee may send this");
    }
    if (me.matchTokens && !this.#withoutToken.has(key)) {
      expect(message, this.#matchToken(me, message, "referee-to-player"));
    }
    return me;
  }

  #trustManager(message: Json): void {
    const me = this.identity;
    if (!me?.matchTokens) return;
    const leagueId = this.#league(message);
    expect(message, noticeToken(me.token, leagueId));
    me.leagueId = leagueId;
  }

  #matchToken(me: Identity, asked: Json, direction: Direction): string {
    const conversationId = text(asked, "conversation_id");
    return matchToken(me.token, this.#league(asked), text(asked, "match_id"), conversationId, direction);
  }

  // What it says

  #reply(me: Identity, asked: Json, messageType: string, fields: Json): Json {
    return {
      ...envelope(messageType, me.playerId, text(asked, "conversation_id")),
      auth_token: me.matchTokens ? this.#matchToken(me, asked, "player-to-referee") : me.token,
      match_id: asked.match_id,
      player_id: me.playerId,
      ...fields,
    };
  }

  #refuse(asked: Json, refusal: Refusal): Json {
    console.error(`refused ${asked.message_type} of ${asked.sender}: ${refusal.code} ${refusal.message}`);
    const conversationId = typeof asked.conversation_id === "string" ? asked.conversation_id : "conv-unknown";
    return {
      ...envelope("LEAGUE_ERROR", this.identity?.playerId ?? "unregistered", conversationId),
      error_code: refusal.code,
      error_name: refusal.errorName,
      error_description: refusal.errorName,
      error_message: refusal.message,
      original_message_type: String(asked.message_type),
      retryable: false,
    };
  }
}

export function now(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

export function envelope(messageType: string, playerId: string, conversationId: string): Json {
  return {
    protocol: "league.v2",
    message_type: messageType,
    sender: `player:${playerId}`,
    timestamp: now(),
    conversation_id: conversationId,
  };
}

export function failure(id: unknown, code: number, message: string): Json {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

// What it reads

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(message: Json, field: string): string {
  const value = message[field] ?? null;
  if (value === null) throw new Refusal("E003", "MISSING_REQUIRED_FIELD", `${field}: expected a text, got nothing`);
  if (typeof value !== "string") throw new Refusal("E002", "INVALID_MESSAGE_FORMAT", `${field}: expected a text`);
  return value;
}

function expect(message: Json, token: string): void {
  const shown = message.auth_token;
  if (!shown) throw new Refusal("E011", "AUTH_TOKEN_MISSING", "auth_token: expected the token for this message, got none");
  if (typeof shown !== "string" || !same(shown, token)) {
    throw new Refusal("E012", "AUTH_TOKEN_INVALID", "auth_token: wrong token for this message");
  }
}

function complain(message: Json): void {
  console.error(`${message.message_type} ${message.error_code}: ${message.error_message}`);
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function keyOf(leagueId: string, matchId: unknown): string {
  return `${leagueId} ${matchId}`;
}

// JSON. JavaScript keeps integers up to 2^53 and writes 1.0 as 1, but an id goes back exactly as it came: a number that would
// change is carried as a text that nobody else can write, and written as it stood.

const RAW = `${randomUUID()}:`;
const WRITTEN = new RegExp(`"${RAW}([^"]*)"`, "g");
/** An id that is a number; or a text, in which nothing is an id. */
const ID = /("id"\s*:\s*)(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?=\s*[,}])|"(?:[^"\\]|\\.)*"/g;

function read(json: string): unknown {
  const carried = json.replace(ID, (whole: string, key?: string, id?: string) =>
    key === undefined || String(Number(id)) === id ? whole : `${key}"${RAW}${id}"`,
  );
  return JSON.parse(carried);
}

export function write(value: unknown): string {
  return JSON.stringify(value).replace(WRITTEN, "$1");
}

function isId(id: unknown): boolean {
  return id === null || typeof id === "string" || typeof id === "number";
}
