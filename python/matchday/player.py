"""A player of league.v2: a decorated function, or a class, is a whole agent."""

from __future__ import annotations

import argparse
import os
import threading
from typing import Any, Callable, Dict, Optional

from ._starter import agent as starter
from ._starter.strategy import Turn
from .errors import Error

GAMES = (
    "even_odd",
    "tic_tac_toe",
    "rock_paper_scissors",
    "matching_pennies",
    "iterated_prisoners_dilemma",
    "connect_four",
    "nim",
)
"""The games that a player without a word on games plays."""

Choose = Callable[[Turn], Any]


def choose(*games: str) -> Callable[[Callable], Callable]:
    """Marks a method of a class derived from `Player`: it decides in these games, or in every game."""

    def mark(method: Callable) -> Callable:
        method.__matchday_games__ = games or GAMES  # type: ignore[attr-defined]
        return method

    return mark


class Player:
    """Registers with a league, answers its referees, and asks your functions for moves."""

    def __init__(
        self,
        name: Optional[str] = None,
        *,
        version: str = starter.VERSION,
        strategy: Optional[str] = None,
        model: Optional[str] = None,
    ) -> None:
        self.name = name or type(self).__name__
        self.version = version
        # What the league shows beside the name; a language model has a column of its own in the table of players.
        self.strategy = f"llm:{model}"[:50] if model else strategy
        self._choosers: Dict[str, Choose] = {}
        for attribute in dir(type(self)):
            for game in getattr(getattr(type(self), attribute), "__matchday_games__", ()):
                self._choosers[game] = getattr(self, attribute)

    def choose(self, *games: str) -> Callable[[Choose], Choose]:
        """Has a function decide in these games, or in every game: it returns one of `turn.options`."""

        def decorate(function: Choose) -> Choose:
            for game in games or GAMES:
                self._choosers[game] = function
            return function

        return decorate

    def decide(self, turn: Turn) -> Any:
        """What the player would do."""
        return self._choosers[turn.game_type](turn)

    def __call__(self, turn: Turn) -> Any:
        return self.decide(turn)

    @property
    def __name__(self) -> str:  # as a strategy of a simulation
        return self.name

    def run(
        self,
        league: Optional[str] = None,
        code: Optional[str] = None,
        *,
        dial: Optional[bool] = None,
        listen: str = "127.0.0.1:0",
        advertise: Optional[str] = None,
        store: str = "agent.json",
        leagues: Optional[int] = None,
    ) -> None:
        """Plays until Ctrl-C, or until so many leagues are over.

        `league` is the URL of the league, `code` your join code, `dial` has the agent dial out instead of listening. Without them
        MATCHDAY_MANAGER and MATCHDAY_DIAL=on say so.
        `store` keeps tokens for a restart. A thread of its own decides each turn, in at most 10 seconds.
        """
        if not self._choosers:
            raise Error("this player decides nothing: decorate a function with @player.choose(\"even_odd\")")
        manager = manager_url(league, code)
        agent = _Agent(self.decide, tuple(self._choosers))
        host, _, port = listen.rpartition(":")
        if not host or not port.isdigit():
            raise Error(f"listen: expected HOST:PORT, got {listen}")
        place = argparse.Namespace(listen=listen, advertise=advertise)
        try:
            if dial or (dial is None and os.environ.get("MATCHDAY_DIAL") == "on"):
                endpoint = starter.listen_nowhere(agent, manager)
            else:
                endpoint = starter.listen(agent, place, host, int(port))
        except SystemExit as error:
            raise Error(str(error)) from None
        meta = {"strategy": self.strategy} if self.strategy else {}
        try:
            refused = starter.register(agent, manager, self.name, endpoint, store, version=self.version, **meta)
            if refused:
                raise Error(f"the manager refuses this player: {refused}")
            starter.log(f"registered as {agent.player_id}")
            agent.wait(leagues)
        except KeyboardInterrupt:
            starter.log("stopped")


class _Agent(starter.Agent):
    """The starter's agent, which also counts leagues that are over."""

    def __init__(self, choose: Choose, games: tuple) -> None:
        super().__init__(choose, games)
        self.over: set = set()
        self.changed = threading.Condition()

    def receive(self, message: dict) -> dict:
        answer = super().receive(message)
        if message.get("message_type") == "LEAGUE_COMPLETED" and answer is starter.RECEIVED:
            with self.changed:
                self.over.add(self.league(message))
                self.changed.notify_all()
        return answer

    def wait(self, leagues: Optional[int]) -> None:
        with self.changed:
            # A wait without an end could not be interrupted on Windows.
            while leagues is None or len(self.over) < leagues:
                self.changed.wait(1)
        # The last answer is on its way.
        threading.Event().wait(0.5)


def manager_url(league: Optional[str], code: Optional[str]) -> str:
    """The manager's URL, from that of the league or its page, with the join code in it."""
    url = league or os.environ.get("MATCHDAY_MANAGER") or "http://localhost:8000"
    if "://" not in url:
        url = f"http://{url}"
    base = url.rstrip("/")
    base = base[: -len("/mcp")] if base.endswith("/mcp") else base
    if code:
        if "/join/" in base:
            raise Error("the URL of the league has a join code in it already: leave `code` out")
        base = f"{base}/join/{code}"
    return f"{base}/mcp"
