// The table: searched, sorted, saved; rows glide when ranks change, and arrows say by how much.

import { report } from './api.js';
import { connection, connectionRank } from './connection.js';
import { el } from './dom.js';
import { save, saveCsv, saveJson } from './download.js';
import { followLink, following } from './follow.js';
import { form, meaning, searchField, who } from './parts.js';
import { percent, plural, sentence } from './words.js';

/** By how many places it has risen or fallen since the round began. */
export function rise(places) {
  if (!places) return el('span', { class: 'rise' });
  const words = `${places > 0 ? 'up' : 'down'} ${plural(Math.abs(places), 'place')}`;
  return el(
    'span',
    { class: `rise ${places > 0 ? 'up' : 'down'}`, role: 'img', 'aria-label': words, title: words },
    places > 0 ? '▲' : '▼',
    Math.abs(places),
  );
}

const plain = (value) => (Number.isInteger(value) ? value : value.toFixed(1));

/** The columns that can be sorted by; `wide` ones are left out on phones. */
function columns({ rows, columns: tieBreaks = [], more = [], ratings_pending: pending }) {
  const hasChances = rows.some((row) => row.chance !== undefined);
  const rated = pending || rows.some((row) => row.rating);
  return [
    { name: 'P', words: 'Played', of: (row) => row.played },
    { name: 'W', words: 'Won', wide: true, of: (row) => row.wins },
    { name: 'D', words: 'Drawn', wide: true, of: (row) => row.draws },
    { name: 'L', words: 'Lost', wide: true, of: (row) => row.losses },
    rows.some((row) => row.technical_losses)
      ? { name: 'T', words: 'Technical losses, counted among the lost', wide: true, of: (row) => row.technical_losses }
      : null,
    ...tieBreaks.map((name, index) => ({
      name: { 'Sonneborn-Berger': 'SB', Buchholz: 'BH' }[name] ?? name,
      words: `Tie-break: ${meaning(name) ?? name}`,
      wide: true,
      of: (row) => row.tie_breaks?.[index] ?? 0,
      shown: (row) => plain(row.tie_breaks?.[index] ?? 0),
    })),
    ...more.map((name, index) => ({
      name: { 'pairing rating': 'Pairing' }[name] ?? name,
      words: name,
      wide: true,
      of: (row) => Number.parseFloat(row.more[index]) || 0,
      shown: (row) => row.more[index],
    })),
    rated
      ? {
          name: 'Rating',
          words: 'Rating by all results (Bradley-Terry), with its 95 % interval',
          wide: true,
          of: (row) => row.rating?.value ?? -Infinity,
          shown: (row) =>
            row.rating
              ? rating(row.rating, tieBreaks.length + more.length > 0 || hasChances)
              : el(
                  'span',
                  { class: 'muted', title: pending ? 'The ratings are being computed' : null },
                  pending ? '…' : '–',
                ),
        }
      : null,
    rows.some((row) => row.connection)
      ? {
          name: 'Via',
          words: 'How the league reaches it: directly, or by a stream or long polls to the relay',
          wide: true,
          of: (row) => connectionRank(row.connection),
          shown: (row) => connection(row.connection),
        }
      : null,
    hasChances
      ? {
          name: 'Title',
          words: 'Chance to win the league: 2,000 simulations of the remaining matches, by the present ratings',
          wide: true,
          of: (row) => row.chance ?? 0,
          shown: (row) => chance(row.chance ?? 0),
        }
      : null,
    { name: 'Pts', words: 'Points', class: 'points', of: (row) => row.points },
  ].filter(Boolean);
}

/** No chance and certainty are said only of what is so. */
function chance(share) {
  if (share === 0 || share === 1) return percent(share);
  return share < 0.01 ? '< 1 %' : share > 0.99 ? '> 99 %' : percent(share);
}

