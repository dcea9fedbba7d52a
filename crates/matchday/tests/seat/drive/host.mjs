// Plays a seat by the official TypeScript clients, as a host does that is given a configuration and nothing else.
//
//     node host.mjs CONFIG MODE NAME
//
// CONFIG is as for host.py. MODE is "legacy" for revision 2025-11-25 by version 1 of the client, or "2026-07-28" by version
// 2. Takes the first option of every turn, and prints what it saw as JSON.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const [path, mode, name] = process.argv.slice(2);
const require = createRequire(process.env.MATCHDAY_TEST_TOOLS + "/node_modules/");
const load = (module) => import(pathToFileURL(require.resolve(module)).href);
const config = JSON.parse(readFileSync(path, "utf8"));
const [entry] = Object.values(config.mcpServers ?? config.servers);

const self = { name: "matchday-tests", version: "1.0.0" };
const sdk = mode === "legacy" ? "@modelcontextprotocol/sdk/client" : "@modelcontextprotocol/client";
const part = (file) => load(mode === "legacy" ? `${sdk}/${file}.js` : file === "stdio" ? `${sdk}/stdio` : sdk);
const { Client } = await part("index");
const client = new Client(self, mode === "legacy" ? {} : { versionNegotiation: { mode: { pin: mode } } });
if (entry.command) {
  const { StdioClientTransport } = await part("stdio");
  await client.connect(new StdioClientTransport({ command: entry.command, args: entry.args }));
} else {
  const { StreamableHTTPClientTransport } = await part("streamableHttp");
  await client.connect(
    new StreamableHTTPClientTransport(new URL(entry.url), { requestInit: { headers: entry.headers } }),
  );
}

async function call(tool, args) {
  const result = await client.callTool({ name: tool, arguments: args });
  assert(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

const instructions = client.getInstructions();
await client.listTools();
const joined = await call("join_league", { name });
const seat = joined.seat;
const results = [];
let moves = 0;
for (;;) {
  const news = await call("wait_for_turn", { seat, wait_seconds: 10 });
  results.push(...news.results);
  if (news.happened === "league_over") break;
  if (news.happened === "your_turn") {
    await call("make_move", { seat, turn: news.turn.turn, choice: news.turn.options[0] });
    moves += 1;
  }
}
console.log(JSON.stringify({ instructions, joined, results, moves }));
await client.close();
