// How a player joins: the lines that its author types.

import { el } from './dom.js';
import { command } from './parts.js';

/** The lines for a player in Python; the other languages differ in the first word of the last line. */
const lines = ({ url, dial }, game) => [
  `matchday new player my-player --lang python --game ${game}`,
  'cd my-player',
  `python3 agent.py ${dial ? '--dial ' : ''}--manager ${url}`,
];

/** The box that tells how to join; `more` stands above the lines. */
export function joinBox(join, game, { title = 'Join this league', more = null } = {}) {
  return el(
    'section',
    { class: 'card join', key: 'join', 'aria-labelledby': 'join-title' },
    el('h2', { id: 'join-title' }, title),
    more,
    join.needs_code
      ? el(
          'p',
          {},
          'Players join with a code of their own. Your hand-out has the last line with your code in it; these lines write a player and try it.',
        )
      : el('p', {}, 'These lines write a player in Python, and join with it.'),
    el(
      'ol',
      { class: 'next' },
      (join.needs_code ? lines(join, game).slice(0, 2) : lines(join, game)).map((line) => el('li', {}, command(line))),
      join.needs_code ? el('li', {}, command(`matchday practice --game ${game}`)) : null,
    ),
    join.dial && !join.needs_code
      ? el('p', { class: 'muted' }, 'It calls the league, so that it joins from any network. Leave it running: it plays when the league does.')
      : null,
  );
}
