"""A league as data: its table, matches, moves and ratings, from a store or from a running manager."""

from __future__ import annotations

import csv
import dataclasses
import json
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Dict, Generic, Iterable, List, Optional, Type, TypeVar, Union, get_type_hints

from .errors import Error
from .program import call

Row = TypeVar("Row")


@dataclass(frozen=True)
class LeagueSummary:
    """A league: a row of `leagues`."""

    league: str
    game: str
    format: str
    phase: str
    players: int
    referees: int
    rounds: int
    matches: int
    matches_decided: int
    champion: Optional[str]
    created_at: Optional[datetime]
    started_at: Optional[datetime]
    completed_at: Optional[datetime]


@dataclass(frozen=True)
class Standing:
    """A player and its place: a row of `players`."""

    league: str
    player: str
    name: str
    strategy: Optional[str]
    version: Optional[str]
    model: Optional[str]
    rank: int
    played: int
    wins: int
    draws: int
    losses: int
    points: int
    technical_losses: int
    rank_reason: Optional[str]
    registered_at: Optional[datetime]


@dataclass(frozen=True)
class Match:
    """A row of `matches`."""

    league: str
    match: str
    round: int
    round_title: Optional[str]
    game: str
    format: str
    player_a: str
    player_b: str
    status: str
    winner: Optional[str]
    points_a: Optional[int]
    points_b: Optional[int]
    payoff_a: Optional[int]
    payoff_b: Optional[int]
    drawn_number: Optional[int]
    cause_a: Optional[str]
    cause_b: Optional[str]
    turns: Optional[int]
    answer_ms_a: Optional[int]
    answer_ms_b: Optional[int]
    referee: Optional[str]
    attempts: int
    proof: Optional[str]
    assigned_at: Optional[datetime]
    decided_at: Optional[datetime]
    duration_ms: Optional[float]
    reason: Optional[str]


@dataclass(frozen=True)
class Move:
    """A row of `moves`."""

    league: str
    match: str
    turn: int
    player: str
    move: str
    answer_ms: Optional[float]
    fallback: Optional[bool]
    fallback_reason: Optional[str]
    model_calls: Optional[int]
    model_input_tokens: Optional[int]
    model_output_tokens: Optional[int]
    model_cost: Optional[float]


@dataclass(frozen=True)
class ModelCall:
    """A row of `model_calls`."""

    league: str
    match: str
    turn: Optional[int]
    player: str
    at: datetime
    model: Optional[str]
    prompt: Optional[str]
    thinking: Optional[str]
    reply: Optional[str]
    failure: Optional[str]
    error: Optional[str]
    status: Optional[int]
    latency_ms: int
    input_tokens: int
    output_tokens: int
    cost: float


@dataclass(frozen=True)
class Rating:
    """A row of `ratings`."""

    league: str
    round: int
    player: str
    rating: float
    low: float
    high: float


PANDAS = {str: "string", int: "Int64", float: "Float64", bool: "boolean", datetime: "datetime64[ns, UTC]"}


class Table(List[Row], Generic[Row]):
    """Rows of one kind, as a list, and as a frame where pandas or polars is installed."""

    def __init__(self, kind: Type[Row], rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self.kind = kind

    def to_pandas(self) -> Any:
        """A pandas DataFrame; missing values are `pandas.NA`."""
        try:
            import pandas
        except ImportError:
            raise Error("pandas is not installed: `pip install pandas`") from None
        columns = self._columns()
        series = {
            name: pandas.Series(columns[name], dtype=None if kind is datetime else PANDAS[kind])
            for name, kind in _types(self.kind).items()
            if kind is not datetime
        }
        for name, kind in _types(self.kind).items():
            if kind is datetime:
                series[name] = pandas.to_datetime(pandas.Series(columns[name], dtype="object"), utc=True)
        return pandas.DataFrame({name: series[name] for name in columns})

    def to_polars(self) -> Any:
        """A polars DataFrame."""
        try:
            import polars
        except ImportError:
            raise Error("polars is not installed: `pip install polars`") from None
        types = {
            str: polars.String,
            int: polars.Int64,
            float: polars.Float64,
            bool: polars.Boolean,
            datetime: polars.Datetime("us", "UTC"),
        }
        return polars.DataFrame(self._columns(), schema={name: types[kind] for name, kind in _types(self.kind).items()})

    def _columns(self) -> Dict[str, List[Any]]:
        return {name: [getattr(row, name) for row in self] for name in _types(self.kind)}


def _types(kind: Type[Any]) -> Dict[str, type]:
    """The type of each field, without the None that may take its place."""
    hints = get_type_hints(kind)
    types = {}
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        arguments = getattr(hint, "__args__", ())
        types[field.name] = next((one for one in arguments if one is not type(None)), hint)
    return types


def _read(kind: Type[Row], row: Dict[str, str]) -> Row:
    return kind(**{name: _value(row[name], kind_) for name, kind_ in _types(kind).items()})


def _value(cell: str, kind: type) -> Any:
    if cell == "":
        return None
    if kind is bool:
        return cell == "true"
    if kind is datetime:
        return time(cell)
    return kind(cell)


def time(text: str) -> datetime:
    # Python 3.9 does not know the letter.
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)


