#!/usr/bin/env python3
"""Any two-player game of PettingZoo's classic set (`pip install "pettingzoo[classic]"`) as the rules of a league:

    matchday run --game-command "examples/adapters/petting_zoo.py connect_four"
    matchday run --game-command "examples/adapters/petting_zoo.py go board_size=9"
"""

import importlib
import inspect
import json
import os
import pkgutil
import warnings

from adapter import SEATS, TURNS_MAX, Refused, game_type, over, serve, view_of

SEEDS = 1 << 31
# Longer observations do not fit into a message beside the legal moves.
OBSERVATION_MAX = 5000


class Zoo:
    def __init__(self, name, options):
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        warnings.filterwarnings("ignore")
        module = find(name)
        self.title, self.name = name, module.__name__.rsplit(".", 1)[1]
        # The environment's own module holds its rules.
        self.rules = inspect.getdoc(inspect.getmodule(module.raw_env)) or inspect.getdoc(module.raw_env) or ""
        self.new = lambda: module.env(**options)
        agents = self.new().possible_agents
        if len(agents) != 2:
            raise Refused(f"{name} has {len(agents)} players: Matchday plays games of two")
        self.label = name + "".join(f"_{key}_{value}" for key, value in options.items())

    def describe(self):
        how = (
            f"The game `{self.name}` of PettingZoo. `context.observation` is what you may see; a move is one of the legal "
            "actions, by its number (in chess by its name, as `e2e4`). The player with the higher reward at the end wins.\n\n"
        )
        return {
            "game_type": game_type("pettingzoo", self.label),
            "about": f"{self.title}, of PettingZoo",
            "rules": how + self.rules,
            "turns_max": TURNS_MAX,
        }

    def start(self):
        return Match(self)


def find(name):
    import pettingzoo.classic as classic

    names = [module.name for module in pkgutil.iter_modules(classic.__path__)]
    versions = [found for found in names if found == name or found.rpartition("_v")[0] == name]
    if not versions:
        known = sorted(found.rpartition("_v")[0] for found in names if "_v" in found)
        raise Refused(f"PettingZoo's classic set has no {name}; it has: {', '.join(known)}")
    return importlib.import_module(f"pettingzoo.classic.{versions[-1]}")


class Match:
    """The first turn is chance's: the seed from which the library draws all else."""

    def __init__(self, zoo):
        self.zoo, self.env, self.turns = zoo, None, 0

    def advance(self, turn):
        self.turns += 1
        if self.env is None:
            self.env = self.zoo.new()
            self.env.reset(seed=turn["chance"])
            self.totals = dict.fromkeys(self.env.possible_agents, 0.0)
            return
        seat = self.seat()
        self.env.step(self.moves()[turn[SEATS[seat]]])
        for agent, reward in self.env.rewards.items():
            self.totals[agent] += float(reward)

    def position(self):
        if self.env is None:
            return {"turn": "chance", "range": [0, SEEDS - 1]}
        agents = self.env.possible_agents
        if not self.env.agents or any(self.env.terminations.values()) or any(self.env.truncations.values()):
            return over([self.totals[agent] for agent in agents], {"turns": self.turns - 1}) | self.view()
        seat = SEATS[self.seat()]
        context = {"observation": self.observation()}
        return {"turn": seat, "moves": {seat: list(self.moves())}, "context": {seat: context}} | self.view()

    def seat(self):
        return self.env.possible_agents.index(self.env.agent_selection)

    def moves(self):
        """Every legal action by its name."""
        seen = self.env.observe(self.env.agent_selection)
        if isinstance(seen, dict) and "action_mask" in seen:
            legal = [action for action, allowed in enumerate(seen["action_mask"]) if allowed]
        else:
            legal = list(range(self.env.action_space(self.env.agent_selection).n))
        if not hasattr(self.env.unwrapped, "board") or not self.zoo.name.startswith("chess"):
            return {action: action for action in legal}
        from pettingzoo.classic.chess import chess_utils

        board = self.env.unwrapped.board
        return {str(chess_utils.action_to_move(board, action, self.seat())): action for action in legal}

    def observation(self):
        if self.board() is not None:
            return self.board()
        seen = self.env.observe(self.env.agent_selection)
        seen = seen["observation"] if isinstance(seen, dict) else seen
        told = whole(seen.tolist()) if hasattr(seen, "tolist") else seen
        return told if len(json.dumps(told)) <= OBSERVATION_MAX else None

    def board(self):
        """The board that both see, as text, in games that have one."""
        env = self.env.unwrapped
        if self.zoo.name.startswith("chess"):
            return str(env.board)
        seen = self.env.observe(self.env.possible_agents[0])
        planes = seen.get("observation") if isinstance(seen, dict) else None
        if planes is None or planes.ndim != 3:
            return None
        rows, columns, _ = planes.shape
        mark = lambda cell: "x" if cell[0] else "o" if cell[1] else "."
        return "\n".join("".join(mark(planes[row][column]) for column in range(columns)) for row in range(rows))

    def view(self):
        if self.zoo.name.startswith("chess"):
            return view_of(self.env.unwrapped.board.fen())
        board = self.board()
        return view_of(board, {"A": ["x"], "B": ["o"]}) if board else {}


def whole(numbers):
    """1.0 as 1: most observations are flags."""
    if isinstance(numbers, list):
        return [whole(number) for number in numbers]
    return int(numbers) if float(numbers).is_integer() else numbers


def build(arguments):
    if not arguments:
        raise Refused("expected the name of a classic game of PettingZoo, as in: petting_zoo.py connect_four")
    options = {}
    for argument in arguments[1:]:
        key, equals, value = argument.partition("=")
        if not equals:
            raise Refused(f"expected name=value, got {argument}")
        options[key] = json.loads(value)
    return Zoo(arguments[0], options)


if __name__ == "__main__":
    serve(build)
