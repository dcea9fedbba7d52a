"""The cells of the notebook run one after the other, and make the plot."""

import json
import unittest
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[2] / "examples/first_league.ipynb"


class Notebook(unittest.TestCase):
    def test_every_cell_runs(self):
        cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        scope = {"__name__": "__main__"}
        for cell in cells:
            if cell["cell_type"] == "code":
                self.assertEqual(cell["outputs"], [], "the notebook is kept without its outputs")
                exec("".join(cell["source"]), scope)
        self.assertGreater(Path("ratings.png").stat().st_size, 5000)


if __name__ == "__main__":
    unittest.main()
