#!/usr/bin/env python3
"""Any two-player game of TextArena (`pip install textarena`) whose moves can be listed, as the rules of a league:

    matchday run --game-command "examples/adapters/text_arena.py Nim-v0"

TextArena takes free text and has no list of legal moves. This program tries what the game itself names in brackets, and the
usual forms of moves, on copies of the game, and offers what is not refused.
"""

import copy
import itertools
import random
import re

from adapter import SEATS, TURNS_MAX, Refused, game_type, over, serve

SEEDS = 1 << 31
# With more legal moves named, they are all named; fewer may be examples.
EXAMPLES_MAX = 2
MOVES_MAX = 400
TURNS = 500
SQUARES = [f"{column}{row}" for column in "abcdefgh" for row in range(1, 9)]
# The usual forms of moves. A form is tried if the game gives an example of it.
FORMS = {
    r"\[\d+\]": lambda: [f"[{number}]" for number in range(100)],
    r"\[\d+ \d+\]": lambda: [f"[{one} {other}]" for one, other in itertools.product(range(10), repeat=2)],
    r"\[\d+, ?\d+\]": lambda: [f"[{one},{other}]" for one, other in itertools.product(range(10), repeat=2)],
    r"\[[a-h]\d[a-h]\d\]": lambda: [f"[{start}{end}]" for start, end in itertools.permutations(SQUARES, 2)],
}
# What no game expects: where it is taken, anything is, as in a conversation.
NONSENSE = "[matchday]"


class Arena:
    def __init__(self, name):
        import textarena

        self.name, self.library = name, textarena
        if name not in textarena.envs.registration.ENV_REGISTRY:
            raise Refused(f"TextArena has no {name}; a name is like TicTacToe-v0")
        self.prompt = ""
        try:
            match = Match(self)
            match.advance({"chance": 1})
        except AssertionError as error:
            raise Refused(f"{name} cannot be played by two: {error}") from None
        except Exception as error:
            raise Refused(f"TextArena cannot set {name} up: {error}") from None
        if not match.moves():
            raise Refused(f"{name} takes free text: Matchday needs games whose legal moves can be listed")
        self.prompt = match.prompt(0)

    def describe(self):
        how = "`context.observation` is what the game tells you; a move is one of the options, as it stands.\n\n"
        return {
            "game_type": game_type("textarena", self.name),
            "about": f"{self.name}, of TextArena",
            "rules": f"# {self.name}, of TextArena\n\n{how}```\n{self.prompt}\n```",
            "turns_max": TURNS_MAX,
        }

    def start(self):
        return Match(self)


class Match:
    """The first turn is chance's: the seed from which the library draws all else."""

    def __init__(self, arena):
        self.arena, self.env, self.chance, self.turns, self.legal = arena, None, None, 0, None

    def advance(self, turn):
        self.turns, self.legal = self.turns + 1, None
        if self.env is None:
            # Without wrappers: they rewrite what players see and say.
            self.env = self.arena.library.make(f"{self.arena.name}-raw" if has_raw(self.arena) else self.arena.name)
            random.seed(turn["chance"])
            self.env.reset(num_players=2, seed=turn["chance"])
            self.told = {0: [], 1: []}
        else:
            random.setstate(self.chance)
            self.env.step(turn[SEATS[self.seat()]])
        self.chance = random.getstate()
        state = self.env.state
        for player in (0, 1):
            self.told[player] += [(kind, text) for _, text, kind in state.observations[player]]
            state.observations[player] = []

    def position(self):
        if self.env is None:
            return {"turn": "chance", "range": [0, SEEDS - 1]}
        state = self.env.state
        details = {"turns": self.turns - 1}
        if state.done:
            reason = (state.game_info[0] or {}).get("reason") or "the game is over"
            rewards = state.rewards or {}
            return over((rewards.get(0, 0), rewards.get(1, 0)), details) | {"reason": named(str(reason))}
        if self.turns > TURNS:
            return over((0, 0), details) | {"reason": f"{TURNS} turns without an end"}
        seat, moves = self.seat(), self.moves()
        if not moves:
            raise Refused(f"no legal move of {self.arena.name} could be found")
        context = {"observation": self.since_last_move(seat), "board": self.board(seat)}
        return {"turn": SEATS[seat], "moves": {SEATS[seat]: moves}, "context": {SEATS[seat]: context}}

    def seat(self):
        return self.env.state.current_player_id

    def prompt(self, seat):
        return "\n".join(text for kind, text in self.told[seat] if kind.name == "PROMPT")

    def board(self, seat):
        boards = [text for kind, text in self.told[seat] if kind.name == "GAME_BOARD"]
        return boards[-1] if boards else None

    def since_last_move(self, seat):
        return "\n".join(text for _, text in self.told[seat][-4:])[-4000:]

    def moves(self):
        if self.legal is None:
            told = self.told[self.seat()]
            last = [text for kind, text in told if kind.name != "PROMPT"][-6:]
            named_moves = dict.fromkeys(itertools.chain.from_iterable(map(bracketed, [*last, self.prompt(self.seat())])))
            legal = self.accepted(named_moves)
            if self.is_accepted(NONSENSE):
                legal = legal or [NONSENSE] * bool(self.prompt_names_moves())
            elif len(legal) <= EXAMPLES_MAX:
                forms = [form() for example, form in FORMS.items() if any(re.fullmatch(example, move) for move in named_moves)]
                legal = list(dict.fromkeys([*legal, *self.accepted(itertools.chain.from_iterable(forms))]))
            self.legal = legal[:MOVES_MAX]
        return self.legal

    def prompt_names_moves(self):
        return bracketed(self.prompt(self.seat()))

    def accepted(self, candidates):
        return [move for move in candidates if self.is_accepted(move)]

    def is_accepted(self, move):
        trial = copy.deepcopy(self.env)
        random.setstate(self.chance)
        before = trial.state.error_count
        try:
            trial.step(move)
        except Exception:
            return False
        state = trial.state
        lost = any(info.get("invalid_move") for info in state.game_info.values())
        told = any(kind.name == "GAME_ADMIN" and "nvalid" in text for seen in state.observations.values() for _, text, kind in seen)
        return not lost and not told and state.error_count <= before


def has_raw(arena):
    return f"{arena.name}-raw" in arena.library.envs.registration.ENV_REGISTRY


def bracketed(text):
    return re.findall(r"\[[^\[\]\n]{1,40}\]", text)


def named(text):
    return text.replace("Player 0", "A").replace("Player 1", "B")


def build(arguments):
    if len(arguments) != 1:
        raise Refused("expected the name of one game of TextArena, as in: text_arena.py TicTacToe-v0")
    return Arena(arguments[0])


if __name__ == "__main__":
    serve(build)
