/** Runs the player: registers with a manager, and answers on POST /mcp. Needs Node 20. */

import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Agent, GAME, envelope, failure, isObject, write } from "./agent.ts";
import type { Json } from "./agent.ts";
import { Mailbox } from "./dial.ts";

const NAME = "{{NAME}}";
const VERSION = "1.0.0";
const RETRY_MS = 2_000;
const BODY_BYTES_MAX = 1024 * 1024;

export function serve(agent: Agent): Server {
  return createServer((request, response) => {
    handle(agent, request, response).catch(() => {
      // The connection broke off while the request came in: nobody is left to be answered.
      response.destroy();
    });
  });
}

async function handle(agent: Agent, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.url?.split("?")[0] !== "/mcp" || request.method !== "POST") {
    return send(response, 404, failure(null, -32600, "agents listen for POST at /mcp"));
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) {
      return send(response, 413, failure(null, -32600, `at most ${BODY_BYTES_MAX} bytes are read`));
    }
    chunks.push(chunk);
  }
  const answer = await agent.answer(Buffer.concat(chunks));
  send(response, answer === undefined ? 202 : 200, answer);
}

function send(response: ServerResponse, status: number, answer: unknown): void {
  const headers: Record<string, string> = answer === undefined ? {} : { "Content-Type": "application/json" };
  if (status >= 400) headers.Connection = "close";
  response.writeHead(status, headers).end(answer === undefined ? "" : write(answer));
}

/** Registers with the manager, and keeps trying while there is none. Returns the reason if the manager refuses. */
async function register(agent: Agent, manager: string, meta: Json, store: string): Promise<string | undefined> {
  const message = envelope("LEAGUE_REGISTER_REQUEST", "unregistered", `conv-register-${randomBytes(8).toString("hex")}`);
  message.player_meta = { version: VERSION, game_types: [GAME], ...meta };
  // A join code says who this is.
  const place = manager.includes("/join/") ? manager : `${manager} as ${meta.display_name}`;
  const token = storedTokens(store)[place];
  // From before a restart: the manager gives the old place back.
  if (token) message.auth_token = token;
  const request = { jsonrpc: "2.0", id: 1, method: "register_player", params: message };
  for (let waiting = false; ; waiting = true) {
    let why: unknown;
    try {
      const result = await post(manager, request);
      if (result.status === "ACCEPTED") {
        agent.registered(result);
        keepToken(store, place, result.auth_token);
        return undefined;
      }
      why = result.reason ?? result.error_message ?? JSON.stringify(result);
      if (result.retryable !== true) return String(why);
    } catch (error) {
      why = error instanceof Error ? (error.cause ?? error.message) : error;
    }
    if (!waiting) console.error(`no answer from ${manager} yet (${why}): trying again every ${RETRY_MS / 1000} s`);
    await sleep(RETRY_MS);
  }
}

async function post(url: string, request: Json): Promise<Json> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(10_000),
  });
  const answer: unknown = await response.json();
  const result = isObject(answer) ? (answer.result ?? answer.error) : undefined;
  if (!isObject(result)) throw new Error("this is not the answer of a league manager");
  return result;
}

function storedTokens(store: string): Json {
  try {
    const stored: unknown = JSON.parse(readFileSync(store, "utf8"));
    return isObject(stored) ? stored : {};
  } catch {
    return {};
  }
}

/** Writes a new file in the place of the old one: a crash leaves one of them whole. */
function keepToken(store: string, place: string, token: unknown): void {
  const kept = { ...storedTokens(store), [place]: token };
  writeFileSync(`${store}.new`, JSON.stringify(kept, null, 2), { mode: 0o600 });
  renameSync(`${store}.new`, store);
}

async function main(): Promise<void> {
  const option = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  const options = { listen: option, manager: option, name: option, advertise: option, store: option, dial: flag };
  const { values } = parseArgs({ options });
  const env = process.env;
  const listen = values.listen ?? env.MATCHDAY_LISTEN ?? "127.0.0.1:8101";
  const manager = values.manager ?? env.MATCHDAY_MANAGER ?? "http://localhost:8000/mcp";
  const store = values.store ?? env.MATCHDAY_STORE ?? "agent.json";
  const [, host, wanted] = /^\[?(.+?)\]?:(\d+)$/.exec(listen) ?? [];
  if (!host) throw new Error(`--listen: expected HOST:PORT, got ${listen}`);

  for (const stop of ["SIGINT", "SIGTERM"]) {
    process.on(stop, () => {
      console.error("stopped");
      process.exit(0);
    });
  }
  const agent = new Agent();
  if (values.dial ?? env.MATCHDAY_DIAL === "on") {
    const mailbox = await Mailbox.open(manager);
    console.error("called through the relay of the league");
    void mailbox.serve((body) => answerRelayed(agent, body)).then((why) => {
      console.error(`cannot go on: ${why}`);
      process.exit(1);
    });
    const meta = { display_name: values.name ?? env.MATCHDAY_NAME ?? NAME, contact_endpoint: mailbox.endpoint };
    return registered(agent, manager, meta, store);
  }
  const server = serve(agent);
  // The server listens before the player registers: the manager looks whether it is there.
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(Number(wanted), host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  console.error(`listening on ${host}:${port}`);
  const everywhere = ["0.0.0.0", "::"].includes(host);
  const reachable = everywhere ? "localhost" : host.includes(":") ? `[${host}]` : host;
  const meta = {
    display_name: values.name ?? env.MATCHDAY_NAME ?? NAME,
    contact_endpoint: values.advertise ?? env.MATCHDAY_ADVERTISE ?? `http://${reachable}:${port}/mcp`,
  };
  return registered(agent, manager, meta, store);
}

async function answerRelayed(agent: Agent, body: string): Promise<{ status: number; body: string }> {
  const answer = await agent.answer(Buffer.from(body));
  return { status: answer === undefined ? 202 : 200, body: answer === undefined ? "" : write(answer) };
}

async function registered(agent: Agent, manager: string, meta: Json, store: string): Promise<void> {
  const refused = await register(agent, manager, meta, store);
  if (refused !== undefined) throw new Error(`the manager refuses this player: ${refused}`);
  console.error(`registered as ${agent.identity?.playerId}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  });
}
