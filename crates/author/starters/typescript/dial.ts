/** Dials out: for an agent that nobody can call, behind NAT or a firewall. The league's relay keeps its calls in a mailbox; it
 *  fetches them, and posts its answers. The wire format is in docs/protocol-relay.md of Matchday. */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

// The relay answers a poll after 25 s at the latest.
const POLL_MS = 35_000;
const PAUSE_MAX_MS = 1_600;

export type Reply = { status: number; body: string };
type Opened = { mailbox: string; relay_token: string; contact_endpoint: string };

export class Mailbox {
  readonly endpoint: string;
  readonly #token: string;
  readonly #url: string;
  readonly #client = randomBytes(8).toString("hex");
  #seen = 0;

  private constructor(base: string, opened: Opened) {
    this.endpoint = opened.contact_endpoint;
    this.#token = opened.relay_token;
    this.#url = `${base}/relay/${opened.mailbox}`;
  }

  /** Opens a mailbox at the league of this manager; a join code may be in its URL. */
  static async open(manager: string): Promise<Mailbox> {
    const [base = "", code] = manager.replace(/\/mcp$/, "").split("/join/");
    const response = await send(`${base}/relay`, code, "");
    if (response.status !== 201) {
      throw new Error(`HTTP ${response.status} from ${base}/relay: ${await response.text()}`);
    }
    return new Mailbox(base, (await response.json()) as Opened);
  }

  /** Has `answer` answer every call. Returns why it cannot go on. */
  async serve(answer: (body: string) => Promise<Reply>): Promise<string> {
    for (let pause = 100; ; pause = Math.min(pause * 2, PAUSE_MAX_MS)) {
      try {
        const response = await send(`${this.#url}/next?client=${this.#client}&after=${this.#seen}`, this.#token);
        const text = await response.text();
        if ([401, 404, 409].includes(response.status)) return `HTTP ${response.status}: ${text}`;
        for (const line of response.status === 200 ? text.split("\n").filter((line) => line !== "") : []) {
          const call = JSON.parse(line) as { id?: number; left_ms?: number; body?: string; closed?: string };
          if (call.closed === "taken_over") return "another client has taken over this mailbox";
          if (call.id !== undefined && call.id > this.#seen) {
            this.#seen = call.id;
            void this.#reply(call.id, call.left_ms ?? 0, answer(call.body ?? ""));
          }
        }
        if (response.status === 200) {
          pause = 50;
          continue;
        }
      } catch (error) {
        console.error(`no connection to the league (${error}): trying again`);
      }
      await sleep(pause * (0.5 + Math.random() / 2));
    }
  }

  async #reply(id: number, leftMs: number, answered: Promise<Reply>): Promise<void> {
    const until = performance.now() + leftMs;
    const { status, body } = await answered;
    while (performance.now() < until) {
      try {
        await send(`${this.#url}/answers/${id}?status=${status}`, this.#token, body);
        return;
      } catch {
        await sleep(100);
      }
    }
  }
}

function send(url: string, token: string | undefined, body?: string): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (token !== undefined) headers.Authorization = `Bearer ${token}`;
  const signal = AbortSignal.timeout(POLL_MS);
  return fetch(url, body === undefined ? { headers, signal } : { method: "POST", headers, body, signal });
}
