// A position of a game, drawn from the server's description: a grid of cells, or a strip of rounds in which both chose.

import { el, svg } from './dom.js';

const CELL = 44;

/** `sides` are the names of A and B, for readers who do not see the picture. */
export function board(view, sides) {
  if (view.kind === 'grid') return grid(view, sides);
  return view.rounds.length === 1 && view.rounds[0].drawn !== undefined ? draw(view, sides) : strip(view, sides);
}

/** One choice each, and what was drawn after them. */
function draw({ rounds: [round] }, [a, b]) {
  const side = (name, seat) => {
    const won = round.points[seat] > round.points[1 - seat];
    return el(
      'div',
      { class: `draw-side ${'ab'[seat]}${won ? ' won' : ''}` },
      el('bdi', { class: 'muted' }, name),
      el('b', {}, el('bdi', {}, round.choices[seat])),
      won ? el('span', { class: 'unseen' }, ' won') : null,
    );
  };
  return el(
    'div',
    { class: 'draw-board' },
    side(a, 0),
    el('div', { class: 'draw-number' }, el('span', { class: 'muted' }, 'drawn'), el('b', {}, round.drawn)),
    side(b, 1),
  );
}

const owner = (view, text) =>
  view.marks?.A?.includes(text) ? 'a' : view.marks?.B?.includes(text) ? 'b' : 'neutral';

function grid(view, sides) {
  const rows = view.cells.length / view.columns;
  const left = view.row_names?.length ? 24 : 0;
  const top = view.column_names?.length ? 24 : 0;
  const place = (index) => [left + (index % view.columns) * CELL, top + Math.floor(index / view.columns) * CELL];
  const name = (text, x, y) => svg('text', { class: 'board-name', x, y }, text);
  const cell = (text, index) => {
    const [x, y] = place(index);
    const marked = [view.line?.includes(index) ? 'line' : null, view.last?.includes(index) ? 'last' : null];
    return svg(
      'g',
      { key: index, class: ['cell', owner(view, text), ...marked].filter(Boolean).join(' ') },
      svg('rect', { x: x + 2, y: y + 2, width: CELL - 4, height: CELL - 4, rx: 6 }),
      text ? svg('text', { x: x + CELL / 2, y: y + CELL / 2 }, text) : null,
    );
  };
  return svg(
    'svg',
    {
      class: 'grid-board',
      viewBox: `0 0 ${left + view.columns * CELL} ${top + rows * CELL}`,
      style: { 'max-width': `${left + view.columns * CELL * 1.3}px` },
      role: 'img',
      'aria-label': inWords(view, sides),
    },
    (view.column_names ?? []).map((text, column) => name(text, left + (column + 0.5) * CELL, top / 2)),
    (view.row_names ?? []).map((text, row) => name(text, left / 2, top + (row + 0.5) * CELL)),
    view.cells.map(cell),
  );
}

/** Row by row, as one would read it out. */
function inWords(view, [a, b]) {
  const rows = [];
  for (let at = 0; at < view.cells.length; at += view.columns)
    rows.push(
      view.cells
        .slice(at, at + view.columns)
        .map((text) => text || 'empty')
        .join(' '),
    );
  const whose = [
    [a, view.marks?.A],
    [b, view.marks?.B],
  ].flatMap(([name, marks]) => (marks?.length ? [`${name} has ${marks.join(', ')}`] : []));
  return [...whose, ...rows].join('; ');
}

function strip(view, [a, b]) {
  if (!view.rounds.length) return el('p', { class: 'nothing-chosen muted' }, '? : ?', el('span', {}, 'hidden until both have chosen'));
  const drawn = view.rounds.some((round) => round.drawn !== undefined);
  const cell = (round, seat) => {
    const won = round.points[seat] > round.points[1 - seat];
    return el(
      'td',
      { class: won ? `won ${'ab'[seat]}` : null },
      el('bdi', {}, round.choices[seat]),
      won ? el('span', { class: 'unseen' }, ' won the round') : null,
    );
  };
  const line = (name, seat) =>
    el(
      'tr',
      {},
      el('th', { scope: 'row' }, el('bdi', {}, name)),
      view.rounds.map((round) => cell(round, seat)),
      el('td', { class: 'total' }, view.totals[seat]),
    );
  return el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Rounds, scrolls' },
    el(
      'table',
      { class: 'strip-board' },
      el('caption', { class: 'unseen' }, 'What each chose, round by round'),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col' }, 'Round'),
          view.rounds.map((_, index) => el('th', { scope: 'col' }, index + 1)),
          el('th', { scope: 'col' }, 'Total'),
        ),
      ),
      el(
        'tbody',
        {},
        line(a, 0),
        line(b, 1),
        drawn
          ? el(
              'tr',
              {},
              el('th', { scope: 'row' }, 'Drawn'),
              view.rounds.map((round) => el('td', { class: 'drawn-number' }, round.drawn ?? '')),
              el('td', {}),
            )
          : null,
      ),
    ),
  );
}
