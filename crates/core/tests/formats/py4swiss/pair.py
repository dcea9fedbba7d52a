"""Pairs the next round of each tournament on standard input by py4swiss (FIDE Dutch), one JSON object a line.

In: {"players": 8, "rounds_in_all": 5, "rounds": [{"pairs": [[1, 5, "1"], ...], "bye": null}, ...]}, with the result of the
first, who is on side A: "1", "0" or "=". Out: {"pairs": [[a, b], ...], "bye": null}, or {"error": "..."}.

With "edges": [[a, b, [cost, ...]], ...], the most important cost first and 0 for a bye, the answer also has "least": what the cheapest
pairing costs, found by networkx.
"""

import json
import sys
import tempfile
from pathlib import Path

import networkx
from py4swiss.engines import DutchEngine
from py4swiss.trf import TrfParser

POINTS = {"1": 3, "=": 1, "0": 0}


def trf(tournament):
    results = {player: [] for player in range(1, tournament["players"] + 1)}
    points = dict.fromkeys(results, 0)
    for played in tournament["rounds"]:
        for a, b, result in played["pairs"]:
            other = {"1": "0", "0": "1", "=": "="}[result]
            for player, opponent, side, own in [(a, b, "w", result), (b, a, "b", other)]:
                results[player].append(f"{opponent:4d} {side} {own}")
                points[player] += POINTS[own]
        if played["bye"]:
            results[played["bye"]].append("0000 - U")
            points[played["bye"]] += POINTS["1"]
    ranking = sorted(points, key=lambda player: (-points[player], player))
    lines = ["012 Swiss", f"XXR {tournament['rounds_in_all']}", "XXS W=3.0 D=1.0 PAB=3.0"]
    for player, own in results.items():
        head = f"001 {player:4d}      {'P' + str(player):33s} {3000 - player:4d} {'':3s} {'':11s} {'':10s}"
        head += f" {float(points[player]):4.1f} {ranking.index(player) + 1:4d}"
        lines.append("  ".join([head, *own]))
    return "\n".join(lines) + "\n"


def pair(tournament, folder):
    file = Path(folder) / "tournament.trf"
    file.write_text(trf(tournament), encoding="utf-8")
    drawn = DutchEngine.generate_pairings(TrfParser.parse(file))
    pairs = [[one.white, one.black] for one in drawn if one.black]
    byes = [one.white for one in drawn if not one.black]
    return {"pairs": pairs, "bye": byes[0] if byes else None}


def least(edges):
    graph = networkx.Graph()
    for a, b, costs in edges:
        # Python's integers have no end: no cost outgrows its thousand thousands.
        weight = 0
        for cost in costs:
            weight = weight * 1_000_000 + cost
        graph.add_edge(a, b, weight=-weight, costs=costs)
    chosen = networkx.max_weight_matching(graph, maxcardinality=True)
    return [sum(of_one) for of_one in zip(*(graph.edges[edge]["costs"] for edge in chosen))]


with tempfile.TemporaryDirectory() as folder:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = pair(asked, folder)
        except Exception as error:  # Whatever it is, the test that asked is to show it.
            answer = {"error": f"{type(error).__name__}: {error}"}
        if asked["edges"]:
            answer["least"] = least(asked["edges"])
        print(json.dumps(answer), flush=True)
