"""Finds the program `matchday` and runs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from typing import Callable, List, Optional, Sequence

from .errors import Error

Progress = Optional[Callable[[str], None]]


def program() -> str:
    """The path of the program: the one that MATCHDAY names, else that of this Python's installation, else that of the PATH."""
    name = "matchday.exe" if os.name == "nt" else "matchday"
    named = os.environ.get("MATCHDAY")
    if named:
        found = shutil.which(named)
        if found:
            return found
        raise Error(f"MATCHDAY names {named}, which is no program that can be run")
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    found = shutil.which(name)
    if found:
        return found
    raise Error("the program matchday is not installed: `pip install matchday`, or set MATCHDAY to its path")


def options(given: dict) -> List[str]:
    """Keyword arguments as flags: `matches_per_pairing=2` is `--matches-per-pairing 2`."""
    words: List[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if value is True or value is False:
            words += [flag, "on" if value else "off"]
        elif isinstance(value, (list, tuple)):
            words += [flag, ",".join(str(one) for one in value)]
        else:
            words += [flag, str(value)]
    return words


def call(words: Sequence[str], progress: Progress = None, stop: Optional[threading.Event] = None) -> str:
    """Runs the program to its end and returns what it prints. Each line of its standard error goes to `progress`."""
    command = [program(), *words]
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
    except OSError as error:
        raise Error(f"{command[0]} cannot be started: {error}") from error
    printed: List[str] = []
    complaints: List[str] = []

    def read_errors() -> None:
        for line in process.stderr:
            complaints.append(line.rstrip("\n"))
            if progress:
                progress(complaints[-1])

    def read_output() -> None:
        printed.extend(process.stdout)

    readers = [threading.Thread(target=read, daemon=True) for read in (read_errors, read_output)]
    for reader in readers:
        reader.start()
    try:
        while True:
            try:
                process.wait(timeout=0.1 if stop else None)
                break
            except subprocess.TimeoutExpired:
                if stop and stop.is_set():
                    process.terminate()
    except BaseException:
        # Ctrl-C reaches the program too, which ends in good order.
        process.terminate()
        process.wait()
        raise
    for reader in readers:
        reader.join()
    process.stdout.close()
    process.stderr.close()
    if process.returncode != 0 and not (stop and stop.is_set()):
        said = [line[len("matchday: ") :] if line.startswith("matchday: ") else line for line in complaints if line.strip()]
        raise Error("\n".join(said[-5:]) or f"{' '.join(command)} ended with exit code {process.returncode}")
    return "".join(printed)