/** With its interval beside it, or where there are more columns, when it is pointed at. */
function rating({ value, low, high }, crowded) {
  const words = `${Math.round(low)} to ${Math.round(high)}`;
  return crowded ? el('span', { title: words }, Math.round(value)) : [Math.round(value), el('small', {}, ` ${words}`)];
}

/** The tables of the groups, when the knockout has begun. */
export function groupTables(groups) {
  if (!groups?.length) return null;
  const heads = ['Player', 'P', 'W', 'D', 'L', 'Pts'];
  const one = ({ name, rows }) =>
    el(
      'table',
      { key: name },
      el('caption', {}, `Group ${name}`),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          heads.map((head, index) => el('th', { scope: 'col', class: index ? 'n' : null }, head)),
        ),
      ),
      el(
        'tbody',
        {},
        rows.map((row) =>
          el(
            'tr',
            { key: row.id, class: row.through ? 'through' : '' },
            el(
              'th',
              { scope: 'row' },
              who(row),
              row.through ? el('span', { class: 'unseen' }, ' reached the knockout') : null,
            ),
            [row.played, row.wins, row.draws, row.losses].map((value) => el('td', { class: 'n' }, value)),
            el('td', { class: 'n' }, el('b', {}, row.points)),
          ),
        ),
      ),
    );
  return el('section', { class: 'card flush groups', key: 'groups', 'aria-label': 'Groups' }, groups.map(one));
}

const matches = (row, words) => `${row.name} ${row.id} ${row.state}`.toLowerCase().includes(words);

export function table(standings, league, { memory, redraw }) {
  const shown = columns(standings);
  const words = (memory.search ?? '').trim().toLowerCase();
  const sort = shown.find((column) => column.name === memory.sort);
  const found = standings.rows.filter((row) => !words || matches(row, words));
  const rows = sort ? [...found].sort((a, b) => (sort.of(b) - sort.of(a)) * (memory.up ? -1 : 1)) : found;
  const groups = sort ? [null] : [...new Set(rows.map((row) => row.group ?? null))];
  const pinned = standings.rows.find((row) => row.id === following());
  const context = { shown, played: league.matches.decided > 0 };
  return el(
    'section',
    { class: 'card flush', key: 'table' },
    tools(standings, league, memory, redraw),
    el(
      'table',
      { class: 'standings' },
      caption(standings, league),
      el('thead', {}, heads(shown, memory, redraw)),
      pinned ? el('tbody', { key: 'pinned', class: 'pinned-rows' }, line(pinned, context, 'pinned')) : null,
      groups.map((group) =>
        el(
          'tbody',
          { key: group ?? 'all' },
          group
            ? el('tr', { class: 'group' }, el('th', { colspan: 3 + shown.length, scope: 'rowgroup' }, `Group ${group}`))
            : null,
          rows.filter((row) => sort || (row.group ?? null) === group).map((row) => line(row, context)),
        ),
      ),
    ),
    found.length ? null : el('p', { class: 'empty', key: 'none' }, `No player has a name with “${memory.search}”.`),
  );
}

function caption({ tie_breaks: rules, unproven }, league) {
  return el(
    'caption',
    {},
    league.phase === 'completed' ? 'Final standings' : 'Standings',
    rules?.length > 1 ? el('small', {}, ranked(rules)) : null,
    unproven
      ? el('small', {}, `Unproven results, reported by the referee alone although a player has a key: ${unproven}`)
      : null,
  );
}

function ranked([first, ...others]) {
  const by = first === 'points' ? '' : `Ranked by ${first}. `;
  return `${by}Level on ${by ? 'it' : 'points'}, the first of these decides: ${others.join(', ')}`;
}

