// Every message of a match on one axis of time: when it was sent, connected, first answered, wholly answered, and when
// the time for it ran out.

import { el } from './dom.js';
import { clock, duration, exact, moment, pretty, sentence } from './words.js';

const time = (at) => (at ? exact(at) : null);

/** When it was over: answered, given up, or out of time. */
const ended = (message) => time(message.answered_at) ?? time(message.ended_at) ?? time(message.deadline_at);

/** From the first message to the last answer, and to a deadline only where nothing came before it. */
function axis(messages) {
  const starts = messages.map((message) => time(message.sent_at));
  const ends = messages.map((message) => ended(message) ?? time(message.sent_at));
  const from = Math.min(...starts);
  const to = Math.max(...ends, from + 1);
  return {
    from,
    span: (to - from) * 1.02,
    at: (when) => Math.max(0, Math.min(100, ((when - from) / ((to - from) * 1.02)) * 100)),
  };
}

export function waterfall(messages) {
  const ordered = [...messages].sort((a, b) => time(a.sent_at) - time(b.sent_at));
  const scale = axis(ordered);
  return el(
    'div',
    { class: 'waterfall' },
    el(
      'div',
      { class: 'ticks', 'aria-hidden': 'true' },
      [0, 0.25, 0.5, 0.75, 1].map((part) =>
        el(
          'span',
          { style: { left: `${part * 100}%` } },
          part ? `+${duration(scale.span * part)}` : clock(new Date(scale.from)),
        ),
      ),
    ),
    el(
      'ol',
      {},
      ordered.map((message) => el('li', { key: message.id }, exchange(message, scale))),
    ),
    el(
      'p',
      { class: 'legend muted' },
      el('i', { class: 'seg connect' }),
      ' connecting ',
      el('i', { class: 'seg wait' }),
      ' waiting for the first byte ',
      el('i', { class: 'seg read' }),
      ' reading ',
      el('i', { class: 'seg none' }),
      ' no answer ',
      el('i', { class: 'due' }),
      ' deadline',
    ),
  );
}

const took = (message) => (message.answered_at ? time(message.answered_at) - time(message.sent_at) : null);
export const fine = (message) => !message.outcome || message.outcome === 'ok';

function exchange(message, scale) {
  return el(
    'details',
    { class: fine(message) ? '' : 'bad' },
    el(
      'summary',
      {},
      el(
        'span',
        { class: 'what' },
        el('b', {}, message.type),
        ' ',
        el('span', { class: 'muted' }, el('bdi', {}, message.from), ' → ', el('bdi', {}, message.to)),
      ),
      el('span', { class: 'track', 'aria-hidden': 'true' }, segments(message, scale)),
      el(
        'span',
        { class: 'took' },
        fine(message) ? duration(took(message)) : (message.error_code ?? 'no answer'),
        message.deadline_at
          ? el('small', { class: 'muted' }, ` of ${duration(time(message.deadline_at) - time(message.sent_at))}`)
          : null,
      ),
    ),
    inside(message),
  );
}

function segments(message, { at }) {
  const [sent, connected, first, answered, due] = [
    'sent_at',
    'connected_at',
    'first_byte_at',
    'answered_at',
    'deadline_at',
  ].map((name) => time(message[name]));
  const part = (kind, from, to) =>
    from !== null && to !== null
      ? el('i', { class: `seg ${kind}`, style: { left: `${at(from)}%`, width: `${Math.max(0, at(to) - at(from))}%` } })
      : null;
  const end = ended(message) ?? sent;
  return [
    part('connect', sent, connected),
    answered === null ? part('none', connected ?? sent, end) : part('wait', connected ?? sent, first ?? answered),
    answered === null ? null : part('read', first, answered),
    due !== null && at(due) < 100 ? el('i', { class: 'due', style: { left: `${at(due)}%` } }) : null,
  ];
}

/** What details of an exchange show; the inspector shows the same. */
export function inside(message) {
  const since = (at) => (at ? `+${duration(time(at) - time(message.sent_at))}` : null);
  const row = (name, value) => (value ? [el('dt', {}, name), el('dd', {}, value)] : null);
  const body = (name, text) => {
    if (!text) return null;
    const { shown, cut } = pretty(text);
    return el(
      'div',
      { class: 'body' },
      el('p', { class: 'body-name' }, name),
      el(
        'pre',
        { class: cut ? 'cut' : null, tabindex: 0, role: 'region', 'aria-label': `${name} of ${message.type}` },
        el('bdi', {}, shown),
      ),
      cut ? el('p', { class: 'muted' }, el('small', {}, 'Only its beginning is kept.')) : null,
    );
  };
  return el(
    'div',
    { class: 'inside' },
    el(
      'dl',
      { class: 'facts' },
      row('Sent', moment(message.sent_at)),
      row('Connected', since(message.connected_at)),
      row('First byte', since(message.first_byte_at)),
      row('Answered', since(message.answered_at) ?? 'never'),
      row('Deadline', since(message.deadline_at)),
      row('Answer', message.answer_type),
      row('Outcome', fine(message) ? 'ok' : sentence(message.outcome)),
      row('Error code', message.error_code),
      row(
        'Match',
        message.match_id
          ? el('a', { href: `#/matches/${encodeURIComponent(message.match_id)}` }, message.match_id)
          : null,
      ),
      row(
        'Conversation',
        message.conversation_id
          ? el(
              'a',
              { href: `#/messages?${new URLSearchParams({ conversation_id: message.conversation_id })}` },
              message.conversation_id,
            )
          : null,
      ),
    ),
    el('div', { class: 'bodies' }, body('Request', message.request), body('Answer', message.answer)),
  );
}
