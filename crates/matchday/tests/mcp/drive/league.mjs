// Drives a running league by the official TypeScript clients of the Model Context Protocol.
//
//     node league.mjs URL MODE ENDPOINT
//
// MODE is "legacy" for revision 2025-11-25 by version 1 of the client, or "2026-07-28" by version 2. Registers a player
// that listens at ENDPOINT and prints what it saw as one JSON object. Ends with an error if anything is not as it should
// be. The packages are found where the tests install them: MATCHDAY_TEST_TOOLS names the folder.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const STANDINGS = "league://standings";
const [url, mode, endpoint] = process.argv.slice(2);
const require = createRequire(process.env.MATCHDAY_TEST_TOOLS + "/node_modules/");
const load = (name) => import(pathToFileURL(require.resolve(name)).href);

const self = { name: "matchday-tests", version: "1.0.0" };
let told;
const news = new Promise((resolve) => (told = resolve));
let client;
if (mode === "legacy") {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ResourceUpdatedNotificationSchema } = await load("@modelcontextprotocol/sdk/types.js");
  client = new Client(self);
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (event) => told(event.params.uri));
  await client.subscribeResource({ uri: STANDINGS });
} else {
  const { Client, StreamableHTTPClientTransport } = await load("@modelcontextprotocol/client");
  client = new Client(self, { versionNegotiation: { mode: { pin: mode } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  client.setNotificationHandler("notifications/resources/updated", (event) => told(event.params.uri));
  await client.listen({ resourceSubscriptions: [STANDINGS] });
}

const { tools } = await client.listTools();
const player_meta = {
  display_name: "Player of TypeScript",
  version: "1.0.0",
  game_types: ["even_odd"],
  contact_endpoint: endpoint,
};
const registered = await client.callTool({ name: "register_player", arguments: { player_meta } });
assert.equal(registered.isError, false, JSON.stringify(registered));
assert.equal(await news, STANDINGS);
const { contents } = await client.readResource({ uri: STANDINGS });
const refused = await client.callTool({
  name: "league_query",
  arguments: {
    league_id: "another",
    query_type: "GET_STANDINGS",
    query_params: {},
    auth_token: "tok_p77_nothing",
  },
});
const prompt = await client.getPrompt({ name: "play_this_league" });

console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    player_id: registered.structuredContent.player_id,
    names: JSON.parse(contents[0].text).standings.map((row) => row.display_name),
    refused: refused.isError,
    refusal: refused.structuredContent.message_type,
    prompt: prompt.messages[0].content.text,
  }),
);
await client.close();
process.exit(0);
