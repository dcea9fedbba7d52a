// Wall mode: the league on a projector. It goes round: the table with as many players as fit, the featured board, the points race, the
// round that is on. Readers who want no motion turn the pages themselves.

import { featured, large, ticker } from './boards.js';
import { el, svg } from './dom.js';
import { link } from './follow.js';
import { race } from './lines.js';
import { countdown, form, matchList, phase, progress, who } from './parts.js';
import { podium } from './podium.js';
import { rise } from './table.js';
import { number, percent, plural } from './words.js';

export const topics = ['league', 'standings', 'rounds', 'messages'];
export const pace = 700;
export const title = () => 'Wall';

/** How long a scene stands. */
const SCENE_MS = 12000;
const SCENES = { table: 'Table', board: 'Board', race: 'Race', round: 'Round' };

export async function load(ask, { league, memory }) {
  const address = `${location.origin}${location.pathname}`;
  const current = league.phase === 'registration' ? null : league.round?.current;
  const [standings, points, boards, round, qr] = await Promise.all([
    ask('standings'),
    ask('race'),
    current ? ask('boards', { limit: 5 }) : { boards: [] },
    current ? ask(`rounds/${current}`, { limit: 24 }) : null,
    memory.qr ?? ask('qr', { text: address }),
  ]);
  memory.qr = qr;
  return { standings, points, boards, round, qr, address };
}

export function view(data, context) {
  const { league, memory } = context;
  const scenes = Object.keys(SCENES).filter((scene) => has(scene, data, league));
  const scene = scenes.includes(memory.scene) ? memory.scene : 'table';
  turn(scenes, context);
  return [
    el(
      'div',
      { class: `wall scene-${scene}`, key: 'wall' },
      header(league),
      SHOWN[scene](data, context),
      scenes.length > 1 ? pages(scenes, scene, context) : null,
    ),
  ];
}

function has(scene, { points, boards, round }, league) {
  const over = league.phase === 'completed';
  if (scene === 'board') return boards.boards.length > 0 && !over;
  if (scene === 'race') return points.rounds.length > 1;
  return scene === 'table' || (round?.matches.length > 0 && !over);
}

/** Goes on to the next scene after a while, as long as the wall is shown. */
function turn(scenes, { memory, redraw }) {
  if (memory.timer || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  memory.timer = setTimeout(() => {
    memory.timer = null;
    if (!document.querySelector('.wall')) return;
    if (!memory.held) memory.scene = scenes[(scenes.indexOf(memory.scene ?? 'table') + 1) % scenes.length];
    redraw();
  }, SCENE_MS);
}

/** Which scenes there are. One that was chosen stays. */
function pages(scenes, scene, { memory, redraw }) {
  const go = (to) => () => {
    memory.held = to !== null;
    memory.scene = to ?? scene;
    redraw();
  };
  return el(
    'nav',
    { class: 'wall-pages', key: 'pages', 'aria-label': 'Scenes' },
    scenes.map((one) =>
      el(
        'button',
        { type: 'button', class: 'small', 'aria-pressed': String(one === scene), onclick: go(one) },
        SCENES[one],
      ),
    ),
    memory.held ? el('button', { type: 'button', class: 'small', onclick: go(null) }, 'Go round') : null,
  );
}

const SHOWN = {
  table: ({ standings, points, boards, qr, address }, { league }) => {
    const [first] = boards.boards;
    const over = league.phase === 'completed';
    return [
      el('div', { class: 'wall-table', key: 'table' }, table(standings, league)),
      el(
        'div',
        { class: 'wall-side', key: 'side' },
        over
          ? podium({ ...league, awards: [] }, standings.rows)
          : first
            ? el('section', { class: 'card wall-board', key: 'board' }, large(first, league.game))
            : null,
        points.rounds.length
          ? el(
              'section',
              { class: 'card', key: 'race' },
              el('h2', {}, 'Points race'),
              race(points, { name: 'wall-race' }),
            )
          : null,
        code(qr, address, league),
      ),
    ];
  },
  board: ({ boards }, context) => el('div', { class: 'wall-scene', key: 'board-scene' }, featured(boards, context)),
  race: ({ points, standings }, { league }) =>
    el(
      'div',
      { class: 'wall-scene', key: 'race-scene' },
      el('section', { class: 'card' }, el('h2', {}, 'Points race'), race(points, { name: 'wall-race-large' })),
      chances(standings, league),
    ),
  round: ({ round, boards }) =>
    el(
      'div',
      { class: 'wall-scene', key: 'round-scene' },
      el(
        'section',
        { class: 'card' },
        el('h2', {}, round.title ?? `Round ${round.round}`),
        round.starts_at && round.state === 'announced' ? el('p', {}, 'Starts ', countdown(round.starts_at)) : null,
        matchList(round.matches),
      ),
      ticker(boards),
    ),
};

/** Who may still win it. */
function chances({ rows }, league) {
  const likely = rows.filter((row) => row.chance > 0.005).sort((a, b) => b.chance - a.chance);
  if (!likely.length || league.phase === 'completed') return null;
  return el(
    'section',
    { class: 'card', key: 'chances' },
    el('h2', {}, 'Chance to win the league'),
    el(
      'ul',
      { class: 'bars' },
      likely
        .slice(0, 8)
        .map((row) =>
          el(
            'li',
            { key: row.id },
            who(row, { plain: true }),
            el('span', { class: 'bar-track' }, el('i', { style: { width: `${row.chance * 100}%` } })),
            el('span', { class: 'bar-count' }, percent(row.chance)),
          ),
        ),
    ),
  );
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
      league.phase === 'registration'
        ? `${plural(league.players, 'player')} and ${plural(league.referees, 'referee')} registered`
        : `${number(matches.decided)}${matches.total ? ` of ${number(matches.total)}` : ''} matches decided`,
    ),
    matches.total ? progress(matches.decided, matches.total, 'Matches decided') : null,
    el('a', { class: 'button', href: link('') }, 'Leave wall mode'),
  );
}

/** In as many columns as there are players for: each row is as high as the screen leaves it. */
function table({ rows }, league) {
  if (!rows.length) return el('p', { class: 'wall-empty' }, 'Nobody has joined yet.');
  const columns = rows.length > 66 ? 4 : rows.length > 40 ? 3 : rows.length > 18 ? 2 : 1;
  const played = league.matches.decided > 0;
  return el(
    'ol',
    {
      class: `wall-rows${columns > 1 ? ' many' : ''}`,
      style: {
        '--columns': columns,
        '--rows': Math.max(Math.ceil(rows.length / columns), 6),
        '--longest': Math.max(4, ...rows.map((row) => row.name.length)),
      },
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
        // A ladder ranks by the rating that it pairs by.
        el('b', {}, row.pairing_rating ?? row.points),
      ),
    ),
  );
}

function code({ size, path }, address, league) {
  return el(
    'figure',
    { class: 'qr', key: 'qr' },
    svg(
      'svg',
      { viewBox: `-3 -3 ${size + 6} ${size + 6}`, role: 'img', 'aria-label': `QR code of ${address}` },
      svg('rect', { class: 'qr-paper', x: -3, y: -3, width: size + 6, height: size + 6 }),
      svg('path', { class: 'qr-ink', d: path }),
    ),
    el(
      'figcaption',
      {},
      league.phase === 'registration' ? el('b', {}, 'Registration is open') : null,
      el('span', {}, address),
      league.phase === 'registration' ? el('code', {}, `matchday player --manager ${address}mcp`) : null,
    ),
  );
}
