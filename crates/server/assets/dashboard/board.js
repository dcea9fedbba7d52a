// A position of a game, drawn from the server's description: a grid of cells, or a strip of rounds in which both chose.

import { el, svg } from './dom.js';
import { hue } from './parts.js';

const CELL = 44;

/** `sides` are the names of A and B, for readers who do not see the picture; `game` tells how the pieces look and move. */
export function board(view, sides, game) {
  if (view.kind === 'grid') return grid(view, sides, game);
  return view.rounds.length === 1 && view.rounds[0].drawn !== undefined ? draw(view, sides) : strip(view, sides);
}

/** The colours of the two sides on a board: the players' own, if they differ. */
export function sideColours(a, b) {
  const [first, second] = [hue(a), hue(b)];
  return { '--side-a': `var(--s${first})`, '--side-b': `var(--s${second === first ? (second + 1) % 8 : second})` };
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
    { class: 'draw-board', key: 'drawn' },
    side(a, 0),
    el('div', { class: 'draw-number' }, el('span', { class: 'muted' }, 'number'), el('b', {}, round.drawn)),
    side(b, 1),
  );
}

const owner = (view, text) => (view.marks?.A?.includes(text) ? 'a' : view.marks?.B?.includes(text) ? 'b' : 'neutral');

/** What stands in a cell. Pieces of the last move fall or draw themselves, as the game has it. */
const PIECES = {
  connect_four: (text, x, y, row) =>
    svg(
      'g',
      { class: 'piece disc', style: { '--fall': `${-(row + 1) * CELL}px` } },
      svg('circle', { cx: x, cy: y, r: CELL / 2 - 5 }),
      svg('text', { x, y }, text),
    ),
  tic_tac_toe: (text, x, y) => {
    const r = CELL / 4;
    const path =
      text === 'X'
        ? `M${x - r},${y - r}L${x + r},${y + r}M${x + r},${y - r}L${x - r},${y + r}`
        : `M${x},${y - r}a${r},${r} 0 1 1 0,${2 * r}a${r},${r} 0 1 1 0,${-2 * r}`;
    return svg('path', { class: 'piece stroke', d: path, pathLength: 1 });
  },
  nim: (_, x, y) => svg('circle', { class: 'piece object', cx: x, cy: y, r: CELL / 2 - 9 }),
};
const letter = (text, x, y) => svg('text', { class: 'piece', x, y }, text);

function grid(view, sides, game) {
  const rows = view.cells.length / view.columns;
  const left = view.row_names?.length ? 24 : 0;
  const top = view.column_names?.length ? 24 : 0;
  const place = (index) => [left + (index % view.columns) * CELL, top + Math.floor(index / view.columns) * CELL];
  const name = (text, x, y) => svg('text', { class: 'board-name', x, y }, text);
  const piece = PIECES[game] ?? letter;
  const cell = (text, index) => {
    const [x, y] = place(index);
    const marked = [view.line?.includes(index) ? 'line' : null, view.last?.includes(index) ? 'last' : null];
    return svg(
      'g',
      {
        key: index,
        class: ['cell', owner(view, text), ...marked].filter(Boolean).join(' '),
        'data-mark': text || null,
      },
      svg('rect', { x: x + 2, y: y + 2, width: CELL - 4, height: CELL - 4, rx: 6 }),
      text ? piece(text, x + CELL / 2, y + CELL / 2, Math.floor(index / view.columns)) : null,
    );
  };
  return svg(
    'svg',
    {
      class: `grid-board ${/^[a-z_]+$/.test(game ?? '') ? game : ''}`,
      viewBox: `0 0 ${left + view.columns * CELL} ${top + rows * CELL}`,
      style: { '--board-width': `${left + view.columns * CELL * 1.3}px` },
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

const STRIP = { cell: 24, perLine: 20, left: 12, gap: 14 };

/** The first letters that tell the choices apart. */
function letters(choices) {
  const length =
    [1, 2, 3].find((many) => new Set(choices.map((one) => one.slice(0, many))).size === choices.length) ?? 3;
  return new Map(choices.map((one) => [one, one.slice(0, length)]));
}

/** Each round is a column: what A chose over what B chose, and what was drawn; the choice that won the round is framed. */
function strip(view, [a, b]) {
  const { rounds, totals } = view;
  if (!rounds.length)
    return el('p', { class: 'nothing-chosen muted' }, '? : ?', el('span', {}, 'hidden until both have chosen'));
  const choices = [...new Set(rounds.flatMap((round) => round.choices))].sort();
  const short = letters(choices);
  const { cell, perLine, left, gap } = STRIP;
  const columns = Math.min(rounds.length, perLine);
  const drawn = rounds.some((round) => round.drawn !== undefined) ? 1 : 0;
  const line = cell * (2 + drawn) + gap;
  const square = (round, index, seat) => {
    const [x, y] = [left + (index % perLine) * cell, Math.floor(index / perLine) * line + seat * cell];
    const won = round.points[seat] > round.points[1 - seat];
    return svg(
      'g',
      { class: `chosen c${choices.indexOf(round.choices[seat]) % 8}${won ? ' won' : ''}`, key: `${index} ${seat}` },
      svg('rect', { x: x + 1.5, y: y + 1.5, width: cell - 3, height: cell - 3, rx: 4 }),
      svg('text', { x: x + cell / 2, y: y + cell / 2 }, short.get(round.choices[seat])),
      svg('title', {}, `Round ${index + 1}: ${round.choices[seat]}, ${round.points[seat]} points`),
    );
  };
  const number = (round, index) =>
    svg(
      'text',
      {
        class: 'strip-drawn',
        x: left + ((index % perLine) + 0.5) * cell,
        y: Math.floor(index / perLine) * line + 2.5 * cell,
      },
      round.drawn ?? '',
    );
  const lines = Math.ceil(rounds.length / perLine);
  const sides = Array.from({ length: lines }, (_, at) =>
    [0, 1].map((seat) =>
      svg('rect', {
        class: `strip-side ${'ab'[seat]}`,
        x: 0,
        y: at * line + seat * cell + 2,
        width: 4,
        height: cell - 4,
      }),
    ),
  );
  const told = (name, seat) => `${name} ${totals[seat]}: ${rounds.map((round) => round.choices[seat]).join(', ')}`;
  return el(
    'div',
    { class: 'strip-board' },
    svg(
      'svg',
      {
        viewBox: `0 0 ${left + columns * cell} ${lines * line - gap}`,
        style: { 'max-width': `${(left + columns * cell) * 1.4}px` },
        role: 'img',
        'aria-label': `${told(a, 0)}; ${told(b, 1)}`,
      },
      sides,
      rounds.map((round, index) => [
        square(round, index, 0),
        square(round, index, 1),
        drawn ? number(round, index) : null,
      ]),
    ),
    el(
      'p',
      { class: 'strip-key muted' },
      el('b', {}, `${totals[0]} : ${totals[1]}`),
      choices.map((choice) => [' ', el('b', {}, short.get(choice)), ' ', el('bdi', {}, choice)]),
    ),
  );
}
