// A season: its table and its leagues; and what one player has done in each.

import { hasToken, ROOT } from './api.js';
import { el } from './dom.js';
import { joinBox } from './join.js';
import { ratings } from './lines.js';
import { empty, figure, figures, head } from './parts.js';
import { seasonState } from './service-list.js';
import { seasonActions } from './service-operator.js';
import { gameName, number, plural, when, zoned } from './words.js';

export const title = (_, { name, player }) => (player ? `${player}, ${name}` : name);

export async function load(ask, { name, player }) {
  const season = `seasons/${encodeURIComponent(name)}`;
  return player ? ask(`${season}/players/${encodeURIComponent(player)}`) : ask(season);
}

export const view = (data, route) => (route.player ? career(data, route) : season(data, route));

function season(data, { refresh }) {
  const { name, leagues, table } = data;
  return [
    el(
      'div',
      { class: 'hero', key: 'hero' },
      head(name, el('p', { class: 'muted' }, seasonState(data), ' ', gameName(data.game_type), ', ', next(data))),
      figures(
        figure(number(data.leagues_played), data.leagues_played === 1 ? 'league played' : 'leagues played'),
        figure(number(table.length), table.length === 1 ? 'player' : 'players'),
      ),
    ),
    hasToken() ? seasonActions(data, refresh) : null,
    data.skipped
      ? el('p', { class: 'note', key: 'skipped' }, el('b', {}, 'The last start was skipped.'), ` ${data.skipped}`)
      : null,
    el(
      'div',
      { class: 'columns-2', key: 'body' },
      el('div', { class: 'stack', key: 'table' }, table.length ? standings(table) : noTable(data), leagueList(name, leagues)),
      data.join
        ? el('div', { class: 'aside', key: 'aside' }, joinBox(data.join, data.game_type, { title: 'Join this season' }))
        : null,
    ),
  ];
}

/** What comes next, in words. */
function next({ state, starts_at: at, is_playing: playing, schedule }) {
  if (state === 'ended') return 'the season is over';
  if (playing) return 'a league is being played';
  if (at) return ['the next league starts ', el('time', { datetime: at, title: zoned(at) }, when(at))];
  if (state === 'paused') return 'no league starts before the season is resumed';
  return schedule ? 'no further start is scheduled' : 'its operator starts the next league';
}

const HEADS = [
  ['#', 'rank'],
  ['Player', null],
  ['Leagues', 'n wide'],
  ['P', 'n'],
  ['W', 'n wide'],
  ['D', 'n wide'],
  ['L', 'n wide'],
  ['Rating', 'n wide'],
  ['Pts', 'n'],
];

const playerLink = (player) =>
  el('a', { class: 'who', href: `#/players/${encodeURIComponent(player)}` }, el('bdi', { class: 'name' }, player));

const headRow = (heads) =>
  el('thead', {}, el('tr', {}, heads.map(([name, kind]) => el('th', { scope: 'col', class: kind }, name))));

const standings = (table) =>
  el(
    'section',
    { class: 'card flush', 'aria-label': 'Table' },
    el(
      'table',
      { class: 'standings' },
      el('caption', {}, 'Table', el('small', {}, 'All leagues of the season: 3 points a win, 1 a draw')),
      headRow(HEADS),
      el(
        'tbody',
        {},
        table.map((row, place) =>
          el(
            'tr',
            { key: row.player },
            el('td', { class: 'rank' }, place + 1),
            el('th', { scope: 'row' }, playerLink(row.player)),
            [row.leagues, row.played, row.wins, row.draws, row.losses].map((value, column) =>
              el('td', { class: column === 1 ? 'n' : 'n wide' }, number(value)),
            ),
            el('td', { class: 'n wide' }, Math.round(row.rating), el('small', {}, ` ${Math.round(row.low)} to ${Math.round(row.high)}`)),
            el('td', { class: 'n points' }, number(row.points)),
          ),
        ),
      ),
    ),
  );

const noTable = ({ state }) =>
  el(
    'section',
    { class: 'card', key: 'none' },
    el('h2', {}, 'Table'),
    empty(state === 'ended' ? 'No league was played.' : 'It stands here as soon as the first league of the season is over.'),
  );

