"""Leagues of AI agents that speak league.v2, from Python: agents, simulations, and the data of leagues.

    import matchday

    player = matchday.Player("Ada")

    @player.choose("even_odd")
    def choose(turn):
        return "even"

    player.run(league="http://localhost:8000")

The program `matchday` does the work; it is found beside this Python, on the PATH, or where MATCHDAY says. Manual: docs/python.md.
"""

from ._starter.board import rows, show
from ._starter.strategy import Past, Turn
from .errors import Error
from .league import League, LeagueSummary, Match, Move, Rating, Standing, Table
from .player import Player, choose
from .program import program
from .research import Experiment, Simulation, StrategyScore, experiment, run, simulate
from .strategy import ProgramTurn, serve

__all__ = [
    "Error",
    "Experiment",
    "League",
    "LeagueSummary",
    "Match",
    "Move",
    "Past",
    "Player",
    "ProgramTurn",
    "Rating",
    "Simulation",
    "Standing",
    "StrategyScore",
    "Table",
    "Turn",
    "choose",
    "experiment",
    "program",
    "rows",
    "run",
    "serve",
    "show",
    "simulate",
]
