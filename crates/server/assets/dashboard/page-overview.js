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
  const [standings, connections, round, boards, rounds] = await Promise.all([
    ask('standings'),
    ask('connections'),
    current ? ask(`rounds/${current}`, { limit: 60 }) : null,
    current ? ask('boards', { limit: BOARDS, player: following(), match: memory.picked }) : { boards: [] },
    current && isKnockout(league) ? ask('rounds').then(({ rounds }) => loadBracket(ask, rounds, memory)) : [],
  ]);
  return { standings: { ...standings, rows: withConnections(standings.rows, connections) }, round, boards, rounds };
}

export function view({ standings, round, boards, rounds }, context) {
  const { league } = context;
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
          luck(league, standings.rows),            ),
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
            'Practice without tokens: anybody on this machine could speak for an agent, so that results are unproven.',
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
      : empty(league.phase === 'completed' ? 'No matches.' : 'Its matches are not drawn up yet.'),
  );
}
