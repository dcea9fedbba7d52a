// Who has joined a league that has not begun, who is missing, and whether each can be reached.

import { el } from './dom.js';
import { who } from './parts.js';
import { moment, number, plural } from './words.js';

const REACHED = {
  direct: {
    true: ['win', 'reachable', 'A connection to it can be made'],
    false: ['bad', 'not reached', 'No connection to it can be made: is it running, and at this address?'],
  },
  relay: {
    true: ['win', 'connected', 'It dials out to the league'],
    false: ['bad', 'absent', 'It dials out to the league, and is not connected now'],
  },
};

/** Whether the league reaches an agent; nothing while that is not known. */
function reached(agent) {
  const known = REACHED[agent?.via]?.[agent.connected];
  if (!known) return null;
  const [kind, word, why] = known;
  return el('span', { class: `pill ${kind}`, title: why }, word);
}

const row = (agent, connection) =>
  el(
    'li',
    { key: agent.id },
    el('span', { class: 'joined-name' }, who(agent)),
    connection ? el('span', { class: 'muted since' }, `since ${moment(connection.since)}`) : null,
    reached(connection),
  );

/** All who have registered, and the names of the roster that have not. */
export function registration(league, { standings, referees, connections }) {
  const found = new Map(connections.agents.map((agent) => [agent.agent_id, agent]));
  const { roster } = league;
  const players = standings.rows.filter((player) => player.state !== 'withdrawn');
  const unreached = connections.agents.filter((agent) => agent.connected === false).length;
  const counted = roster ? `${number(roster.taken)} of ${number(roster.places)} on the roster` : plural(players.length, 'player');
  const list = (title, agents) =>
    agents.length
      ? [
          el('h3', { key: `${title}-head` }, title),
          el(
            'ul',
            { class: 'joined', key: title },
            agents.map((agent) => row(agent, found.get(agent.id))),
          ),
        ]
      : null;
  return el(
    'section',
    { class: 'card', key: 'registration', 'aria-labelledby': 'registration-title' },
    el(
      'div',
      { class: 'card-head' },
      el('h2', { id: 'registration-title' }, 'Who has joined'),
      el('span', { class: 'muted' }, counted, unreached ? `, ${unreached} not reached` : ''),
    ),
    league.registration_closed
      ? el('p', { class: 'note', key: 'closed' }, 'Registration is closed: nobody else can join before its operator opens it again.')
      : null,
    players.length || referees.length ? null : el('p', { class: 'empty' }, 'Nobody yet. Players appear here by themselves as they register.'),
    list('Players', players),
    list('Referees', referees),
    roster ? missing(roster) : null,
  );
}

function missing({ places, taken, missing: names }) {
  const count = places - taken;
  if (!count) return el('p', { key: 'all' }, el('span', { class: 'pill win' }, 'complete'), ' Everybody on the roster is here.');
  return [
    el('h3', { key: 'missing-head' }, `Missing (${number(count)})`),
    names
      ? el('ul', { class: 'absent', key: 'missing' }, names.map((name) => el('li', { class: 'pill' }, el('bdi', {}, name))))
      : el('p', { class: 'muted', key: 'missing' }, 'Their names are shown to the operator.'),
  ];
}
