"""What the adapters share: the line protocol of `matchday --game-command`, and boards as `view`.

A game is an object with `describe()` and `start()`. What `start()` returns is a match: `advance(turn)` makes the moves of one
turn of the history, `position()` says what they lead to.
"""

import json
import re
import sys
from collections import OrderedDict

SEATS = "AB"
MATCHES_KEPT = 64
TURNS_MAX = 10_000
OPTIONS_BYTES_MAX = 60_000
# What is drawn of a board.
VIEW_BYTES_MAX = 4096
COLUMNS_MAX = 26
# The names of columns; in Go there is no column i.
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALPHABETS = {names[:count] for names in (LETTERS, LETTERS.replace("i", "")) for count in range(2, 27)}


class Refused(Exception):
    """Why a game cannot be played, in one line."""


def game_type(library, name):
    """`go(board_size=9)` of openspiel is `openspiel_go_board_size_9`."""
    return re.sub(r"[^a-z0-9]+", "_", f"{library}_{name}".lower()).strip("_")[:64]


def serve(build):
    """Answers every line of standard input. `build` makes the game from the arguments of the command line."""
    try:
        game, refused = build(sys.argv[1:]), None
    except Refused as error:
        game, refused = None, str(error)
    except ImportError as error:
        game, refused = None, f"{error} (looked for by {sys.executable}: install the library with pip)"
    matches = OrderedDict()
    for line in sys.stdin:
        try:
            answer = {"error": refused} if refused else reply(game, matches, json.loads(line))
        except Refused as error:
            answer = {"error": str(error)}
        print(json.dumps(answer), flush=True)


def reply(game, matches, question):
    if question["do"] == "describe":
        return game.describe()
    if question["do"] != "position":
        return {"error": f"what is {question['do']!r}?"}
    match_id, history = question["match_id"], question["history"]
    # The history is told in full every time; most of it is known from the question before.
    seen, match = matches.pop(match_id, ([], None))
    if match is None or history[: len(seen)] != seen:
        seen, match = [], game.start()
    for turn in history[len(seen) :]:
        match.advance(turn)
    matches[match_id] = (history, match)
    if len(matches) > MATCHES_KEPT:
        matches.popitem(last=False)
    position = match.position()
    size = len(json.dumps(position.get("moves", {})))
    if size > OPTIONS_BYTES_MAX:
        raise Refused(f"the legal moves take {size} bytes: too many for a message")
    return position


def over(returns, details):
    """The end of a match in which A and B have got `returns`; the higher one wins."""
    a, b = returns
    winner = "draw" if a == b else "A" if a > b else "B"
    reason = f"A has {a:g}, B has {b:g}"
    return {"turn": "over", "winner": winner, "reason": reason, "details": details}


def view_of(text, marks=None):
    """The board in a text as the position's `view`, if there is one; `marks` says which letters are A's and B's."""
    grid, of_fen = fen_grid(text), {"A": list("PNBRQK"), "B": list("pnbrqk")}
    marks = of_fen if grid else marks
    grid = grid or text_grid(text)
    if not grid or len(grid[0]) > COLUMNS_MAX:
        return {}
    cells = ["" if cell in ".+-" else cell for row in grid for cell in row]
    view = {"kind": "grid", "columns": len(grid[0]), "cells": cells} | ({"marks": marks} if marks else {})
    return {"view": view} if len(json.dumps(view)) <= VIEW_BYTES_MAX else {}


def fen_grid(text):
    placement = text.strip().split(" ")[0]
    if not re.fullmatch(r"[A-Za-z0-9]+(/[A-Za-z0-9]+){3,}", placement):
        return None
    rows = [re.sub(r"\d+", lambda empty: "." * int(empty[0]), row) for row in placement.split("/")]
    return [list(row) for row in rows] if len({len(row) for row in rows}) == 1 else None


def text_grid(text):
    """The longest run of lines of equal length, without numbers of rows and letters of columns."""
    best, run = [], []
    for line in text.splitlines() + [""]:
        cells = re.sub(r"^\s*\d+\s*|\s+\d+\s*$|\s+", "", line)
        is_row = len(cells) > 1 and ":" not in cells and cells.lower() not in ALPHABETS
        if is_row and (not run or len(cells) == len(run[0])):
            run.append(list(cells))
        else:
            best, run = max(best, run, key=len), [list(cells)] if is_row else []
    return best if len(best) > 2 else None
