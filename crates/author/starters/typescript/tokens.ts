/**
 * The tokens by which the player knows its manager and its referees. Both follow from the token that the manager gave
 * the player, which therefore never has to be shown to a referee.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";

export type Direction = "referee-to-player" | "player-to-referee";

/** What the manager shows in its notices. */
export function noticeToken(leagueToken: string, leagueId: string): string {
  return derived(leagueToken, "league_manager", ["notice", leagueId, "", "", ""]);
}

/** What referee and player show each other in one attempt at a match, whose number ends the conversation_id. */
export function matchToken(
  leagueToken: string,
  leagueId: string,
  matchId: string,
  conversationId: string,
  direction: Direction,
): string {
  const attempt = Buffer.alloc(4);
  attempt.writeUInt32BE(Number(/-(\d{1,9})$/.exec(conversationId)?.[1] ?? 1));
  return derived(leagueToken, matchId.toLowerCase(), ["match", leagueId, matchId, attempt, direction]);
}

/** Compares in constant time, so that nobody can guess a token digit by digit. */
export function same(shown: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(shown), digest(expected));
}

function derived(leagueToken: string, owner: string, parts: (string | Buffer)[]): string {
  const hmac = createHmac("sha256", createHash("sha256").update(leagueToken).digest());
  for (const part of parts) {
    const bytes = Buffer.from(part as string);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(bytes.length));
    hmac.update(length).update(bytes);
  }
  return `tok_${owner}_${hmac.digest("hex")}`;
}
