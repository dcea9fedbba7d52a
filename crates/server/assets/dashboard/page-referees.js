// The referees and their load.

import { connection, withConnections } from './connection.js';
import { el } from './dom.js';
import { empty, head } from './parts.js';

export const topics = ['referees'];
export const title = () => 'Referees';
export async function load(ask) {
  const [{ referees }, connections] = await Promise.all([ask('referees'), ask('connections')]);
  return { referees: withConnections(referees, connections) };
}

export function view({ referees }, { league }) {
  if (!referees.length) {
    return [
      head('Referees'),
      el(
        'div',
        { class: 'card' },
        empty(
          league.live === false
            ? 'None had registered.'
            : 'None has registered yet. Without one no match can begin: start one with ',
        ),
        league.live === false ? null : el('code', {}, 'matchday referee'),
      ),
    ];
  }
  return [
    head(
      'Referees',
      el('p', { class: 'muted' }, 'How many matches each referee has in hand, and how those that it was given ended.'),
    ),
    el(
      'section',
      { class: 'card flush', key: 'table' },
      el(
        'table',
        { class: 'referees' },
        el('caption', { class: 'unseen' }, 'Referees'),
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'col' }, 'Referee'),
            el('th', { scope: 'col' }, 'In hand'),
            [
              ['Refereed', ''],
              ['Technical', 'Technical losses among them'],
              ['Handed back', 'Matches it could not finish'],
              ['Overdue', 'Matches taken from it after its time limit'],
              ['Refused', 'Reports that contradict the rules'],
              referees.some((referee) => referee.connection) ? ['Via', 'How the league reaches it'] : null,
            ]
              .filter(Boolean)
              .map(([name, words]) => el('th', { scope: 'col', class: 'n', title: words }, name)),
          ),
        ),
        el('tbody', {}, referees.map(row)),
      ),
    ),
  ];
}

function row(referee) {
  const part = referee.capacity ? Math.min(1, referee.in_hand / referee.capacity) : 0;
  const cell = (name, value) => el('td', { class: `n${value ? '' : ' zero'}`, 'data-name': name }, value ?? 0);
  return el(
    'tr',
    { key: referee.id },
    el(
      'th',
      { scope: 'row' },
      el(
        'span',
        { class: 'who' },
        el('bdi', { class: 'name' }, referee.name || referee.id),
        el('span', { class: 'id' }, referee.id),
      ),
      referee.state && referee.state !== 'active' ? el('span', { class: 'pill' }, referee.state) : null,
      referee.remark ? el('span', { class: 'muted' }, referee.remark) : null,
    ),
    el(
      'td',
      { class: 'load', 'data-name': 'In hand' },
      el('span', { class: 'bar-track' }, el('i', { style: { width: `${part * 100}%` } })),
      el('span', {}, `${referee.in_hand} of ${referee.capacity ?? '?'}`),
    ),
    cell('Refereed', referee.refereed),
    cell('Technical', referee.technical),
    cell('Handed back', referee.handed_back),
    cell('Overdue', referee.overdue),
    cell('Refused', referee.refused),
    referee.connection ? el('td', { class: 'n', 'data-name': 'Via' }, connection(referee.connection)) : null,
  );
}