class League:
    """A league of a store, as it was when it was opened, or one that a manager runs, as it is."""

    def __init__(self, tables: Dict[str, Table], where: str) -> None:
        self._tables = tables
        self.where = where

    @classmethod
    def open(cls, where: Union[str, Path], league: Optional[str] = None) -> League:
        """Opens a store (a file or postgres://...) or the page of a running league (http://...).

        Of a store with several leagues the latest is chosen, unless `league` names another.
        """
        if str(where).startswith(("http://", "https://")):
            return _Running(str(where), league)
        found = cls.all(where)
        if league is None:
            return found[-1]
        for one in reversed(found):
            if one.summary.league == league or one.summary.league.partition("@")[0] == league:
                return one
        known = ", ".join(one.summary.league for one in found)
        raise Error(f"{where} holds no league {league}, but {known}")

    @classmethod
    def all(cls, *stores: Union[str, Path]) -> List[League]:
        """Every league of these stores."""
        with tempfile.TemporaryDirectory(prefix="matchday-") as folder:
            out = Path(folder) / "tables"
            call(["export", *map(str, stores), "--tables", "--out", str(out)])
            read = {name: _rows(out / f"{name}.csv") for name in KINDS}
        return [
            cls({name: Table(kind, _of(kind, read[name], row["league"])) for name, kind in KINDS.items()}, str(stores[0]))
            for row in read["leagues"]
        ]

    @property
    def summary(self) -> LeagueSummary:
        """The league in one row."""
        return self._table("leagues")[0]

    def standings(self) -> Table[Standing]:
        """The players, first place first."""
        return self._table("players")

    def matches(self) -> Table[Match]:
        return self._table("matches")

    def moves(self) -> Table[Move]:
        return self._table("moves")

    def model_calls(self) -> Table[ModelCall]:
        """What language models were told and said."""
        return self._table("model_calls")

    def ratings(self) -> Table[Rating]:
        """The rating after each round; of a running league, as of now."""
        return self._table("ratings")

    def _table(self, name: str) -> Table:
        return self._tables[name]

    def __repr__(self) -> str:
        return f"<matchday.League {self.where}>"


KINDS: Dict[str, type] = {
    "leagues": LeagueSummary,
    "players": Standing,
    "matches": Match,
    "moves": Move,
    "model_calls": ModelCall,
    "ratings": Rating,
}


def _rows(path: Path) -> List[Dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _of(kind: Type[Row], rows: List[Dict[str, str]], league: str) -> List[Row]:
    return [_read(kind, row) for row in rows if row["league"] == league]


class _Running(League):
    """A league that a manager runs: each table is asked for."""

    def __init__(self, url: str, league: Optional[str]) -> None:
        super().__init__({}, url)
        self._league = ["--league-id", league] if league else []

    def _ask(self, command: str) -> Dict[str, Any]:
        return json.loads(call([command, "--manager", self.where, *self._league, "--json"]))

    def _name(self) -> str:
        return str(self._ask("status").get("league_id") or "")

    @property
    def summary(self) -> LeagueSummary:
        raise Error(f"a running league has no summary: open its store instead of {self.where}")

    def _table(self, name: str) -> Table:
        if name not in ("players", "matches", "ratings"):
            raise Error(f"a running league does not tell its moves: open its store instead of {self.where}")
        league = self._name()
        if name == "players":
            return Table(Standing, [_placed(league, row) for row in self._ask("standings")["standings"]])
        if name == "matches":
            rounds = self._ask("schedule")["rounds"]
            return Table(Match, [_scheduled(league, one["round_id"], match) for one in rounds for match in one["matches"]])
        round_id = self._ask("status").get("current_round") or 0
        players = self._ask("stats")["players"]
        rated = [(player["player_id"], player["bradley_terry"]) for player in players if player["bradley_terry"]]
        return Table(Rating, [Rating(league, round_id, player, **strength) for player, strength in rated])


def _placed(league: str, row: Dict[str, Any]) -> Standing:
    known = {
        **row,
        "league": league,
        "player": row["player_id"],
        "name": row["display_name"],
        "rank": row.get("shared_rank") or row["rank"],
        "technical_losses": row.get("technical_losses") or 0,
    }
    return _filled(Standing, known)


def _scheduled(league: str, round_id: int, match: Dict[str, Any]) -> Match:
    result = match.get("result") or {}
    a, b = match["player_A_id"], match["player_B_id"]
    score = result.get("score") or {}
    return _filled(Match, {
        "league": league, "match": match["match_id"], "round": round_id, "game": match["game_type"], "format": "",
        "player_a": a, "player_b": b, "status": result.get("status") or "OPEN", "winner": result.get("winner"),
        "points_a": score.get(a), "points_b": score.get(b), "attempts": 0,
    })


def _filled(kind: Type[Row], known: Dict[str, Any]) -> Row:
    return kind(**{name: known.get(name) for name in _types(kind)})