function tools(standings, league, memory, redraw) {
  const name = `${league.league_id}-standings`;
  const rows = () => [
    [
      'rank',
      'id',
      'name',
      'played',
      'won',
      'drawn',
      'lost',
      'technical',
      'points',
      'rating',
      ...(standings.columns ?? []),
      ...(standings.more ?? []),
    ],
    ...standings.rows.map((row) => [
      row.rank,
      row.id,
      row.name,
      row.played,
      row.wins,
      row.draws,
      row.losses,
      row.technical_losses,
      row.points,
      row.rating?.value,
      ...(row.tie_breaks ?? []),
      ...(row.more ?? []),
    ]),
  ];
  return el(
    'div',
    { class: 'tools', key: 'tools' },
    searchField('Search players', memory, redraw),
    el(
      'span',
      { class: 'saves' },
      el(
        'button',
        {
          type: 'button',
          class: 'small',
          'aria-label': 'Save the table as CSV',
          onclick: () => saveCsv(`${name}.csv`, rows()),
        },
        'CSV',
      ),
      el(
        'button',
        {
          type: 'button',
          class: 'small',
          'aria-label': 'Save the table as JSON',
          onclick: () => saveJson(`${name}.json`, standings),
        },
        'JSON',
      ),
      league.phase === 'completed' || league.operator
        ? el(
            'button',
            {
              type: 'button',
              class: 'small',
              'aria-label': 'Save the Report',
              onclick: (event) => saveReport(league, event.currentTarget),
            },
            'Report',
          )
        : null,
    ),
  );
}

/** Takes a moment, since every draw and every score is checked for it. */
async function saveReport(league, button) {
  button.disabled = true;
  try {
    save(`${league.league_id}.html`, await report());
  } catch (error) {
    button.textContent = sentence(error.message);
  }
  button.disabled = false;
}

function heads(shown, memory, redraw) {
  const sorted = (name) => (memory.sort === name ? (memory.up ? 'ascending' : 'descending') : null);
  const by = (name) => () => {
    if (memory.sort !== name) [memory.sort, memory.up] = [name, false];
    else if (!memory.up) memory.up = true;
    else memory.sort = null;
    redraw();
  };
  return el(
    'tr',
    {},
    el('th', { scope: 'col', class: 'rank' }, el('abbr', { title: 'Rank' }, '#')),
    el('th', { scope: 'col' }, 'Player'),
    el('th', { scope: 'col', class: 'form-col' }, 'Form'),
    shown.map(({ name, words, wide }) =>
      el(
        'th',
        { scope: 'col', class: `n${wide ? ' wide' : ''}`, 'aria-sort': sorted(name), key: name },
        el(
          'button',
          {
            type: 'button',
            class: 'sort term',
            title: `${meaning(words) ?? words} (sort by it)`,
            'aria-label': `${name}: ${words}`,
            onclick: by(name),
          },
          name,
        ),
      ),
    ),
  );
}

function line(row, { shown, played }, pinned) {
  const follows = following() === row.id;
  return el(
    'tr',
    {
      key: pinned ? `pinned-${row.id}` : row.id,
      class: `row${row.state === 'withdrawn' ? ' out' : ''}${follows ? ' followed' : ''}`,
    },
    el('td', { class: 'rank' }, played ? row.rank : '–', played ? rise(row.rise) : null),
    el(
      'th',
      { scope: 'row' },
      el(
        'span',
        { class: 'player-line' },
        who(row),
        row.state && row.state !== 'active' ? el('span', { class: 'pill' }, row.state) : null,
        el(
          'a',
          {
            class: 'follow',
            href: followLink(row.id),
            'aria-label': follows ? `Stop following ${row.name}` : `Follow ${row.name}`,
            title: follows ? 'Stop following' : 'Follow',
          },
          follows ? '◆' : '◇',
        ),
      ),
      played && row.reason ? el('small', { class: 'why' }, row.reason) : null,
    ),
    el('td', { class: 'form-col' }, form(row.form)),
    shown.map((column) => {
      const value = column.of(row);
      return el(
        'td',
        {
          class: `n${column.wide ? ' wide' : ''}${value === 0 ? ' zero' : ''} ${column.class ?? ''}`.trim(),
          key: column.name,
        },
        column.shown ? column.shown(row) : value,
      );
    }),
  );
}
