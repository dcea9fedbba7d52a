// Who beat whom. Every cell is text as well as colour, a link to the pair's last match, and reached by the arrow keys:
// a table of 99 players has 9,702 of them, so that the tabulator stops at one alone.

import { el } from './dom.js';
import { saveCsv, saveJson } from './download.js';
import { empty, head, link, who } from './parts.js';
import { record } from './words.js';

export const topics = ['standings', 'rounds'];
export const pace = 1500;
export const title = () => 'Cross table';

// From so many players on, cells are colours without letters, so that the whole table fits.
const DENSE_FROM = 30;

export const load = (ask) => ask('cross');

export function view(data, { memory, redraw }) {
  const { players } = data;
  if (!players.length) return [head('Cross table'), empty('Results appear here as soon as matches are decided.')];
  if (memory.table?.data !== data) memory.table = prepared(data);
  const { order, met } = memory.table;
  const dense = players.length > DENSE_FROM && !memory.letters;
  if (!memory.stop) memory.stop = firstMet(memory.table);
  return [
    head(
      'Cross table',
      el(
        'p',
        { class: 'muted' },
        'Read along the row: W means that the player of the row won. Arrow keys move between the cells; a cell leads to the last match of the two.',
      ),
      el(
        'p',
        { class: 'saves' },
        players.length > DENSE_FROM
          ? el(
              'button',
              {
                type: 'button',
                class: 'small',
                onclick: () => {
                  memory.letters = !memory.letters;
                  redraw();
                },
              },
              dense ? 'Show letters' : 'Fit the whole table',
            )
          : null,
        el(
          'button',
          {
            type: 'button',
            class: 'small',
            'aria-label': 'Save the cross table as CSV',
            onclick: () => saveCsv('cross-table.csv', rows(memory.table)),
          },
          'CSV',
        ),
        el(
          'button',
          {
            type: 'button',
            class: 'small',
            'aria-label': 'Save the cross table as JSON',
            onclick: () => saveJson('cross-table.json', data),
          },
          'JSON',
        ),
      ),
    ),
    el(
      'div',
      {
        class: `cross card flush${dense ? ' dense' : ''}`,
        key: 'cross',
        tabindex: 0,
        role: 'region',
        'aria-label': 'Cross table, scrolls',
      },
      // The rows are no longer laid out as a table's, so that those out of sight cost nothing: the roles say what they are.
      el(
        'table',
        {
          role: 'table',
          style: { '--columns': players.length, '--cell': players.length > 20 ? '2.25rem' : '3.5rem' },
          onkeydown: (event) => move(event, memory),
        },
        el('caption', { class: 'unseen' }, 'Results of each player of a row against each player of a column'),
        el(
          'thead',
          { role: 'rowgroup' },
          el(
            'tr',
            { role: 'row' },
            el('td', { role: 'cell' }),
            order.map((column) =>
              el(
                'th',
                { role: 'columnheader', scope: 'col', key: players[column].id, title: players[column].name },
                players[column].id,
              ),
            ),
          ),
        ),
        el(
          'tbody',
          { role: 'rowgroup' },
          order.map((row) => line(row, { players, order, met, memory })),
        ),
      ),
    ),
    el(
      'ul',
      { class: 'key muted', key: 'key' },
      [
        ['w2', 'W won'],
        ['w1', 'more won than lost'],
        ['d', 'D even'],
        ['l1', 'more lost than won'],
        ['l2', 'L lost'],
        ['t', 'T technical loss'],
      ].map(([kind, words]) => el('li', {}, el('i', { class: `heat ${kind}` }), words)),
    ),
  ];
}

const rows = ({ data: { players }, order, met }) => [
  ['', ...order.map((column) => players[column].id)],
  ...order.map((row) => [
    players[row].name,
    ...order.map((column) => (met[row][column] ? letters(met[row][column]) : '')),
  ]),
];

function prepared(data) {
  const { players, cells } = data;
  const order = players.map((_, index) => index).sort((a, b) => (players[a].rank ?? 0) - (players[b].rank ?? 0));
  const met = players.map(() => []);
  for (const [row, column, cell] of cells) met[row][column] = cell;
  return { data, order, met };
}

/** The cell by which the tabulator comes in. */
function firstMet({ data: { players }, order, met }) {
  for (const row of order) {
    const column = order.find((one) => met[row][one]);
    if (column !== undefined) return `${players[row].id} ${players[column].id}`;
  }
  return null;
}

/** A row; one in which nothing has changed since it was last drawn is kept as it stands. */
function line(row, { players, order, met, memory }) {
  const { id, rank } = players[row];
  const stamp = JSON.stringify([rank, order.map((column) => [players[column].id, met[row][column]])]);
  memory.drawn ??= new Map();
  if (memory.drawn.get(id) === stamp) return el('tr', { key: id, keep: true });
  memory.drawn.set(id, stamp);
  return el(
    'tr',
    { key: id, role: 'row' },
    el('th', { role: 'rowheader', scope: 'row' }, el('span', { class: 'rank' }, rank ?? ''), who(players[row])),
    order.map((column) =>
      row === column
        ? el('td', { class: 'self', role: 'cell' })
        : square(players[row], players[column], met[row][column], memory.stop),
    ),
  );
}

function square(player, other, cell, stop) {
  if (!cell) return el('td', { role: 'cell' });
  const at = `${player.id} ${other.id}`;
  return el(
    'td',
    { role: 'cell', class: `heat ${kind(cell)}` },
    el(
      'a',
      {
        href: link('matches', cell.last),
        tabindex: at === stop ? 0 : -1,
        'data-at': at,
        title: `${player.name} against ${other.name}: ${record(cell)}`,
      },
      letters(cell),
    ),
  );
}

function kind({ w, d, l, t }) {
  const played = w + d + l;
  if (t && t === played) return 't';
  if (w === l) return 'd';
  return w > l ? (w === played ? 'w2' : 'w1') : l === played ? 'l2' : 'l1';
}

function letters({ w, d, l, t }) {
  if (w + d + l > 1) return `${w}–${l}`;
  return t ? 'T' : w ? 'W' : l ? 'L' : 'D';
}

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

/** To the next cell that way which has a link. */
function move(event, memory) {
  const step = STEPS[event.key];
  const from = event.target.closest?.('td');
  if (!step || !from) return;
  event.preventDefault();
  const body = event.currentTarget.tBodies[0];
  let [row, column] = [from.parentNode.sectionRowIndex, from.cellIndex];
  for (;;) {
    row += step[0];
    column += step[1];
    const found = body.rows[row]?.cells[column];
    if (!found || column === 0) return;
    const to = found.querySelector('a');
    if (!to) continue;
    event.target.tabIndex = -1;
    to.tabIndex = 0;
    memory.stop = to.dataset.at;
    to.focus();
    to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    return;
  }
}
