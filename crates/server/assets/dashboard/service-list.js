// The front page of a service: seasons and leagues, what they are doing, and how to join.

import { hasToken, ROOT } from './api.js';
import { el } from './dom.js';
import { joinBox } from './join.js';
import { empty, head, phaseName, progress } from './parts.js';
import { leagueActions } from './service-operator.js';
import { gameName, number, plural, when, words, zoned } from './words.js';

const LIMIT = 50;
const SEASONS_SHOWN = 12;
const ORDER = ['running', 'registration', 'paused', 'completed'];

export const title = () => 'Leagues';

export async function load(ask, { query }) {
  const { search, after } = query;
  const [found, { seasons }] = await Promise.all([
    ask('leagues', { limit: LIMIT, search, after }),
    after ? { seasons: [] } : ask('seasons'),
  ]);
  const sought = (search ?? '').toLowerCase();
  return { ...found, seasons: seasons.filter(({ name }) => name.toLowerCase().includes(sought)) };
}

export function view(found, route) {
  const { leagues, seasons, total } = found;
  const { search, after } = route.query;
  const nothing = !total && !seasons.length && !search && !after;
  const join = joining(found, route);
  return [
    el('div', { class: 'hero', key: 'hero' }, head('Leagues', el('p', { class: 'muted' }, summary(found)))),
    nothing
      ? none()
      : el(
          'div',
          { class: join ? 'columns-2' : '', key: 'body' },
          el(
            'div',
            { class: 'stack', key: 'lists' },
            seasons.length ? seasonTable(seasons, route) : null,
            el(
              'section',
              { class: 'card flush', key: 'leagues', 'aria-label': 'Leagues' },
              cardHead('Leagues', total > 5 || search || after ? searchForm(route) : null),
              leagues.length ? leagueTable(found, route) : empty(`No league has “${search}” in its name.`),
            ),
            pager(found, route),
          ),
          join ? el('div', { class: 'aside', key: 'aside' }, join) : null,
        ),
  ];
}

/** "3 being played, 2 open for registration" where all are on this page, otherwise how many there are. */
function summary({ leagues, total, next }) {
  if (next || leagues.length < total) return plural(total, 'league');
  const count = (phase) => leagues.filter((league) => league.phase === phase).length;
  const parts = [
    ['running', 'being played'],
    ['registration', 'before the start'],
    ['paused', 'paused'],
    ['completed', 'over'],
  ];
  const told = parts.filter(([phase]) => count(phase)).map(([phase, what]) => `${number(count(phase))} ${what}`);
  return told.join(', ') || 'None is there yet';
}

const none = () =>
  el(
    'section',
    { class: 'card narrow', key: 'none' },
    el('h2', {}, 'No leagues to show'),
    empty(
      'Its operator creates one with the button above, or with ',
      el('code', {}, 'matchday league create NAME'),
      '. A league that is not open to readers has a page of its own, which asks for its operator’s token.',
    ),
  );

// Search and pages: both stand in the address, so that a list can be sent to somebody.

function searchForm({ query, memory, refresh }) {
  const seek = (text) => {
    const wanted = new URLSearchParams(text ? { search: text } : {});
    history.replaceState(null, '', `${ROOT}leagues${wanted.size ? `?${wanted}` : ''}`);
    refresh();
  };
  return el(
    'form',
    {
      class: 'seek',
      key: 'seek',
      role: 'search',
      onsubmit: (event) => {
        event.preventDefault();
        clearTimeout(memory.seeking);
        seek(event.target.querySelector('input').value.trim());
      },
    },
    el('input', {
      type: 'search',
      'aria-label': 'Search by name',
      placeholder: 'Search by name',
      value: query.search ?? '',
      oninput: (event) => {
        const text = event.target.value.trim();
        clearTimeout(memory.seeking);
        memory.seeking = setTimeout(() => seek(text), 250);
      },
    }),
  );
}