/** The current league has the season's address, so that its operator's token is known there. */
const leagueList = (name, leagues) =>
  el(
    'section',
    { class: 'card', key: 'leagues', 'aria-labelledby': 'leagues-title' },
    el('h2', { id: 'leagues-title' }, 'Leagues'),
    el(
      'ul',
      { class: 'leagues' },
      [...leagues].reverse().map((league) =>
        el(
          'li',
          { key: league.league_id },
          el('a', { href: `${ROOT}leagues/${league.ended ? league.league_id : name}/` }, league.league_id),
          league.ended ? el('span', { class: 'pill' }, 'Finished') : el('span', { class: 'pill win' }, 'Current'),
        ),
      ),
    ),
  );

const CAREER = [
  ['League', null],
  ['Place', 'n'],
  ['Won', 'n wide'],
  ['Drawn', 'n wide'],
  ['Lost', 'n wide'],
  ['Rating after', 'n'],
];

function career(data, { name }) {
  const change = (rating, place) => {
    const before = data.career[place - 1]?.rating;
    if (before === undefined || Math.round(rating) === Math.round(before)) return null;
    const by = Math.round(rating) - Math.round(before);
    return el('small', { class: by > 0 ? 'good' : '' }, ` ${by > 0 ? '+' : '−'}${Math.abs(by)}`);
  };
  return [
    el(
      'div',
      { class: 'hero', key: 'hero' },
      head(
        el('bdi', {}, data.player),
        el('p', { class: 'muted' }, 'Rank ', data.rank, ' of the season ', el('a', { href: '#/' }, name)),
      ),
      figures(
        figure(number(data.points), 'points'),
        figure(`${number(data.wins)}–${number(data.draws)}–${number(data.losses)}`, 'won, drawn, lost'),
        figure(Math.round(data.rating), `rating, ${Math.round(data.low)} to ${Math.round(data.high)}`),
      ),
    ),
    el(
      'div',
      { class: 'columns-2', key: 'body' },
      el(
        'section',
        { class: 'card flush', key: 'career' },
        el(
          'table',
          { class: 'career' },
          el('caption', {}, 'Career', el('small', {}, `${plural(data.leagues, 'league')} of the season, the latest first`)),
          headRow(CAREER),
          el('tbody', {}, data.career.map((row, place) => careerRow(row, change(row.rating, place))).reverse()),
        ),
      ),
      el('div', { class: 'aside', key: 'aside' }, best(data.career), ratingCard(data)),
    ),
  ];
}

const careerRow = (row, change) =>
  el(
    'tr',
    { key: row.league },
    el(
      'th',
      { scope: 'row' },
      el('a', { href: `${ROOT}leagues/${row.league}/#/players/${encodeURIComponent(row.player_id)}` }, row.league),
    ),
    el('td', { class: 'n' }, medal(row.place), row.place, el('small', {}, ` of ${row.players}`)),
    [row.wins, row.draws, row.losses].map((value) => el('td', { class: value ? 'n wide' : 'n wide zero' }, number(value))),
    el('td', { class: 'n' }, Math.round(row.rating), change),
  );

const medal = (place) => (place <= 3 ? el('i', { class: `medal place-${place}`, 'aria-hidden': 'true' }) : null);

/** How often it was among the first. */
function best(career) {
  const places = [1, 2, 3].map((place) => [place, career.filter((row) => row.place === place).length]);
  const names = { 1: 'won', 2: 'second', 3: 'third' };
  return el(
    'section',
    { class: 'card', key: 'best' },
    el('h2', {}, 'Places'),
    el(
      'dl',
      { class: 'medals' },
      places.map(([place, count]) =>
        el(
          'div',
          { class: 'figure' },
          el('dt', {}, names[place]),
          el('dd', {}, el('i', { class: `medal place-${place}`, 'aria-hidden': 'true' }), number(count)),
        ),
      ),
    ),
  );
}

function ratingCard({ career, player, rating, low, high }) {
  const now = `It is ${Math.round(rating)}; with a probability of 95 % the player is worth ${Math.round(low)} to ${Math.round(high)}.`;
  return el(
    'section',
    { class: 'card', key: 'rating' },
    el('h2', {}, 'Rating, league by league'),
    career.length > 1
      ? ratings(
          career.map((row, place) => ({ at: place + 1, value: Math.round(row.rating) })),
          { name: `rating-${player}`, what: 'Rating', across: 'league' },
        )
      : null,
    el('p', { class: 'muted' }, now),
  );
}
