// The fair draw, recomputed here: the scheme `matchday-draw-2` of the protocol, with the browser's own SHA-256.

const text = (value) => new TextEncoder().encode(value);
const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

function bigEndian(value, bytes) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(value));
  return new Uint8Array(view.buffer).slice(8 - bytes);
}

/** Each part with its length before it. */
function list(...parts) {
  const pieces = parts.flatMap((part) => [bigEndian(part.length, 8), part]);
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const SCHEME = 'matchday-draw-2';

export async function commitment(leagueId, matchId, attempt, secret) {
  const parts = list(
    text(`${SCHEME}/commitment`),
    text(leagueId),
    text(matchId),
    bigEndian(attempt, 4),
    fromHex(secret),
  );
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', parts)));
}

/** The first number from `low` to `high` that the secret and both nonces give. */
export async function drawn(leagueId, matchId, attempt, secret, nonceA, nonceB, low, high) {
  const key = await crypto.subtle.importKey('raw', fromHex(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const most = (1n << 64n) - 1n;
  const span = BigInt(high - low + 1);
  const limit = most - (most % span);
  for (let block = 0; ; block += 1) {
    const parts = list(
      text(`${SCHEME}/draw`),
      text(leagueId),
      text(matchId),
      bigEndian(attempt, 4),
      text(nonceA),
      text(nonceB),
      bigEndian(block, 8),
    );
    const stream = new DataView(await crypto.subtle.sign('HMAC', key, parts));
    for (let at = 0; at < 32; at += 8) {
      const word = stream.getBigUint64(at);
      if (word < limit) return low + Number(word % span);
    }
  }
}

/** Whether the browser can do this at all: it gives no SHA-256 to a page that came without TLS from another machine. */
export const possible = () => Boolean(globalThis.crypto?.subtle);

/** Recomputes a match of even/odd, for the attempt whose commitment fits; says in words what came of it. */
export async function recomputed(leagueId, match) {
  const { secret, nonces, number } = match.draw;
  for (let attempt = match.attempts ?? 1; attempt >= 1; attempt -= 1) {
    if ((await commitment(leagueId, match.id, attempt, secret)) !== match.draw.commitment) continue;
    const nonce = (player) => nonces?.[player.id] ?? player.id;
    const found = await drawn(leagueId, match.id, attempt, secret, nonce(match.a), nonce(match.b), 1, 10);
    return found === number
      ? {
          holds: true,
          words: `Recomputed in this browser: the secret is the one that was promised, and it gives ${found}.`,
        }
      : {
          holds: false,
          words: `Recomputed in this browser: the number is ${found}, and the referee reported ${number}.`,
        };
  }
  return { holds: false, words: 'Recomputed in this browser: the secret is not the one that was promised.' };
}