function pager({ leagues, total, next }, { query }) {
  if (!next && !query.after) return null;
  const to = (after) => {
    const wanted = Object.entries({ search: query.search, after }).filter(([, value]) => value);
    return `${ROOT}leagues${wanted.length ? `?${new URLSearchParams(wanted)}` : ''}`;
  };
  return el(
    'nav',
    { class: 'pager', key: 'pager', 'aria-label': 'Parts of the list' },
    query.after ? el('a', { class: 'button', href: to(null) }, 'First page') : null,
    el('span', { class: 'muted' }, `${plural(leagues.length, 'league')} of ${number(total)}`),
    next ? el('a', { class: 'button', href: to(next) }, 'Next page') : null,
  );
}

// Tables. Leagues, ladders and seasons have the same columns.

const COLUMNS = ['Name', 'State', 'Players', 'Progress', 'First'];

function listTable(caption, rows, managed) {
  return el(
    'table',
    { class: `listing${managed ? ' with-managed' : ''}` },
    el('caption', { class: 'unseen' }, caption),
    el(
      'thead',
      {},
      el(
        'tr',
        {},
        COLUMNS.map((name) => el('th', { scope: 'col', class: name === 'Players' ? 'n' : null }, name)),
        managed ? el('th', { scope: 'col' }, el('span', { class: 'unseen' }, 'Manage')) : null,
      ),
    ),
    el('tbody', {}, rows),
  );
}

/** The head of a card with a list in it. */
const cardHead = (title, ...more) => el('div', { class: 'list-head' }, el('h2', {}, title), more);

const named = (href, name, about) =>
  el(
    'th',
    { scope: 'row' },
    el('a', { class: 'title', href }, name),
    el('span', { class: 'about' }, about),
  );

const state = (phase, label) => el('span', { class: `pill phase-${phase}` }, label ?? phaseName(phase));

const starting = (at, said) => (at ? el('time', { class: 'about', datetime: at, title: zoned(at) }, `${said} ${when(at)}`) : null);

function leagueTable({ leagues, next }, { query }) {
  const rank = (league) => {
    const place = ORDER.indexOf(league.phase);
    return place < 0 ? ORDER.length : place;
  };
  // With several pages the order is that of the names, by which they are cut.
  const shown = next || query.after ? leagues : [...leagues].sort((a, b) => rank(a) - rank(b));
  const actions = hasToken();
  return listTable(
    'Leagues',
    shown.map((league) => leagueRow(league, actions ? leagueActions(league) : null)),
    actions,
  );
}

function leagueRow(league, actions) {
  const { league_id: id, phase, format, season } = league;
  const page = `${ROOT}leagues/${id}/`;
  const starts = league.starts_at && Date.parse(league.starts_at) > Date.now() ? league.starts_at : null;
  const about = [gameName(league.game_type), format ? words(format) : null].filter(Boolean).join(', ');
  return el(
    'tr',
    { key: id, class: `is-${phase}` },
    named(page, id, season ? [about, ', of ', el('a', { href: `${ROOT}seasons/${season}` }, season)] : about),
    el(
      'td',
      {},
      phase ? state(phase, phase === 'registration' ? (league.join ? 'Open' : 'Closed') : phase === 'running' ? 'Live' : null) : state('lost', 'Cannot be read'),
      starting(starts, phase === 'registration' ? 'starts' : 'next round'),
    ),
    el('td', { class: 'n', 'data-name': 'players' }, phase ? number(league.players) : '–'),
    el('td', { class: 'done' }, phase ? done(league) : null),
    el('td', { class: 'first' }, leaders(league, page)),
    actions ? el('td', { class: 'managed' }, actions) : null,
  );
}

/** How far it has come. A ladder has no last round, so that nothing says how much is left. */
function done(league) {
  const { phase, round, rounds, matches, matches_decided: decided, matches_playing: playing } = league;
  if (phase === 'registration') return el('span', { class: 'about' }, 'not begun');
  const told = rounds ? `Round ${round} of ${rounds}` : `Round ${number(round)}`;
  const count = rounds ? `${number(decided)} of ${plural(matches, 'match', 'matches')}` : plural(decided, 'match', 'matches');
  const more = playing ? `, ${number(playing)} live` : '';
  return [
    phase === 'completed' ? plural(decided, 'match', 'matches') : told,
    rounds && phase !== 'completed' ? progress(decided, matches, `Matches of ${league.league_id}`) : null,
    phase === 'completed' ? null : el('span', { class: 'about' }, count, more),
  ];
}

