/** How this player chooses. This is the file to change. */

/** A match that is over. A choice is null where there was none, the number where none was drawn. */
export type Past = {
  matchId: string;
  opponentId: string;
  mine: string | null;
  theirs: string | null;
  number: number | null;
};

/** What is known when a choice is due. */
export type Turn = {
  matchId: string;
  opponentId: string;
  roundId: number | null;
  /** Oldest first. */
  history: Past[];
  /** Every legal move. */
  options: unknown[];
  /** What the referee shows: rows(turn.context), of board.ts, is the board, in games that have one. */
  context: Record<string, unknown>;
};

/**
 * Returns one of turn.options, or a promise of it. Called once for each turn.
 *
 * It has THINKING_MS (see agent.ts). If it throws, takes longer or returns anything else, the choice is left to chance.
 * Node has one thread: what computes for long without an `await` keeps everything else waiting.
 */
export function choose(turn: Turn): unknown {
  return turn.options[Math.floor(Math.random() * turn.options.length)];
}
