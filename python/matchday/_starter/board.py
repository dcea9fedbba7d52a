"""The board of a turn, in games that have one."""

import math
from typing import Any, Dict, List


def rows(context: Dict[str, Any]) -> List[List[str]]:
    """The cells from the top, row by row; empty text for an empty cell. No rows if the game has no board."""
    view, board = context.get("view"), context.get("board")
    if isinstance(view, dict) and view.get("kind") == "grid":
        cells, width = view["cells"], view["columns"]
    elif isinstance(board, list) and board and all(isinstance(row, str) for row in board) and len(board[0]) > 1:
        cells, width = "".join(board), len(board[0])
    elif isinstance(board, list) and board:
        cells, width = board, math.isqrt(len(board))
    else:
        return []
    cells = ["" if cell in (None, ".") else str(cell) for cell in cells]
    return [cells[start : start + width] for start in range(0, len(cells), width)]


def show(board: List[List[str]]) -> str:
    """The rows as text."""
    return "\n".join(" ".join(cell or "." for cell in row) for row in board)
