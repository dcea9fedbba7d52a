"""Strategies for simulations and for `command:`: functions that the program asks, many turns in one message."""

from __future__ import annotations

import json
import os
import random
import secrets
import shlex
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, BinaryIO, Callable, Dict, List, Optional

from ._starter.strategy import Past
from .errors import Error

GAMES_TOLD_MAX = 100


class ProgramTurn:
    """A turn as `Turn`, read from the program's message when it is asked for."""

    __slots__ = ("_sheet", "_recent", "_history", "_random")

    def __init__(self, sheet: Dict[str, Any], recent: List[Dict[str, Any]]) -> None:
        self._sheet = sheet
        self._recent = recent
        self._history: Optional[List[Past]] = None
        self._random: Optional[random.Random] = None

    @property
    def options(self) -> List[Any]:
        """Every legal move."""
        return self._sheet["options"]

    @property
    def context(self) -> Dict[str, Any]:
        """What the referee shows of the game."""
        return self._sheet["context"]

    @property
    def game_type(self) -> str:
        return self._sheet["game_type"]

    @property
    def match_id(self) -> str:
        return self._sheet["match_id"]

    @property
    def round_id(self) -> Optional[int]:
        return self._sheet["round_id"]

    @property
    def opponent_id(self) -> Optional[str]:
        return self._sheet["opponent_id"]

    @property
    def history(self) -> List[Past]:
        """How earlier matches ended, oldest first."""
        if self._history is None:
            self._history = [_past(game) for game in self._recent]
        return self._history

    @property
    def random(self) -> random.Random:
        """Chance that comes out the same when the simulation is repeated with its seed."""
        if self._random is None:
            seed = self._sheet.get("seed")
            place = json.dumps(self._sheet["context"], sort_keys=True)
            self._random = random.Random(f"{seed} {place}") if seed is not None else random.Random()
        return self._random


def _past(game: Dict[str, Any]) -> Past:
    return Past(game["match_id"], game.get("opponent_id") or "", game.get("own_choice"), game.get("opponent_choice"), None)


class Answers:
    """Answers the lines of the program, one turn or many."""

    def __init__(self, choose: Callable[[Any], Any]) -> None:
        self.choose = choose
        self.memories: Dict[str, List[Dict[str, Any]]] = {}

    def answer(self, line: bytes) -> bytes:
        asked = json.loads(line)
        if "turns" in asked:
            answer = {"moves": [self.move(sheet) for sheet in asked["turns"]]}
        else:
            answer = {"move": self.choose(ProgramTurn(asked, asked["recent"])), "persistent": True, "batch": True}
        return json.dumps(answer, separators=(",", ":")).encode() + b"\n"

    def move(self, sheet: Dict[str, Any]) -> Any:
        told = sheet["memory"]
        if told["begins"]:
            recent = self.memories[told["id"]] = told["games"]
        else:
            recent = self.memories[told["id"]]
            recent += told["games"]
            if len(recent) > 2 * GAMES_TOLD_MAX:
                del recent[:-GAMES_TOLD_MAX]
        return self.choose(ProgramTurn(sheet, recent[-GAMES_TOLD_MAX:] if len(recent) > GAMES_TOLD_MAX else recent))


def serve(choose: Callable[[Any], Any]) -> None:
    """Makes a script a program for `command:`. Returns when nothing more is asked."""
    answers = Answers(choose)
    # What the strategy prints is no move.
    output, sys.stdout = sys.stdout.buffer, sys.stderr
    for line in sys.stdin.buffer:
        output.write(answers.answer(line))
        output.flush()


class Served:
    """Functions of this process as programs: `command:` names a script that hands each line to the function and back."""

    def __init__(self) -> None:
        self.failure: Optional[BaseException] = None
        self.failed = threading.Event()
        self._functions: Dict[str, Callable[[Any], Any]] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="matchday-")
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        self._folder.cleanup()

    def named(self, strategy: Any) -> str:
        """A strategy as the program's flags name it."""
        if isinstance(strategy, str):
            return strategy
        if not callable(strategy):
            raise Error(f"{strategy!r} is no strategy: give a name or a function that takes a turn")
        name = getattr(strategy, "__name__", None) or type(strategy).__name__
        name = "".join(letter if letter.isalnum() else "_" for letter in name)
        path = Path(self._folder.name) / name
        while path.with_suffix(".cmd").exists() or path.exists():
            path = path.with_name(path.name + "_")
        key = secrets.token_hex(16)
        self._functions[key] = strategy
        port = self._listener.getsockname()[1]
        words = [sys.executable, "-I", "-S", str(Path(__file__).with_name("_bridge.py")), str(port), key]
        if os.name == "nt":
            path = path.with_suffix(".cmd")
            path.write_text("@" + " ".join(f'"{word}"' for word in words) + "\n", encoding="utf-8")
        else:
            path.write_text("#!/bin/sh\nexec " + " ".join(map(shlex.quote, words)) + "\n", encoding="utf-8")
            path.chmod(0o700)
        if any(letter.isspace() or letter == "," for letter in str(path)):
            raise Error(f"the folder for temporary files has a space or a comma in its name: {path.parent}")
        return f"command:{path}"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rwb") as stream:
            function = self._functions.get(stream.readline().decode(errors="replace").strip())
            if function is None:
                return
            answers = Answers(function)
            try:
                self._serve(answers, stream)
            except OSError:
                return
            except BaseException as error:
                self.failure = self.failure or error
                self.failed.set()

    @staticmethod
    def _serve(answers: Answers, stream: BinaryIO) -> None:
        for line in stream:
            stream.write(answers.answer(line))
            stream.flush()