const FIRST_SHOWN = 3;

function leaders(league, page) {
  const first = league.leaders ?? [];
  if (!first.length) return el('span', { class: 'muted' }, '–');
  const links = first
    .slice(0, FIRST_SHOWN)
    .map(({ player_id: id, display_name: name }) =>
      el('a', { class: 'who', href: `${page}#/players/${encodeURIComponent(id)}` }, el('bdi', { class: 'name' }, name)),
    );
  const more = first.length - links.length;
  const crown = league.phase === 'completed' ? el('span', { class: 'crown', 'aria-hidden': 'true' }, '★ ') : null;
  return [crown, links.flatMap((link, place) => (place ? [', ', link] : [link])), more > 0 ? ` and ${more} more` : null];
}

const SEASON_STATES = {
  active: (season) => (season.is_playing ? ['running', 'Live'] : ['registration', 'Open']),
  paused: () => ['paused', 'Paused'],
  ended: () => ['completed', 'Over'],
};

/** Of a season: which of the states of a league it is in, and the word for it. */
export const seasonState = (season) => {
  const [phase, label] = SEASON_STATES[season.state](season);
  return state(phase, label);
};

function seasonTable(seasons, { memory, refresh }) {
  const all = memory.allSeasons || seasons.length <= SEASONS_SHOWN;
  const rank = (season) => (season.state === 'ended' ? 1 : 0);
  const sorted = [...seasons].sort((a, b) => rank(a) - rank(b));
  const rows = (all ? sorted : sorted.slice(0, SEASONS_SHOWN)).map((season) => {
    const page = `${ROOT}seasons/${season.name}`;
    return el(
      'tr',
      { key: season.name },
      named(page, season.name, gameName(season.game_type)),
      el('td', {}, seasonState(season), starting(season.starts_at, 'next league')),
      el('td', { class: 'n', 'data-name': 'players' }, season.players ? number(season.players) : el('span', { class: 'muted' }, '–')),
      el('td', { class: 'done' }, season.leagues_played ? `${plural(season.leagues_played, 'league')} played` : el('span', { class: 'about' }, 'not begun')),
      el(
        'td',
        { class: 'first' },
        season.leader
          ? el(
              'a',
              { class: 'who', href: `${page}#/players/${encodeURIComponent(season.leader)}` },
              el('bdi', { class: 'name' }, season.leader),
            )
          : el('span', { class: 'muted' }, '–'),
      ),
      hasToken() ? el('td', { class: 'managed' }, el('a', { class: 'button small', href: page }, 'Manage')) : null,
    );
  });
  return el(
    'section',
    { class: 'card flush', key: 'seasons', 'aria-label': 'Seasons' },
    cardHead('Seasons'),
    listTable('Seasons', rows, hasToken()),
    all
      ? null
      : el(
          'p',
          { class: 'inset' },
          el(
            'button',
            {
              type: 'button',
              class: 'quiet',
              onclick: () => {
                memory.allSeasons = true;
                refresh();
              },
            },
            `All ${number(seasons.length)} seasons`,
          ),
        ),
  );
}

/** How to join one of those that can be joined. Of the leagues of a season the season's address counts. */
function joining({ leagues, seasons }, { memory, refresh }) {
  const open = [
    ...seasons.filter((season) => season.join).map((season) => ({ ...season, what: season.name })),
    ...leagues.filter((league) => league.join && !league.season).map((league) => ({ ...league, what: league.league_id })),
  ];
  if (!open.length) return null;
  const chosen = open.find(({ what }) => what === memory.joining) ?? open[0];
  const choose = (event) => {
    memory.joining = event.target.value;
    refresh();
  };
  const which =
    open.length > 1
      ? el(
          'label',
          {},
          'League or season',
          el(
            'select',
            { onchange: choose },
            open.map(({ what }) => el('option', { value: what, selected: what === chosen.what }, what)),
          ),
        )
      : el('p', { class: 'muted' }, chosen.what);
  return joinBox(chosen.join, chosen.game_type, { title: 'Join a league', more: which });
}
