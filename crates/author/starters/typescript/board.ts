/** The board of a turn, in games that have one. */

type Grid = { kind?: string; columns: number; cells: unknown[] };

/** The cells from the top, row by row; empty text for an empty cell. No rows if the game has no board. */
export function rows(context: Record<string, unknown>): string[][] {
  const { cells, columns } = grid(context);
  const texts = cells.map((cell) => (cell === null || cell === "." ? "" : String(cell)));
  const starts = columns > 0 ? texts.keys() : [];
  return [...starts].filter((at) => at % columns === 0).map((at) => texts.slice(at, at + columns));
}

function grid(context: Record<string, unknown>): Grid {
  const view = context.view as Grid | undefined;
  if (view?.kind === "grid") return view;
  const board = Array.isArray(context.board) ? context.board : [];
  const isRows = board.every((row) => typeof row === "string") && String(board[0] ?? "").length > 1;
  if (isRows) return { cells: [...board.join("")], columns: String(board[0]).length };
  return { cells: board, columns: Math.floor(Math.sqrt(board.length)) };
}

/** The rows as text. */
export function show(board: string[][]): string {
  return board.map((row) => row.map((cell) => cell || ".").join(" ")).join("\n");
}
