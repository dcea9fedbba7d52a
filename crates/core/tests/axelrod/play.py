"""Plays matches of the repeated prisoner's dilemma by axelrod, one JSON object a line.

In: {"a": "tit_for_tat", "b": ["cooperate", "defect", ...], "rounds": 20}, where a list is a player who makes just these moves.
Out: {"moves": [[a, b], ...], "totals": [a, b]}.
"""

import json
import sys

import axelrod

NAMES = {axelrod.Action.C: "cooperate", axelrod.Action.D: "defect"}
ACTIONS = {name: action for action, name in NAMES.items()}
STRATEGIES = {
    "tit_for_tat": axelrod.TitForTat,
    "grim": axelrod.Grudger,
    "win_stay_lose_shift": axelrod.WinStayLoseShift,
    "always_cooperate": axelrod.Cooperator,
    "always_defect": axelrod.Defector,
}


def player(asked):
    if isinstance(asked, str):
        return STRATEGIES[asked]()
    return axelrod.MockPlayer([ACTIONS[name] for name in asked])


for line in sys.stdin:
    asked = json.loads(line)
    match = axelrod.Match((player(asked["a"]), player(asked["b"])), turns=asked["rounds"])
    moves = [[NAMES[one] for one in both] for both in match.play()]
    print(json.dumps({"moves": moves, "totals": [int(total) for total in match.final_score()]}))
