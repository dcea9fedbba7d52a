"""Drives a running league by the official Python client of the Model Context Protocol.

    league.py URL MODE ENDPOINT

MODE is "legacy" for revision 2025-11-25 with its sessions, or "2026-07-28". Registers a player that listens at ENDPOINT
and prints what it saw as one JSON object. Ends with an error if anything is not as it should be.
"""

import asyncio
import json
import sys
import warnings

from mcp import Client

warnings.simplefilter("ignore")
STANDINGS = "league://standings"


async def register(client, endpoint):
    meta = {
        "display_name": "Player of Python",
        "version": "1.0.0",
        "game_types": ["even_odd"],
        "contact_endpoint": endpoint,
    }
    return await client.call_tool("register_player", {"player_meta": meta})


async def drive(url, mode, endpoint):
    updated = asyncio.Event()

    async def on_message(message):
        if "resources/updated" in str(getattr(message, "method", "")):
            updated.set()

    async with Client(url, mode=mode, message_handler=on_message, read_timeout_seconds=30) as client:
        tools = await client.list_tools()
        if mode == "legacy":
            await client.subscribe_resource(STANDINGS)
            registered = await register(client, endpoint)
            await asyncio.wait_for(updated.wait(), 30)
        else:
            async with client.listen(resource_subscriptions=[STANDINGS]) as news:
                registered = await register(client, endpoint)
                event = await asyncio.wait_for(anext(aiter(news)), 30)
                assert event.uri == STANDINGS, event
        assert not registered.is_error, registered
        table = json.loads((await client.read_resource(STANDINGS)).contents[0].text)
        refused = await client.call_tool("league_query", {
            "league_id": "another",
            "query_type": "GET_STANDINGS",
            "query_params": {},
            "auth_token": "tok_p77_nothing",
        })
        prompt = await client.get_prompt("play_this_league")
        return {
            "tools": [tool.name for tool in tools.tools],
            "player_id": registered.structured_content["player_id"],
            "names": [row["display_name"] for row in table["standings"]],
            "refused": refused.is_error,
            "refusal": refused.structured_content["message_type"],
            "prompt": prompt.messages[0].content.text,
        }


print(json.dumps(asyncio.run(drive(*sys.argv[1:4]))))
