// The featured boards: one large, the others small beside it. Matches that are being played, move by move, or those that ended last.

import { board, sideColours } from './board.js';
import { el } from './dom.js';
import { link } from './follow.js';
import { outlookBar, outlookWords } from './outlook.js';
import { who } from './parts.js';
import { duration, plural, sentence, withNames } from './words.js';

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

/** "Ada plays column 3 (1.2 s)". */
function lastMove(match) {
  const made = match.last_move;
  if (!made) return null;
  const player = [match.a, match.b].find((one) => one.id === made.player);
  return el(
    'p',
    { class: 'last-move', key: 'last-move' },
    el('bdi', {}, name(player)),
    ` ${made.words}`,
    made.think_ms === undefined ? null : [' ', el('span', { class: 'whole' }, `(${duration(made.think_ms)})`)],
  );
}

function side(match, player, letter) {
  const moves = match.to_move.includes(player.id) ? ' to-move' : '';
  return el(
    'p',
    { class: `live-side ${letter}${match.winner === player.id ? ' won' : ''}${moves}`, key: letter },
    who(player),
  );
}

const position = (match, game) =>
  match.view
    ? board(match.view, [name(match.a), name(match.b)], game)
    : el('p', { class: 'muted' }, sentence(withNames(match.reason ?? 'No position is known yet', [match.a, match.b])));

/** The match that everyone looks at. */
export function large(match, game) {
  return el(
    'article',
    { class: `live-board large ${match.state}`, key: match.id, style: sideColours(match.a, match.b) },
    side(match, match.a, 'a'),
    position(match, game),
    match.outlook ? outlookBar(match.outlook, name(match.a), name(match.b)) : null,
    side(match, match.b, 'b'),
    el(
      'div',
      { class: 'live-told', key: 'told' },
      el(
        'p',
        { class: 'live-state' },
        el('a', { href: link('matches', match.id) }, match.id),
        ' ',
        el('span', { class: 'muted' }, state(match)),
      ),
      lastMove(match),
      match.outlook
        ? el('p', { key: 'outlook-words' }, el('bdi', {}, outlookWords(match.outlook, name(match.a), name(match.b))))
        : null,
      (match.stakes ?? []).map((words) => el('p', { class: 'stake' }, sentence(words))),
    ),
  );
}

/** A match beside it; a click makes it the large one. */
function small(match, game, pick) {
  return el(
    'li',
    { class: `live-board small ${match.state}`, key: match.id, style: sideColours(match.a, match.b) },
    side(match, match.a, 'a'),
    position(match, game),
    side(match, match.b, 'b'),
    el(
      'p',
      { class: 'live-state' },
      el('span', { class: 'muted' }, state(match)),
      ' ',
      el(
        'button',
        { type: 'button', class: 'small', 'aria-label': `Watch ${match.id}`, onclick: () => pick(match.id) },
        'Watch',
      ),
    ),
  );
}

function heading(boards) {
  const live = boards.filter((match) => match.state === 'playing').length;
  if (!live) return 'The last boards';
  return live === boards.length ? 'Being played now' : 'Being played now, and just ended';
}

/** The section; nothing before the first match. */
export function featured({ boards }, { league, memory, refresh }) {
  if (!boards?.length) return null;
  const pick = (id) => {
    memory.picked = id;
    refresh();
  };
  const [first, ...others] = boards;
  return el(
    'section',
    { class: 'card featured', key: 'featured', 'aria-labelledby': 'featured-title' },
    el('h2', { id: 'featured-title' }, heading(boards)),
    el(
      'div',
      { class: `stage${others.length ? '' : ' alone'}` },
      large(first, league.game),
      others.length
        ? el('ul', { class: 'live-boards' }, others.map((match) => small(match, league.game, pick)))
        : null,
    ),
  );
}

/** Latest events, newest first. */
export function ticker({ ticker: lines }) {
  if (!lines?.length) return null;
  return el(
    'section',
    { class: 'card ticker', key: 'ticker', 'aria-labelledby': 'ticker-title' },
    el('h2', { id: 'ticker-title' }, 'Latest events'),
    el(
      'ul',
      { class: 'plain' },
      lines
        .slice(0, 6)
        .map((line) =>
          el(
            'li',
            { key: `${line.match_id ?? ''} ${line.text}` },
            sentence(line.text),
            line.match_id ? [' ', el('a', { href: link('matches', line.match_id) }, line.match_id)] : null,
          ),
        ),
    ),
  );
}
