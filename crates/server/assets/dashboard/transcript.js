// What the models of a match were told and said: beside the board that of one move, below it every call.

import { el } from './dom.js';
import { duration, instant, moment, number, sentence } from './words.js';

const nameOf = (match, id) => [match.a, match.b].find((player) => player.id === id)?.name || id;

/** What led to a position: the thinking and the answer of each call of that turn. */
export function thoughts(match, ply) {
  const calls = (match.model_calls ?? []).filter((call) => call.turn === ply);
  if (!calls.length) return null;
  return el(
    'div',
    { class: 'thoughts', key: 'thoughts' },
    calls.map((call) => [
      el('p', { class: 'muted' }, el('bdi', {}, nameOf(match, call.player)), ' ', figures(call)),
      text('thinks', call.thinking),
      text('says', call.reply),
    ]),
  );
}

/** Every call; nothing for a match without models. */
export function transcript(match) {
  if (!match.model_calls?.length)
    return match.model_calls_withheld
      ? el('p', { class: 'note', key: 'transcript' }, sentence(match.model_calls_withheld))
      : null;
  return el(
    'section',
    { class: 'card', key: 'transcript', 'aria-labelledby': 'transcript-title' },
    el('h2', { id: 'transcript-title' }, 'What the players were told, and what they said'),
    el(
      'ol',
      { class: 'transcript' },
      match.model_calls.map((call) => el('li', {}, one(match, call))),
    ),
  );
}

function one(match, call) {
  return el(
    'details',
    { class: call.failure ? 'bad' : '' },
    el(
      'summary',
      {},
      el('time', { datetime: call.at, title: moment(call.at) }, instant(call.at)),
      ' ',
      el('b', {}, el('bdi', {}, nameOf(match, call.player))),
      call.turn ? `, turn ${call.turn}` : null,
      ' ',
      el('span', { class: 'muted' }, figures(call)),
    ),
    (call.prompt ?? []).map((message) => text(message.role, message.content)),
    text('thinks', call.thinking),
    text('says', call.reply),
    text('error', call.error),
  );
}

function figures(call) {
  const tokens = call.input_tokens + call.output_tokens;
  return [
    call.model ? el('bdi', {}, call.model) : null,
    call.latency_ms || call.status ? duration(call.latency_ms) : null,
    tokens ? `${number(call.input_tokens)} tokens read, ${number(call.output_tokens)} written` : null,
    call.cost_micros ? `${call.cost_micros / 1e6} in money` : null,
    call.status && call.status !== 200 ? `HTTP ${call.status}` : null,
    call.failure ? `no move: ${call.failure}` : null,
  ]
    .filter(Boolean)
    .flatMap((part, index) => (index ? [', ', part] : [part]));
}

function text(label, content) {
  if (!content) return null;
  return el(
    'div',
    { class: 'body' },
    el('p', { class: 'body-name' }, label),
    el('pre', { tabindex: 0, role: 'region', 'aria-label': label }, el('bdi', {}, content)),
  );
}
