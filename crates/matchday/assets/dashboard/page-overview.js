// The league at a glance: what it is doing, the table and why it stands so, and the round that is on.

import { el } from './dom.js';
import { countdown, empty, figure, figures, form, head, link, matchList, next, who } from './parts.js';
import { moment, number, plural, sentence } from './words.js';

export const topics = ['league', 'standings', 'rounds'];
export const title = () => 'Standings';

export async function load(ask, { league }) {
  const current = league.phase === 'registration' ? null : league.round?.current;
  const [standings, round] = await Promise.all([
    ask('standings'),
    current ? ask(`rounds/${current}`, { limit: 60 }) : null,
  ]);
  return { standings, round };
}

export function view({ standings, round }, { league }) {
  return [
    hero(league),
    el(
      'div',
      { class: 'columns-2', key: 'body' },
      standings.rows.length
        ? [
            el('div', { key: 'main' }, table(standings, league)),
            el(
              'div',
              { key: 'aside', class: `aside${['registration', 'paused'].includes(league.phase) ? ' first' : ''}` },
              next(league.next),
              round ? roundCard(round, league) : null,
              luck(league),
            ),
          ]
        : [
            el('div', { key: 'next' }, next(league.next)),
            el('div', { key: 'aside', class: 'aside' }, noPlayers(league)),
          ],
    ),
  ];
}

const TITLES = {
  registration: (league) => (league.players ? 'Waiting for the start' : 'Waiting for agents'),
  running: (league) => `Round ${league.round?.current ?? 1}${league.round?.total ? ` of ${league.round.total}` : ''}`,
  paused: () => 'The league is paused',
  completed: () => 'The league is over',
};

function hero(league) {
  const { matches } = league;
  const starts = league.round?.starts_at;
  return el(
    'div',
    { class: 'hero', key: 'hero' },
    head(
      TITLES[league.phase]?.(league) ?? league.phase,
      league.champion && league.phase === 'completed'
        ? el('p', { class: 'champion' }, el('span', {}, 'Champion:'), who(league.champion))
        : null,
      el(
        'p',
        { class: 'muted' },
        league.game,
        league.format ? `, ${String(league.format).replaceAll('_', ' ')}` : '',
        starts && starts > league.now && league.phase === 'running'
          ? [', this round starts ', countdown(starts)]
          : null,
        league.completed_at ? `, ended ${moment(league.completed_at)}` : null,
      ),
    ),
    figures(
      figure(number(league.players), league.players === 1 ? 'player' : 'players'),
      figure(number(league.referees), league.referees === 1 ? 'referee' : 'referees'),
      league.phase === 'registration'
        ? null
        : figure(`${number(matches.decided)}${matches.total ? `/${number(matches.total)}` : ''}`, 'matches decided'),
      league.phase === 'running' ? figure(number(matches.playing), 'playing now') : null,
      league.phase === 'registration' ? null : figure(number(league.technical_losses), 'technical losses'),
    ),
  );
}

const noPlayers = (league) =>
  el(
    'section',
    { class: 'card', key: 'none' },
    el('h2', {}, 'Nobody has registered yet'),
    empty(
      league.live === false
        ? 'This league was stored before anybody had joined it.'
        : 'The table stands here as soon as players have registered. They appear by themselves: this page need not be loaded again.',
    ),
  );

function luck(league) {
  if (!league.luck && !league.top_two) return null;
  return el(
    'section',
    { class: 'card', key: 'luck', 'aria-labelledby': 'luck-title' },
    el('h2', { id: 'luck-title' }, 'How much of it is luck'),
    league.luck ? el('p', {}, sentence(league.luck)) : null,
    league.top_two ? el('p', {}, sentence(league.top_two)) : null,
  );
}

function roundCard(round, league) {
  const live = round.matches.filter((match) => match.state !== 'decided');
  const decided = round.matches.filter((match) => match.state === 'decided');
  const few = [...live, ...decided].slice(0, 8);
  return el(
    'section',
    { class: 'card', key: 'round', 'aria-labelledby': 'round-title' },
    el(
      'div',
      { class: 'card-head' },
      el('h2', { id: 'round-title' }, round.title ?? `Round ${round.round}`),
      el(
        'a',
        { href: link('rounds', round.round) },
        round.total > few.length ? `all ${plural(round.total, 'match', 'matches')}` : 'to the round',
      ),
    ),
    few.length
      ? matchList(few)
      : empty(league.phase === 'completed' ? 'No matches.' : 'Its matches are not drawn up yet.'),
  );
}

const HEADS = [
  ['P', 'Played'],
  ['W', 'Won'],
  ['D', 'Drawn'],
  ['L', 'Lost'],
  ['T', 'Technical losses, counted among the lost'],
  ['Rating', 'Rating, with its 95 % interval'],
  ['Pts', 'Points'],
];
const WIDE = new Set(['W', 'D', 'L', 'T', 'Rating']);

function table({ rows, tie_breaks: rules }, league) {
  const rated = rows.some((row) => row.rating);
  const heads = HEADS.filter(([name]) => name !== 'Rating' || rated);
  const groups = [...new Set(rows.map((row) => row.group ?? null))];
  return el(
    'section',
    { class: 'card flush', key: 'table' },
    el(
      'table',
      { class: 'standings' },
      el(
        'caption',
        {},
        league.phase === 'completed' ? 'Final table' : 'Table',
        rules?.length
          ? el(
              'small',
              {},
              `Level on points, the first of these decides: ${rules.filter((rule) => rule !== 'points').join(', ')}`,
            )
          : null,
      ),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          el('th', { scope: 'col', class: 'rank' }, el('abbr', { title: 'Rank' }, '#')),
          el('th', { scope: 'col' }, 'Player'),
          el('th', { scope: 'col', class: 'form-col' }, 'Form'),
          heads.map(([name, words]) =>
            el('th', { scope: 'col', class: `n${WIDE.has(name) ? ' wide' : ''}` }, el('abbr', { title: words }, name)),
          ),
        ),
      ),
      groups.map((group) =>
        el(
          'tbody',
          { key: group ?? 'all' },
          group
            ? el('tr', { class: 'group' }, el('th', { colspan: 3 + heads.length, scope: 'rowgroup' }, `Group ${group}`))
            : null,
          rows.filter((row) => (row.group ?? null) === group).map((row) => line(row, rated)),
        ),
      ),
    ),
  );
}

function line(row, rated) {
  const cell = (value, wide = true) =>
    el('td', { class: `n${wide ? ' wide' : ''}${value === 0 ? ' zero' : ''}` }, value);
  return el(
    'tr',
    { key: row.id, class: row.state === 'withdrawn' ? 'out' : '' },
    el('td', { class: 'rank' }, row.rank),
    el(
      'th',
      { scope: 'row' },
      who(row),
      row.state && row.state !== 'active' ? el('span', { class: 'pill' }, row.state) : null,
      row.reason ? el('small', { class: 'why' }, row.reason) : null,
    ),
    el('td', { class: 'form-col' }, form(row.form)),
    cell(row.played, false),
    cell(row.wins),
    cell(row.draws),
    cell(row.losses),
    cell(row.technical_losses),
    rated
      ? el(
          'td',
          { class: 'n wide' },
          row.rating
            ? [
                Math.round(row.rating.value),
                el('small', {}, ` ${Math.round(row.rating.low)} to ${Math.round(row.rating.high)}`),
              ]
            : '–',
        )
      : null,
    el('td', { class: 'n points' }, row.points),
  );
}
