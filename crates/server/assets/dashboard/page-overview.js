// The league at a glance: what it is doing, the table and why it stands so, and the round that is on.

import { featured, ticker } from './boards.js';
import { bracket, isKnockout, loadBracket } from './bracket.js';
import { withConnections } from './connection.js';
import { el } from './dom.js';
import { following, link } from './follow.js';
import { countdown, empty, figure, figures, head, matchList, next } from './parts.js';
import { podium } from './podium.js';
import { groupTables, table } from './table.js';
import { gameName, moment, number, plural, sentence, withNames } from './words.js';

// Every move is a message, so that the boards move with them.
export const topics = ['league', 'standings', 'rounds', 'messages'];
export const pace = 500;
export const title = () => 'Standings';
const BOARDS = 5;

export async function load(ask, { league, memory }) {
  const current = league.phase === 'registration' ? null : league.round?.current;
  const isOpen = league.phase === 'registration';
  const [standings, connections, referees, round, boards, rounds] = await Promise.all([
    ask('standings'),
    ask('connections'),
    isOpen ? ask('referees').then((page) => page.referees) : [],
    current ? ask(`rounds/${current}`, { limit: 60 }) : null,
    current ? ask('boards', { limit: BOARDS, player: following(), match: memory.picked }) : { boards: [] },
    current && isKnockout(league) ? ask('rounds').then(({ rounds }) => loadBracket(ask, rounds, memory)) : [],
  ]);
  const rows = withConnections(standings.rows, connections);
  // What is shown before the start alone is fetched then.
  const before = isOpen ? await Promise.all([import('./registration.js'), import('./join.js')]) : null;
  return { standings: { ...standings, rows }, connections, referees, round, boards, rounds, before };
}

export function view(data, context) {
  const { standings, round, boards, rounds } = data;
  const { league } = context;
  if (league.phase === 'registration' && league.live !== false) return beforeTheStart(data, league);
  return [
    hero(league),
    league.phase === 'completed' ? podium(league, standings.rows) : null,
    featured(boards, context),
    bracket(rounds, league),
    groupTables(standings.groups),
    el(
      'div',
      { class: 'columns-2', key: 'body' },
      standings.rows.length
        ? [
            el('div', { key: 'main' }, table(standings, league, context)),
            el(
              'div',
              { key: 'aside', class: `aside${['registration', 'paused'].includes(league.phase) ? ' first' : ''}` },
              next(league.next),
              ticker(boards),
              round ? roundCard(round, league) : null,
              luck(league, standings.rows),
            ),
          ]
        : [
            el('div', { key: 'next' }, next(league.next)),
            el('div', { key: 'aside', class: 'aside' }, noPlayers()),
          ],
    ),
  ];
}

/** Who is there and who is missing, how to join, and for the operator what to do. */
const beforeTheStart = ({ before: [{ registration }, { joinBox }], ...data }, league) => [
  hero(league),
  el(
    'div',
    { class: 'columns-2', key: 'registering' },
    el('div', { key: 'main' }, registration(league, data)),
    el(
      'div',
      { key: 'aside', class: 'aside' },
      league.join ? joinBox(league.join, league.game) : null,
      next(league.next),
    ),
  ),
];

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
      el(
        'p',
        { class: 'muted' },
        gameName(league.game),
        league.format ? `, ${String(league.format).replaceAll('_', ' ')}` : '',
        starts && starts > league.now && league.phase === 'running'
          ? [', this round starts ', countdown(starts)]
          : null,
        league.completed_at ? `, ended ${moment(league.completed_at)}` : null,
      ),
      league.tokens_optional
        ? el(
            'p',
            { class: 'muted' },
            'Practice without tokens: anyone on this machine could act as an agent, so results are unproven.',
          )
        : null,
    ),
    figures(
      figure(number(league.players), league.players === 1 ? 'player' : 'players'),
      figure(number(league.referees), league.referees === 1 ? 'referee' : 'referees'),
      league.phase === 'registration'
        ? null
        : figure(`${number(matches.decided)}${matches.total ? `/${number(matches.total)}` : ''}`, 'matches decided'),
      league.phase === 'running' ? figure(number(matches.playing), 'playing now') : null,
      league.technical_losses ? figure(number(league.technical_losses), 'technical losses') : null,
    ),
  );
}

const noPlayers = () =>
  el(
    'section',
    { class: 'card', key: 'none' },
    el('h2', {}, 'Nobody has registered yet'),
    empty('This league was stored before anybody had joined it.'),
  );

function luck(league, players) {
  const told = (text) => el('p', {}, sentence(withNames(text, players)));
  if (!league.matches?.decided || (!league.luck && !league.top_two)) return null;
  return el(
    'section',
    { class: 'card', key: 'luck', 'aria-labelledby': 'luck-title' },
    el('h2', { id: 'luck-title' }, 'How much of it is luck'),
    league.luck ? told(league.luck) : null,
    league.top_two ? told(league.top_two) : null,
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
      : empty(league.phase === 'completed' ? 'No matches.' : 'Its matches are not scheduled yet.'),
  );
}
