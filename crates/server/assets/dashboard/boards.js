// The featured boards: matches that are being played, move by move, or those that ended last.

import { board } from './board.js';
import { el } from './dom.js';
import { link } from './follow.js';
import { who } from './parts.js';
import { plural, sentence } from './words.js';

const name = (player) => player.name || player.id;

function state(match) {
  if (match.state === 'decided') {
    const winner = [match.a, match.b].find((player) => player.id === match.winner);
    if (winner)
      return [el('bdi', {}, name(winner)), match.status === 'TECHNICAL_LOSS' ? ' wins by technical loss' : ' wins'];
    return match.status === 'TECHNICAL_LOSS' ? 'Both lost' : 'Drawn';
  }
  const turns = match.ply ? plural(match.ply, 'turn') : 'The first turn';
  if (match.to_move.length > 1) return `${turns}, both are choosing`;
  const next = [match.a, match.b].find((player) => player.id === match.to_move[0]);
  return next ? [`${turns}, `, el('bdi', {}, name(next)), ' to move'] : turns;
}

function card(match) {
  const side = (player, letter) =>
    el('p', { class: `live-side ${letter}${match.winner === player.id ? ' won' : ''}` }, who(player));
  return el(
    'li',
    { class: `live-board ${match.state}`, key: match.id },
    side(match.a, 'a'),
    match.view
      ? board(match.view, [name(match.a), name(match.b)])
      : el('p', { class: 'muted' }, sentence(match.reason ?? 'No position is known yet')),
    side(match.b, 'b'),
    el(
      'p',
      { class: 'live-state' },
      el('a', { href: link('matches', match.id) }, match.id),
      ' ',
      el('span', { class: 'muted' }, state(match)),
    ),
  );
}

function heading(boards) {
  const live = boards.filter((match) => match.state === 'playing').length;
  if (!live) return 'The last boards';
  return live === boards.length ? 'Being played now' : 'Being played now, and just ended';
}

/** The section; nothing before the first match. */
export function featured({ boards }, { title } = {}) {
  if (!boards?.length) return null;
  return el(
    'section',
    { class: 'card featured', key: 'featured', 'aria-labelledby': 'featured-title' },
    el('h2', { id: 'featured-title' }, title ?? heading(boards)),
    el('ul', { class: 'live-boards' }, boards.map(card)),
  );
}
