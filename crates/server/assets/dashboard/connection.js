// How the league reaches an agent: directly, or through the relay that the agent dials out to.

import { el } from './dom.js';
import { moment } from './words.js';

/** The rows with how each agent is connected, if any of the league dials out; otherwise as they are. */
export function withConnections(rows, { agents }) {
  if (!agents.some(({ via }) => via === 'relay')) return rows;
  const found = new Map(agents.map((agent) => [agent.agent_id, agent]));
  return rows.map((row) => ({ ...row, connection: found.get(row.id) }));
}

const words = ({ via, connected, transport }) => {
  if (via !== 'relay') return 'direct';
  if (!connected) return 'absent';
  return transport === 'stream' ? 'stream' : 'long poll';
};

export function connection(agent) {
  if (!agent) return '–';
  const how = words(agent);
  const since = `${agent.via === 'relay' ? (agent.connected ? 'connected' : 'not connected') : 'registered'} since ${moment(agent.since)}`;
  return el('span', { class: how === 'absent' ? 'pill' : 'muted', title: since }, how);
}

/** To sort by: absent agents last. */
export const connectionRank = (agent) => ['absent', 'long poll', 'stream', 'direct'].indexOf(agent ? words(agent) : '');
