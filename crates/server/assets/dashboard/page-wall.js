// Wall mode: the league on a projector. As many players as fit, the race, one board, the next round, and where to look.

import { board } from './board.js';
import { el, svg } from './dom.js';
import { link } from './follow.js';
import { race } from './lines.js';
import { countdown, form, phase, progress, who } from './parts.js';
import { podium } from './podium.js';
import { rise } from './table.js';
import { number, plural } from './words.js';

export const topics = ['league', 'standings', 'rounds', 'messages'];
export const pace = 700;
export const title = () => 'Wall';

export async function load(ask, { memory }) {
  const address = `${location.origin}${location.pathname}`;
  const [standings, points, boards, qr] = await Promise.all([
    ask('standings'),
    ask('race'),
    ask('boards', { limit: 1 }),
    memory.qr ?? ask('qr', { text: address }),
  ]);
  memory.qr = qr;
  return { standings, points, boards, qr, address };
}

export function view({ standings, points, boards, qr, address }, { league }) {
  const over = league.phase === 'completed';
  const [first] = boards.boards;
  return [
    el(
      'div',
      { class: 'wall', key: 'wall' },
      header(league),
      el('div', { class: 'wall-table', key: 'table' }, table(standings, league)),
      el(
        'div',
        { class: 'wall-side', key: 'side' },
        over ? podium({ ...league, awards: [] }, standings.rows) : first ? featuredBoard(first) : null,
        points.rounds.length
          ? el(
              'section',
              { class: 'card', key: 'race' },
              el('h2', {}, 'Points race'),
              race(points, { name: 'wall-race' }),
            )
          : null,
        code(qr, address),
      ),
    ),
  ];
}

function header(league) {
  const { round, matches } = league;
  const starts = round?.starts_at;
  const waits = starts && starts > league.now && league.phase === 'running';
  return el(
    'header',
    { class: 'wall-head', key: 'head' },
    el('h1', { tabindex: -1 }, league.league_id),
    phase(league.phase),
    el(
      'p',
      { class: 'wall-round' },
      league.phase === 'running' ? `Round ${round.current}${round.total ? ` of ${round.total}` : ''}` : null,
      waits ? [' starts ', countdown(starts)] : null,
    ),
    el(
      'p',
      { class: 'muted' },
      `${number(matches.decided)}${matches.total ? ` of ${number(matches.total)}` : ''} matches decided`,
    ),
    matches.total ? progress(matches.decided, matches.total, 'Matches decided') : null,
    el('a', { class: 'button', href: link('') }, 'Leave wall mode'),
  );
}

/** In as many columns as there are players for: each row is as high as the screen leaves it. */
function table({ rows }, league) {
  const columns = rows.length > 66 ? 4 : rows.length > 40 ? 3 : rows.length > 18 ? 2 : 1;
  const played = league.matches.decided > 0;
  return el(
    'ol',
    {
      class: `wall-rows${columns > 1 ? ' many' : ''}`,
      style: { '--columns': columns, '--rows': Math.ceil(rows.length / columns) },
      'aria-label': `Table of ${plural(rows.length, 'player')}`,
    },
    rows.map((row) =>
      el(
        'li',
        { key: row.id, class: 'wall-row' },
        el('span', { class: 'rank' }, played ? row.rank : '–'),
        rise(row.rise),
        who(row, { plain: true }),
        columns < 2 ? form(row.form) : null,
        el('b', {}, row.points),
      ),
    ),
  );
}

function featuredBoard(match) {
  const name = (player) => player.name || player.id;
  return el(
    'section',
    { class: 'card wall-board', key: 'board' },
    el(
      'h2',
      {},
      `${match.state === 'playing' ? 'Now' : 'Last'}: `,
      el('bdi', {}, name(match.a)),
      ' against ',
      el('bdi', {}, name(match.b)),
    ),
    match.view ? board(match.view, [name(match.a), name(match.b)]) : null,
  );
}

function code({ size, path }, address) {
  return el(
    'figure',
    { class: 'qr', key: 'qr' },
    svg(
      'svg',
      { viewBox: `-3 -3 ${size + 6} ${size + 6}`, role: 'img', 'aria-label': `QR code of ${address}` },
      svg('rect', { class: 'qr-paper', x: -3, y: -3, width: size + 6, height: size + 6 }),
      svg('path', { class: 'qr-ink', d: path }),
    ),
    el('figcaption', {}, address),
  );
}
