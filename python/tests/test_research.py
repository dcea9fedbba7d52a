"""Leagues, simulations and experiments by the package, with functions as strategies."""

import sys
import unittest
from pathlib import Path

import matchday


def even(turn):
    return "even"


class Research(unittest.TestCase):
    def test_a_league_is_played_and_opened(self):
        said = []
        league = matchday.run(strategies=["random", "mirror", even], progress=said.append, seed=7)
        self.assertEqual(len(league.matches()), 3)
        self.assertEqual(len(league.standings()), 3)
        self.assertEqual({move.move for move in league.moves()} - {"even", "odd"}, set())
        self.assertTrue(said)
        self.assertFalse(any(move.fallback for move in league.moves()))

    def test_functions_are_strategies_of_a_simulation_that_can_be_repeated(self):
        def chance(turn):
            return turn.random.choice(turn.options)

        one, other = (matchday.simulate("nim", [chance, "optimal"], matches=400, seed=3) for _ in range(2))
        self.assertEqual([row.strategy for row in one.strategies], [row.strategy for row in other.strategies])
        self.assertEqual(list(one.strategies), list(other.strategies))
        self.assertEqual({row.matches for row in one.strategies}, {400})
        self.assertEqual(sum(row.forfeits for row in one.strategies), 0)

    def test_a_function_remembers_its_series_as_a_built_in_strategy_does(self):
        def mirror(turn):
            past = turn.history
            return past[-1].theirs if past and past[-1].theirs else turn.options[0]

        lengths = []

        def counting(turn):
            lengths.append(len(turn.history))
            return mirror(turn)

        found = matchday.simulate("even_odd", [counting, "random"], matches=1000, series=20)
        self.assertEqual({row.matches for row in found.strategies}, {1000})
        self.assertEqual(max(lengths), 19)
        self.assertEqual({lengths.count(length) for length in range(20)}, {50})

    def test_a_script_of_ones_own_is_a_program_with_many_turns_in_a_message(self):
        script = Path("last.py").resolve()
        package = Path(matchday.__file__).resolve().parents[1]
        script.write_text(
            f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(package)!r})\nimport matchday\n\n"
            "def last(turn):\n    print('this is no move')\n    return turn.options[-1]\n\nmatchday.serve(last)\n"
        )
        script.chmod(0o755)
        named = matchday.simulate("even_odd", [f"command:{script}", "random"], matches=300, seed=5)
        called = matchday.simulate("even_odd", [lambda turn: turn.options[-1], "random"], matches=300, seed=5)
        scores = [sorted((row.wins, row.draws, row.losses) for row in found.strategies) for found in (named, called)]
        self.assertEqual(scores[0], scores[1])
        self.assertEqual(sum(row.forfeits for row in named.strategies), 0)

    def test_an_error_of_a_function_is_the_callers(self):
        def broken(turn):
            raise ValueError("no idea")

        with self.assertRaisesRegex(ValueError, "no idea"):
            matchday.simulate("even_odd", [broken, "random"], matches=100)

    def test_a_wrong_name_is_told_in_the_words_of_the_program(self):
        with self.assertRaisesRegex(matchday.Error, "did you mean"):
            matchday.simulate("even_odd", ["randm", "mirror"])

    def test_an_experiment_is_played_by_a_dict_and_goes_on(self):
        plan = {"games": ["nim"], "strategies": ["optimal", "random"], "repetitions": 20, "seeds": [1, 2]}
        found = matchday.experiment(plan, out="results", progress=None)
        self.assertEqual(len(found.matches()), 2 * 20 * 2)
        self.assertTrue(Path("results/report.html").exists())
        again = matchday.experiment(plan, out="results", progress=None)
        self.assertEqual(again.results, found.results)


if __name__ == "__main__":
    unittest.main()
