"""How this player chooses. This is the file to change."""

import random
from dataclasses import dataclass
from typing import Any, Dict, List, Optional


@dataclass(frozen=True)
class Past:
    """A match that is over. A choice is None where there was none, the number where none was drawn."""

    match_id: str
    opponent_id: str
    mine: Optional[str]
    theirs: Optional[str]
    number: Optional[int]


@dataclass(frozen=True)
class Turn:
    """What is known when a choice is due."""

    match_id: str
    opponent_id: str
    round_id: Optional[int]
    history: List[Past]  # oldest first
    options: List[Any]  # every legal move
    context: Dict[str, Any]  # what the referee shows: board.rows(turn.context) is the board, in games that have one
    game_type: str


def choose(turn: Turn) -> Any:
    """Returns one of turn.options. Called once for each turn, in a thread of its own.

    It has agent.THINKING_SECONDS. If it fails, takes longer or returns anything else, the choice is left to chance.
    """
    return random.choice(turn.options)
