"""Plays a seat by the official Python client, as a host does that is given a configuration and nothing else.

    host.py CONFIG MODE NAME

CONFIG is a file with one server, as hosts have it: {"mcpServers": {NAME: {"command", "args"} or {"url", "headers"}}}; VS
Code calls the list "servers". The client takes the names of tools from the server's instructions and what to do next from
its replies. It looks ahead in games with a `board` of nine cells, and takes the first option in others. Prints what it saw
as JSON, and the course of things to stderr.
"""

import asyncio
import functools
import json
import sys
import warnings

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

warnings.simplefilter("ignore")

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@functools.cache
def value(board, own, other, mover):
    for mark, worth in ((own, 1), (other, -1)):
        if any(all(board[cell] == mark for cell in line) for line in LINES):
            return worth
    free = [cell for cell in range(9) if board[cell] not in (own, other)]
    if not free:
        return 0
    following = other if mover == own else own
    values = [value(board[:cell] + (mover,) + board[cell + 1 :], own, other, following) for cell in free]
    return max(values) if mover == own else min(values)


def choose(turn):
    context = turn["context"]
    board = context.get("board")
    if not isinstance(board, list) or len(board) != 9:
        return turn["options"][0]
    own, other = context["your_mark"], context["opponent_mark"]

    def worth(cell):
        return value(tuple(board[:cell]) + (own,) + tuple(board[cell + 1 :]), own, other, other)

    return max(turn["options"], key=worth)


def server(config):
    [entry] = (config.get("mcpServers") or config["servers"]).values()
    if "command" in entry:
        return StdioServerParameters(command=entry["command"], args=entry["args"])
    return streamable_http_client(entry["url"], http_client=httpx2.AsyncClient(headers=entry["headers"], timeout=60))


def say(text):
    print(text, file=sys.stderr)


async def main(path, mode, name):
    with open(path) as file:
        config = json.load(file)
    async with Client(server(config), mode=mode, read_timeout_seconds=60) as client:
        say(f"server: {client.instructions}")
        tools = {tool.name for tool in (await client.list_tools()).tools}
        mentioned = [tool for tool in ("join_league", "wait_for_turn", "make_move") if tool in client.instructions]
        assert len(mentioned) == 3 and set(mentioned) <= tools, client.instructions

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            say(f"client: {tool} {json.dumps(arguments)}")
            say(f"server: {result.content[0].text[:600]}")
            assert not result.is_error, result
            return result.structured_content

        joined = await call("join_league", name=name)
        seat = joined["seat"]
        results, moves = [], 0
        while True:
            news = await call("wait_for_turn", seat=seat)
            results += news["results"]
            if news["happened"] == "league_over":
                break
            if news["happened"] == "your_turn":
                await call("make_move", seat=seat, turn=news["turn"]["turn"], choice=choose(news["turn"]))
                moves += 1
        print(json.dumps({"instructions": client.instructions, "joined": joined, "results": results, "moves": moves}))


asyncio.run(main(*sys.argv[1:]))
