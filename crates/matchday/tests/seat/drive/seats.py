"""Plays four seats through a whole league by the official Python client of the Model Context Protocol.

    seats.py URL

URL is that of `matchday seat`, or of a manager with seats. Two clients speak revision 2025-11-25, whose session knows
its seat, and two 2026-07-28, which must name it. Prints what each saw as JSON, and the course of things to stderr.
"""

import asyncio
import json
import sys
import warnings

from mcp import Client

warnings.simplefilter("ignore")


async def play(url, mode, name):
    async with Client(url, mode=mode, read_timeout_seconds=60) as client:
        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result
            return result.structured_content

        joined = await call("join_league", name=name)
        seat = {} if mode == "legacy" else {"seat": joined["seat"]}
        print(f"{name} joined as {joined['player_id']}: {joined['next']}", file=sys.stderr)
        moves, results = 0, []
        while True:
            news = await call("wait_for_turn", **seat)
            results += news["results"]
            for game in news["results"]:
                print(f"{name}: {game['match_id']} {game['outcome']}", file=sys.stderr)
            if news["happened"] == "league_over":
                break
            if news["happened"] != "your_turn":
                continue
            turn = news["turn"]
            choice = turn["options"][(moves * 2 + ord(name[0])) % 3 % len(turn["options"])]
            made = await call("make_move", turn=turn["turn"], choice=choice, **seat)
            moves += 1
            left = turn["seconds_left"]
            print(f"{name}: {made['choice']} in {made['turn']}, {left} s left", file=sys.stderr)
        table = (await call("standings", **seat))["standings"]
        assert table == news["final_table"], (table, news)
        history = await call("my_history", **seat)
        return {
            "name": name,
            "moves": moves,
            "results": len(results),
            "made_for_you": history["moves_made_for_you"],
            "table": [f"{row['rank']}. {row['display_name']} {row['points']}" for row in table],
        }


async def main(url):
    modes = ["legacy", "2026-07-28"] * 2
    seats = [play(url, mode, name) for mode, name in zip(modes, ["Ann", "Bob", "Cid", "Dan"])]
    print(json.dumps(await asyncio.gather(*seats)))


asyncio.run(main(sys.argv[1]))
