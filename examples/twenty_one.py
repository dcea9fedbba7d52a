#!/usr/bin/env python3
"""Twenty-one, a game for `matchday --game-command`: players in turn add 1, 2 or 3 to a count, and the one that makes it 21 wins.

The program reads one line of JSON at a time from its standard input and answers each by one line. It keeps nothing between
two lines: the history of a match is told in full every time.
"""

import json
import sys

GOAL = 21

RULES = """# twenty_one

A count begins at 0. Player A begins, and the players in turn add 1, 2 or 3 to it. The player that makes it 21 wins.

`move_request.context.count` is the count so far; `move_data.choice` is what to add: 1, 2 or 3.
"""


def describe():
    return {
        "game_type": "twenty_one",
        "about": "add 1, 2 or 3 in turn; the player that makes it 21 wins",
        "rules": RULES,
        "turns_max": GOAL,
    }


def position(history):
    count = sum(move for turn in history for move in turn.values())
    player, other = ("A", "B") if len(history) % 2 == 0 else ("B", "A")
    if count >= GOAL:
        return {"turn": "over", "winner": other, "reason": f"{other} made it {count}", "details": {"count": count}}
    return {
        "turn": player,
        "move_type": "add",
        "moves": {player: [step for step in (1, 2, 3) if count + step <= GOAL]},
        "context": {player: {"count": count}},
        "details": {"count": count},
    }


def answer(question):
    if question["do"] == "describe":
        return describe()
    if question["do"] == "position":
        return position(question["history"])
    return {"error": f"what is {question['do']!r}?"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
