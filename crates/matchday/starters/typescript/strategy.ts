/** How this player chooses. This is the file to change. */

export type Parity = "even" | "odd";

/** A match that is over. A choice is null where there was none, the number where none was drawn. */
export type Past = {
  matchId: string;
  opponentId: string;
  mine: Parity | null;
  theirs: Parity | null;
  number: number | null;
};

/** What is known when a choice is due. */
export type Turn = {
  matchId: string;
  opponentId: string;
  roundId: number | null;
  /** Oldest first. */
  history: Past[];
};

/**
 * Returns "even" or "odd", or a promise of it. Called once for each match.
 *
 * It has THINKING_MS (see agent.ts). If it throws, takes longer or returns anything else, the choice is left to chance.
 * Node has one thread: what computes for long without an `await` keeps everything else waiting.
 */
export function choose(turn: Turn): Parity | Promise<Parity> {
  return Math.random() < 0.5 ? "even" : "odd";
}
