"""How this player chooses: it asks a language model. This is the file to change.

Any server will do that speaks /v1/chat/completions. Set LLM_URL (such as http://localhost:11434), LLM_MODEL, and LLM_API_KEY if the
server wants a key.
"""

import json
import os
import re
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Optional

import board

URL = os.environ.get("LLM_URL", "http://localhost:11434").rstrip("/")
MODEL = os.environ.get("LLM_MODEL", "")
# What the league shows beside the name.
PLAYS_BY = f"llm:{MODEL}"[:50]
KEY = os.environ.get("LLM_API_KEY", "")
# Less than agent.THINKING_SECONDS, so that the reason of a failure is logged.
TIMEOUT_SECONDS = 9
RULES = Path(__file__).with_name("RULES.md")


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
    context: Dict[str, Any]  # what the referee shows
    game_type: str


def choose(turn: Turn) -> Any:
    """Returns the one of turn.options that the model names. If it fails or names none, the choice is left to chance."""
    if not MODEL:
        raise RuntimeError("set LLM_MODEL to the name of a model, and LLM_URL to its server")
    return named(ask(question(turn)), turn.options)


def question(turn: Turn) -> str:
    parts = [
        RULES.read_text(encoding="utf-8") if RULES.exists() else "",
        "You play this game. The board:\n" + board.show(board.rows(turn.context)) if board.rows(turn.context) else "",
        "What the referee shows: " + json.dumps(turn.context),
        "The legal moves: " + json.dumps(turn.options),
        'Answer with one of them, as JSON and nothing else: {"move": ...}',
    ]
    return "\n\n".join(part for part in parts if part)


def ask(text: str) -> str:
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {KEY}"} if KEY else {})}
    body = {"model": MODEL, "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(f"{URL}/v1/chat/completions", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def named(reply: str, options: List[Any]) -> Any:
    """The move in a reply: that of the object in it, else the only option that it names."""
    found = re.search(r"\{.*\}", reply, re.DOTALL)
    try:
        move = json.loads(found[0])["move"] if found else json.loads(reply)
    except (ValueError, KeyError, TypeError):
        move = reply.strip()
    for option in options:
        if option == move or str(option).lower() == str(move).lower():
            return option
    mentioned = [option for option in options if re.search(rf"(?<!\w){re.escape(str(option))}(?!\w)", reply)]
    if len(mentioned) == 1:
        return mentioned[0]
    raise ValueError(f"the model named no move: {reply[:200]!r}")
