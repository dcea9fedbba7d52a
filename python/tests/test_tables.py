"""The tables of `export` have the types that docs/data.md promises, read by its code and by the package's frames."""

import json
import re
import subprocess
import unittest
from pathlib import Path

import pandas

import matchday

TYPES = {"text": "string", "integer": "Int64", "number": "Float64", "boolean": "boolean", "time": "datetime64[ns, UTC]"}


def export(*words):
    subprocess.run([matchday.program(), *words], check=True, capture_output=True)


class Tables(unittest.TestCase):
    def test_pandas_reads_every_column_as_its_type(self):
        games = ["even_odd", "connect_four"]
        for game in games:
            export("run", game, "--no-stay", "--port-base", "0", "--pace", "0", "--players", "3", "--store", f"{game}.db")
        export("export", *(f"{game}.db" for game in games), "--tables", "--out", "tables")
        page = documentation()
        code = re.search(r"```python\n(.*?)```", page, re.DOTALL)[1]
        scope = {}
        exec(code, scope)
        written = json.loads(Path("tables/tables.json").read_text())
        for name, columns in documented(page).items():
            frame = scope["table"](name)
            self.assertEqual(list(frame.columns), list(columns), name)
            for column, kind in columns.items():
                self.assertEqual(str(frame[column].dtype), TYPES[kind], f"{name}.{column}")
                self.assertEqual(written[name][column], TYPES[kind], f"{name}.{column}")
            # No model plays here.
            self.assertEqual(len(frame) > 0, name != "model_calls", name)
        moves = scope["table"]("moves")
        self.assertEqual(moves[["league", "match", "turn", "player"]].duplicated().sum(), 0)
        # A word or a number, and no hash.
        self.assertTrue(moves["move"].str.fullmatch(r"even|odd|\d").all(), moves["move"].unique())
        self.assertTrue((moves["answer_ms"] >= 0).all())
        self.assertFalse(moves["fallback"].any())
        matches = scope["table"]("matches")
        self.assertEqual(set(matches["league"]), {"league_2025_even_odd", "league_connect_four"})
        self.assertEqual(len(matches), 6)
        self.assertTrue((matches["duration_ms"] > 0).all())
        players = scope["table"]("players")
        self.assertEqual(set(moves["player"]) - set(players["player"]), set())

    def test_the_frames_of_the_package_have_the_same_types(self):
        league = matchday.run("nim", players=3, progress=None)
        columns = documented(documentation())
        for name, table in (("players", league.standings()), ("matches", league.matches()), ("moves", league.moves()), ("ratings", league.ratings())):
            frame = table.to_pandas()
            self.assertEqual({c: str(frame[c].dtype) for c in frame}, {c: TYPES[kind] for c, kind in columns[name].items()}, name)
            self.assertEqual(table.to_polars().height, len(table))
        self.assertEqual(league.matches()[0].match, "R1M1")
        self.assertIsInstance(league.moves().to_pandas(), pandas.DataFrame)


def documentation():
    for folder in Path(__file__).resolve().parents:
        if (folder / "docs/data.md").exists():
            return (folder / "docs/data.md").read_text(encoding="utf-8")
    raise FileNotFoundError("docs/data.md")


def documented(page):
    tables = {}
    for name, text in re.findall(r"## `(\w+)`\n(.*?)(?=\n## |<!-- end)", page, re.DOTALL):
        tables[name] = dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", text, re.MULTILINE))
    return tables


if __name__ == "__main__":
    unittest.main()
