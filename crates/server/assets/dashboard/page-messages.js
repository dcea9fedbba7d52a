// The message inspector: what was said, the newest first, filtered and page by page.

import { el } from './dom.js';
import { empty, head } from './parts.js';
import { clock, duration } from './words.js';
import { fine, inside } from './waterfall.js';

export const topics = ['messages'];
export const pace = 600;
export const title = () => 'Messages';

const FILTERS = ['conversation_id', 'agent', 'type', 'code', 'match_id'];
const LIMIT = 50;

/** Bodies are fetched from the moment that somebody opens a message. */
export const load = (ask, { query, memory }) =>
  ask('messages', {
    ...Object.fromEntries(FILTERS.map((name) => [name, query[name]])),
    before: query.before,
    limit: LIMIT,
    bodies: memory.bodies ? 1 : 0,
  });

const to = (query) => {
  const given = Object.entries(query).filter(([, value]) => value);
  return given.length ? `#/messages?${new URLSearchParams(given)}` : '#/messages';
};

export function view(found, { query, memory, refresh }) {
  const filtered = FILTERS.some((name) => query[name]);
  return [
    head(
      'Messages',
      el('p', { class: 'muted' }, 'Messages between agents, the newest first. Open one to read it.'),
    ),
    filters(found, query),
    found.messages.length
      ? el(
          'ol',
          { class: 'card flush exchanges', key: 'list' },
          found.messages.map((message) => row(message, memory, refresh)),
        )
      : el(
          'div',
          { class: 'card', key: 'none' },
          empty(
            filtered
              ? 'No message matches the filter. '
              : 'No messages yet, or none that may be shown while matches are being played. ',
            filtered ? el('a', { href: '#/messages' }, 'Show all') : null,
          ),
        ),
    el(
      'nav',
      { class: 'pager', 'aria-label': 'Parts of the list', key: 'pager' },
      query.before ? el('a', { class: 'button', href: to({ ...query, before: '' }) }, 'To the newest') : null,
      found.next_before
        ? el('a', { class: 'button', href: to({ ...query, before: found.next_before }) }, 'Older')
        : null,
    ),
  ];
}

function filters(found, query) {
  const change = (name) => (event) => {
    location.hash = to({ ...query, [name]: event.target.value.trim(), before: '' });
  };
  const typed = (name, label, example) =>
    el(
      'label',
      {},
      label,
      el('input', {
        value: query[name] ?? '',
        placeholder: example,
        onchange: change(name),
        spellcheck: 'false',
        autocomplete: 'off',
      }),
    );
  const chosen = (name, label, values = []) => {
    const all = query[name] && !values.includes(query[name]) ? [query[name], ...values] : values;
    return el(
      'label',
      {},
      label,
      el(
        'select',
        { onchange: change(name) },
        el('option', { value: '' }, 'any'),
        all.map((value) => el('option', { key: value, value, selected: query[name] === value }, value)),
      ),
    );
  };
  return el(
    'form',
    {
      class: 'filters',
      key: `filters ${FILTERS.map((name) => query[name] ?? '').join(' ')}`,
      role: 'search',
      'aria-label': 'Messages',
      onsubmit: (event) => event.preventDefault(),
    },
    typed('conversation_id', 'Conversation', 'conv-…'),
    typed('match_id', 'Match', 'R1M1'),
    chosen('agent', 'Agent', found.agents),
    chosen('type', 'Type', found.types),
    chosen('code', 'Error code', found.codes),
    FILTERS.some((name) => query[name]) ? el('a', { class: 'button', href: '#/messages' }, 'Show all') : null,
  );
}

function row(message, memory, refresh) {
  const opened = (event) => {
    if (!event.target.open || memory.bodies) return;
    memory.bodies = true;
    refresh();
  };
  const took = message.answered_at ? duration(Date.parse(message.answered_at) - Date.parse(message.sent_at)) : '–';
  return el(
    'li',
    { key: message.id },
    el(
      'details',
      { class: fine(message) ? '' : 'bad', ontoggle: opened },
      el(
        'summary',
        {},
        el('time', { datetime: message.sent_at, class: 'muted' }, clock(message.sent_at)),
        el(
          'span',
          { class: 'what' },
          el('b', {}, message.type),
          ' ',
          el('span', { class: 'muted' }, el('bdi', {}, message.from), ' → ', el('bdi', {}, message.to)),
        ),
        el(
          'span',
          { class: 'answered' },
          fine(message) ? (message.answer_type ?? '') : (message.error_code ?? message.outcome),
        ),
        el('span', { class: 'took' }, took),
      ),
      inside(message),
    ),
  );
}
