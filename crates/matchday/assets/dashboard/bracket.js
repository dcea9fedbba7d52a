// The bracket of a knockout: a column for each round, and in it each pair with its score.

import { el } from './dom.js';
import { link } from './follow.js';
import { who } from './parts.js';

/** The rounds of the knockout: those that halve, after any rounds in groups. */
export const isKnockout = (league) => /knockout|elimination/.test(league.format ?? '');

const MATCHES_MAX = 64;

/** Every round with its matches; rounds in groups are left out. */
export async function loadBracket(ask, rounds) {
  const halving = rounds.filter((round, index) => round.matches && rounds.slice(index).every((later, at, all) => !at || later.matches <= all[at - 1].matches));
  const shown = halving.filter((round) => round.title && !/group/i.test(round.title));
  return Promise.all(shown.map((round) => ask(`rounds/${round.round}`, { limit: MATCHES_MAX })));
}

function pair(match) {
  const side = (player) => {
    const won = match.winner === player.id;
    return el(
      'span',
      { class: `bracket-side${won ? ' won' : ''}${match.winner && !won ? ' lost' : ''}` },
      who(player),
      el('b', {}, match.score?.[player.id] ?? ''),
    );
  };
  return el(
    'li',
    { class: `pair ${match.state}`, key: match.id },
    side(match.a),
    side(match.b),
    el('a', { class: 'pair-id', href: link('matches', match.id) }, match.id, el('span', { class: 'unseen' }, ' to the match')),
  );
}

export function bracket(rounds) {
  if (!rounds?.length) return null;
  return el(
    'section',
    { class: 'card', key: 'bracket', 'aria-labelledby': 'bracket-title' },
    el('h2', { id: 'bracket-title' }, 'Bracket'),
    el(
      'div',
      { class: 'bracket scroll-x', tabindex: 0, role: 'region', 'aria-label': 'Bracket, scrolls' },
      rounds.map((round) =>
        el(
          'div',
          { class: 'bracket-round', key: round.round },
          el('h3', {}, el('a', { href: link('rounds', round.round) }, round.title ?? `Round ${round.round}`)),
          el('ol', {}, round.matches.map(pair)),
        ),
      ),
    ),
  );
}
