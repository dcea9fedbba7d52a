// "Why did I lose?": each loss with the move that decided it, what failed, and the command that plays it again.

import { el } from './dom.js';
import { link } from './follow.js';
import { command, who } from './parts.js';
import { plural, sentence } from './words.js';

function loss(one) {
  return el(
    'li',
    { class: 'loss', key: one.match_id },
    el(
      'p',
      { class: 'loss-head' },
      el('a', { href: link('matches', one.match_id, { ply: one.deciding?.ply }) }, one.match_id),
      el('span', { class: 'muted' }, ` round ${one.round}, against `),
      who(one.opponent),
      one.technical ? el('span', { class: 'pill state-technical' }, 'Technical loss') : null,
    ),
    el('p', {}, sentence(one.reason)),
    one.deciding
      ? el(
          'p',
          { class: 'deciding' },
          el('b', {}, 'The move that decided it: '),
          sentence(one.deciding.words),
          ' ',
          el('a', { href: link('matches', one.match_id, { ply: one.deciding.ply }) }, 'See the position'),
        )
      : null,
    one.fallbacks?.length
      ? el(
          'div',
          { class: 'note bad' },
          el(
            'p',
            {},
            el('b', {}, `Its own program failed in ${plural(one.fallbacks.length, 'move')}, and the fallback chose:`),
          ),
          el(
            'ul',
            { class: 'plain' },
            one.fallbacks.map((why) => el('li', {}, el('code', {}, why))),
          ),
        )
      : null,
    el(
      'details',
      {},
      el('summary', {}, 'Play it again with your agent'),
      el(
        'p',
        {},
        'Run this on the machine of the agent. It then waits for the agent to be started in another terminal, with ',
        el('code', {}, 'http://localhost:8000/mcp'),
        ' as its manager, as that of every starter is; one that plays here may go on. It shows what is answered now beside what was answered then.',
      ),
      command(one.command),
    ),
  );
}

export function whyLost(player) {
  const lost = player.why_lost ?? [];
  return el(
    'section',
    { class: 'card', key: 'why', 'aria-labelledby': 'why-title' },
    el('h2', { id: 'why-title' }, 'Why did it lose?'),
    lost.length
      ? el('ol', { class: 'plain losses' }, lost.map(loss))
      : el('p', { class: 'empty' }, player.losses ? 'Its losses are not known in detail.' : 'It has lost nothing.'),
    player.losses > lost.length && lost.length
      ? el('p', { class: 'muted' }, `The newest ${lost.length} of ${plural(player.losses, 'loss', 'losses')}.`)
      : null,
  );
}
