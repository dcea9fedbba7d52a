// Who beat whom. Every cell is text as well as colour, a link to the pair's last match, and reached by the arrow keys:
// a table of 99 players has 9,702 of them, so that the tabulator stops at one alone.

import { el } from './dom.js';
import { empty, head, link, who } from './parts.js';
import { record } from './words.js';

export const topics = ['standings', 'rounds'];
export const pace = 1500;
export const title = () => 'Cross table';

export const load = (ask) => ask('cross');

export function view({ players, cells }, { memory }) {
  if (!players.length) return [head('Cross table'), empty('Who beat whom stands here as soon as matches are decided.')];
  const met = new Map(cells.map(([row, column, cell]) => [row * players.length + column, cell]));
  const order = players.map((_, index) => index).sort((a, b) => (players[a].rank ?? 0) - (players[b].rank ?? 0));
  const cellsInOrder = () => order.flatMap((row) => order.map((column) => row * players.length + column));
  memory.stop = met.has(memory.stop) ? memory.stop : cellsInOrder().find((at) => met.has(at));
  return [
    head('Cross table', el('p', { class: 'muted' }, 'Read along the row: W means that the player of the row won. Arrow keys move between the cells; a cell leads to the last match of the two.')),
    el('div', { class: 'cross card flush', key: 'cross', tabindex: 0, role: 'region', 'aria-label': 'Cross table, scrolls' },
      el('table', { onkeydown: (event) => move(event, memory) },
        el('caption', { class: 'unseen' }, 'Results of each player of a row against each player of a column'),
        el('thead', {}, el('tr', {}, el('td', {}), order.map((column) => el('th', { scope: 'col', key: players[column].id, title: players[column].name }, players[column].id)))),
        el('tbody', {}, order.map((row) => line(row, { players, order, met, memory }))))),
    el('ul', { class: 'key muted', key: 'key' }, [['w2', 'W won'], ['w1', 'more won than lost'], ['d', 'D even'], ['l1', 'more lost than won'], ['l2', 'L lost'], ['t', 'T technical loss']]
      .map(([kind, words]) => el('li', {}, el('i', { class: `heat ${kind}` }), words))),
  ];
}

/** A row; one in which nothing has changed since it was last drawn is kept as it stands. */
function line(row, { players, order, met, memory }) {
  const { id, rank } = players[row];
  const stamp = JSON.stringify([rank, order.map((column) => [column, met.get(row * players.length + column)])]);
  memory.drawn ??= new Map();
  if (memory.drawn.get(id) === stamp) return el('tr', { key: id, keep: true });
  memory.drawn.set(id, stamp);
  return el('tr', { key: id },
    el('th', { scope: 'row' }, el('span', { class: 'rank' }, rank ?? ''), who(players[row])),
    order.map((column) => square(row, column, players, met, memory.stop)));
}

function square(row, column, players, met, stop) {
  if (row === column) return el('td', { class: 'self' });
  const at = row * players.length + column;
  const cell = met.get(at);
  if (!cell) return el('td', {});
  const said = `${players[row].name} against ${players[column].name}: ${record(cell)}`;
  return el('td', { class: `heat ${kind(cell)}` },
    el('a', { href: link('matches', cell.last), tabindex: at === stop ? 0 : -1, 'data-at': at, title: said }, letters(cell)));
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
    memory.stop = Number(to.dataset.at);
    to.focus();
    to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    return;
  }
}
