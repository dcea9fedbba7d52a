// Who would win from a position if both played as well as one can, as a bar: of matches that are over, and where all players are the
// program's own.

import { el } from './dom.js';

const SHARE = { a: 100, level: 50, b: 0 };

/** `outlook` as the server tells it ("a", "b", "level" or "open") of a match between players of these names. */
export const outlookWords = (outlook, a, b) =>
  ({
    a: `${a} can force a win`,
    b: `${b} can force a win`,
    level: 'Level: neither can force a win',
    open: 'Open: the search does not reach the end',
  })[outlook];

export function outlookBar(outlook, a, b) {
  const words = outlookWords(outlook, a, b);
  return el(
    'div',
    { class: `outlook ${outlook}`, role: 'img', 'aria-label': words, title: words, key: 'outlook' },
    el('i', { style: { width: `${SHARE[outlook] ?? 50}%` } }),
  );
}
