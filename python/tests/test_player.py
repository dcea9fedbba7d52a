"""Players of the package in whole leagues, over HTTP."""

import os
import re
import subprocess
import sys
import threading
import unittest

import matchday
from matchday.player import manager_url


class Leagues(unittest.TestCase):
    def test_functions_and_classes_play_a_league_to_its_end(self):
        for game in ("even_odd", "connect_four"):
            with self.subTest(game), Manager(game, f"{game}.db") as url:
                seen = []
                one = matchday.Player("Ada", model="some-model")

                @one.choose(game)
                def first(turn):
                    seen.append(turn)
                    return turn.options[0]

                class Bob(matchday.Player):
                    @matchday.choose()
                    def last(self, turn):
                        return turn.options[-1]

                players = [
                    threading.Thread(target=player.run, args=(url,), kwargs={"leagues": 1, "store": f"{game}-{place}.json"})
                    for place, player in enumerate((one, Bob()))
                ]
                for player in players:
                    player.start()
                for player in players:
                    player.join(60)
                    self.assertFalse(player.is_alive(), "the player has heard of the end")
                league = matchday.League.open(f"{game}.db")
                self.assertEqual(league.summary.phase, "completed")
                self.assertEqual([row.technical_losses for row in league.standings()], [0, 0])
                names = {row.name: row for row in league.standings()}
                self.assertEqual(set(names), {"Ada", "Bob"})
                self.assertEqual((names["Ada"].model, names["Ada"].version, names["Bob"].model), ("some-model", "1.0.0", None))
                self.assertTrue(all(turn.game_type == game for turn in seen))
                running = matchday.League.open(url)
                self.assertEqual([row.points for row in running.standings()], [row.points for row in league.standings()])
                self.assertEqual([row.match for row in running.matches()], ["R1M1"])
                self.assertEqual(len(running.ratings()), 2)
                self.assertEqual(running.standings()[0].league, league.summary.league)
                with self.assertRaisesRegex(matchday.Error, "does not tell its moves"):
                    running.moves()

    def test_the_starter_is_ten_lines_by_the_package(self):
        subprocess.run([matchday.program(), "new", "player", "--lang", "python", "ada", "--name", "Ada"], check=True, capture_output=True)
        with Manager("even_odd", "starter.db") as url:
            environment = {**os.environ, "MATCHDAY_MANAGER": url}
            starter = subprocess.Popen([sys.executable, "player.py"], cwd="ada", env=environment)
            try:
                other = matchday.Player("Bob")
                other.choose()(lambda turn: turn.options[0])
                other.run(url, leagues=1, store="bob.json")
            finally:
                starter.terminate()
                starter.wait(20)
        table = matchday.League.open("starter.db").standings()
        self.assertEqual({(row.name, row.technical_losses) for row in table}, {("Ada", 0), ("Bob", 0)})

    def test_what_is_wrong_is_said_in_words(self):
        with self.assertRaisesRegex(matchday.Error, "decides nothing"):
            matchday.Player("Ada").run()
        with self.assertRaisesRegex(matchday.Error, "none.db does not exist"):
            matchday.League.open("none.db")

    def test_the_url_of_a_league_is_taken_in_every_form(self):
        wanted = "http://localhost:8000/mcp"
        for url in ("localhost:8000", "http://localhost:8000/", wanted):
            self.assertEqual(manager_url(url, None), wanted)
        self.assertEqual(manager_url("https://a/leagues/spring/", "c"), "https://a/leagues/spring/join/c/mcp")


class Manager:
    """A manager and a referee for two players."""

    def __init__(self, game, store):
        self.game, self.store = game, store

    def __enter__(self):
        words = ["manager", "--listen", "127.0.0.1:0", "--lead", "0", "--store", self.store, "--game", self.game, "--start-when", "players=2,referees=1"]
        self.manager = start(words)
        url = found(self.manager, r"(http://[\d.:]+)/")
        self.referee = start(["referee", "--listen", "127.0.0.1:0", "--manager", url, "--store", f"{self.store}-referee"])
        return url

    def __exit__(self, *_):
        for process in (self.referee, self.manager):
            process.terminate()
            process.wait(20)
            process.stderr.close()


def start(words):
    return subprocess.Popen([matchday.program(), *words], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)


def found(process, pattern):
    for line in process.stderr:
        print(line, end="", file=sys.stderr)
        match = re.search(pattern, line)
        if match:
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return match[1]
    raise AssertionError(f"no {pattern}")


if __name__ == "__main__":
    unittest.main()
