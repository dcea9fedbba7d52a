"""Plays leagues, simulations and experiments by the program, with strategies that may be functions of yours."""

from __future__ import annotations

import csv
import json
import shutil
import sys
import tempfile
import atexit
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from .errors import Error
from .league import League, Table
from .program import Progress, call, options
from .strategy import Served

Strategy = Union[str, Callable[[Any], Any]]


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class StrategyScore:
    """How a strategy fared in a simulation. The intervals are of 95 %."""

    strategy: str
    matches: int
    wins: int
    draws: int
    losses: int
    forfeits: int
    score: float
    score_low: float
    score_high: float
    elo: Optional[float]
    elo_low: Optional[float]
    elo_high: Optional[float]


@dataclass(frozen=True)
class Simulation:
    """What a simulation found: `data` is all that the program tells, as `matchday simulate --json` prints it."""

    game: str
    seed: int
    strategies: Table[StrategyScore]
    data: Dict[str, Any]


@dataclass(frozen=True)
class Experiment:
    """What an experiment found. `folder` holds matches.csv, results.json and report.html."""

    folder: Path
    results: Dict[str, Any]

    def matches(self) -> List[Dict[str, str]]:
        """The lines of matches.csv."""
        with open(self.folder / "matches.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


def run(
    game: str = "even_odd",
    *,
    strategies: Optional[Sequence[Strategy]] = None,
    players: Optional[int] = None,
    store: Union[str, Path, None] = None,
    progress: Progress = _show,
    **flags: Any,
) -> League:
    """Plays a whole league on this machine and opens it. Further flags are those of `matchday run`, such as `seed=7`.

    Without `store` the league is kept until this Python ends.
    """
    if store is None:
        folder = tempfile.mkdtemp(prefix="matchday-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        store = Path(folder) / "league.db"
    if players is None and strategies is not None:
        players = max(len(strategies), 2)
    given = {"players": players, "store": store, "port_base": 0, "pace": 0, **flags}
    _called(["run", game, "--no-stay", *options(given)], strategies, progress, by_line=True)
    return League.open(store)


def simulate(
    game: str = "even_odd", strategies: Optional[Sequence[Strategy]] = None, *, progress: Progress = None, **flags: Any
) -> Simulation:
    """Plays strategies against each other without a network. Further flags are those of `matchday simulate`.

    A function is asked once for each of its turns, with a `ProgramTurn`; by one thread at a time.
    """
    data = json.loads(_called(["simulate", "--game", game, "--json", *options(flags)], strategies, progress))
    scores = [_score(row) for row in data.get("strategies", [])]
    return Simulation(data["game"], data["seed"], Table(StrategyScore, scores), data)


def experiment(
    plan: Union[str, Path, Dict[str, Any]],
    *,
    out: Union[str, Path, None] = None,
    progress: Progress = _show,
    **flags: Any,
) -> Experiment:
    """Plays a tournament by a plan: a TOML file, or a dict of the same keys. Interrupted, the same call goes on.

    In a dict, strategies may be functions of yours; `out`, the folder of results, is then needed.
    """
    if isinstance(plan, dict):
        if out is None:
            raise Error("a plan that is no file needs `out`, the folder of its results")
        with Served() as served, tempfile.TemporaryDirectory(prefix="matchday-") as folder:
            named = {**plan, "strategies": [served.named(one) for one in plan["strategies"]]} if "strategies" in plan else plan
            path = Path(folder) / "plan.toml"
            path.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in named.items()), encoding="utf-8")
            return _experiment(path, Path(out), served, progress, flags)
    path = Path(plan)
    with Served() as served:
        return _experiment(path, Path(out) if out else path.with_suffix(""), served, progress, flags)


def _experiment(plan: Path, out: Path, served: Served, progress: Progress, flags: Dict[str, Any]) -> Experiment:
    results = call(["experiment", str(plan), "--out", str(out), "--json", *options(flags)], progress, served.failed)
    if served.failure:
        raise served.failure
    return Experiment(out, json.loads(results))


def _called(
    words: List[str], strategies: Optional[Sequence[Strategy]], progress: Progress, by_line: bool = False
) -> str:
    with Served() as served:
        if strategies is not None:
            words = [*words, "--strategies", ",".join(served.named(one) for one in strategies)]
        printed = call(words, progress, served.failed)
        if served.failure:
            raise served.failure
    if by_line and progress:
        for line in printed.splitlines():
            progress(line)
    return printed


def _score(row: Dict[str, Any]) -> StrategyScore:
    score, elo = row["score"], row.get("elo") or {}
    return StrategyScore(
        Path(row["strategy"]).name if row["strategy"].startswith("command:") else row["strategy"],
        row["matches"],
        row["wins"],
        row["draws"],
        row["losses"],
        row["forfeits"],
        score["value"],
        score["low"],
        score["high"],
        elo.get("difference"),
        elo.get("low"),
        elo.get("high"),
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # Texts, numbers and truth are written in TOML as in JSON.
    return json.dumps(value, ensure_ascii=False)
