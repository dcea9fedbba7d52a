"""Every query of docs/data.md runs, and finds something."""

import re
import sqlite3
import subprocess
import unittest
from pathlib import Path

import duckdb
import duckdb_extension_sqlite_scanner

import matchday

PAGE = (Path(__file__).resolve().parents[2] / "docs/data.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n-- (sqlite|duckdb): ([^\n]*)\n(.*?)```", PAGE, re.DOTALL)


class Queries(unittest.TestCase):
    def test_every_query_runs(self):
        call = [matchday.program(), "run", "--no-stay", "--port-base", "0", "--players", "4"]
        for store, game in (("league.db", "even_odd"), ("dilemma.db", "iterated_prisoners_dilemma")):
            subprocess.run([*call, game, "--store", store], check=True, capture_output=True)
        subprocess.run([matchday.program(), "export", "league.db", "--tables", "--out", "tables"], check=True, capture_output=True)
        self.assertEqual(len(QUERIES), PAGE.count("```sql"))
        league = matchday.League.open("league.db")
        for system, name, query in QUERIES:
            with self.subTest(name):
                if system == "sqlite":
                    store = "dilemma.db" if "every other game" in name else "league.db"
                    rows = sqlite3.connect(f"file:{store}?mode=ro", uri=True).execute(query).fetchall()
                else:
                    rows = duck().execute(query).fetchall()
                self.assertTrue(rows, name)
                if name in ("matches", "matches of the store"):
                    self.assertEqual(len(rows), len(league.matches()))
                if name == "moves of even/odd":
                    told = {(move.match, move.player, move.move) for move in league.moves()}
                    self.assertEqual({row[1:] for row in rows}, told)


def duck():
    """DuckDB with its extension for SQLite, which a reader's DuckDB fetches by itself."""
    folder = Path(duckdb_extension_sqlite_scanner.__file__).parent
    (extension,) = folder.rglob("*.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{extension}'")
    return connection


if __name__ == "__main__":
    unittest.main()
