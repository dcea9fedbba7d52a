"""How this player chooses. This is the file to change."""

import random
from dataclasses import dataclass
from typing import List, Optional


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


def choose(turn: Turn) -> str:
    """Returns "even" or "odd". Called once for each match, in a thread of its own.

    It has agent.THINKING_SECONDS. If it fails, takes longer or returns anything else, the choice is left to chance.
    """
    return random.choice(["even", "odd"])
