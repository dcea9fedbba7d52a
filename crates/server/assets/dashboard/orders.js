// The operator's panel. The token is asked for here and kept by `api.js` for this tab; every order is confirmed first, and
// answered in the manager's own words.

import { ask, change, hasToken, setToken } from './api.js';
import { confirmed } from './confirm.js';
import { dialogHead, field, group, text } from './dialog.js';
import { el, update } from './dom.js';
import { command } from './parts.js';
import { sentence } from './words.js';

const panel = () => document.getElementById('panel');

/** What is asked for in each group, and an example. */
const GROUPS = [
  { title: 'The league', orders: ['start', 'pause', 'resume', 'end'] },
  { title: 'A player or referee', asks: 'Id', example: 'P04', orders: ['withdraw', 'rotate', 'revoke'] },
  { title: 'A match', asks: 'Match', example: 'R1M1', orders: ['void'] },
  { title: 'The roster', asks: 'Name, or referees', example: 'Ann Lee', orders: ['invite', 'rotate_code'] },
];

const ORDERS = {
  start: {
    name: 'Start the league',
    when: ['registration'],
    will: () =>
      'Registration is closed, the rounds are scheduled for the registered players, and the first round is announced.',
  },
  pause: {
    name: 'Pause',
    when: ['running'],
    will: () => 'No more matches begin until you resume; running matches are finished, and count.',
  },
  resume: { name: 'Resume', when: ['paused'], will: () => 'The league continues where it was paused.' },
  end: {
    name: 'End the league',
    danger: true,
    when: ['running', 'paused'],
    will: () =>
      'The league ends now: the current standings are final, and the remaining matches are not played.',
  },
  withdraw: {
    name: 'Withdraw',
    danger: true,
    when: ['registration', 'running', 'paused'],
    subject: 'player_id',
    will: (id) =>
      `${id} leaves for good. Its results stay; it forfeits all other matches, also the one that is being played.`,
  },
  void: {
    name: 'Void the match',
    danger: true,
    when: ['running', 'paused', 'completed'],
    subject: 'match_id',
    will: (id) =>
      `The result of ${id} no longer counts, and the match is played again, even if its round or the league is over.`,
  },
  invite: {
    name: 'Add to the roster',
    when: ['registration', 'running', 'paused'],
    subject: 'agent_id',
    sent: (name) => (/^(player|referee):/.test(name) ? name : `player:${name}`),
    will: (name) => `${name} may register, with a join code that is shown only once.`,
  },
  rotate_code: {
    name: 'Make a new join code',
    when: ['registration', 'running', 'paused'],
    subject: 'agent_id',
    will: (name) => `The old join code of ${name} stops working. The new one is shown only once.`,
  },
  rotate: {
    name: 'Make a new token',
    when: ['registration', 'running', 'paused'],
    subject: 'agent_id',
    will: (id) => `The old token of ${id} stops working. The new one is shown only once.`,
  },
  revoke: {
    name: 'Revoke a token',
    danger: true,
    when: ['registration', 'running', 'paused'],
    subject: 'agent_id',
    will: (id) => `${id} cannot take part until it has a new token.`,
  },
};

let said = null; // The last answer, and whether it was a refusal.
let rejected = null; // What the manager said of the last token that was not taken.
let context = { league: null, changed: () => {} };

/** Draws the panel anew if it is open, for a league that has changed. */
export function know(league, changed) {
  context = { league, changed };
  if (panel().open) draw();
}

/** Opens the panel; with an order and its subject, that one is asked for at once when the token is there. */
export function openPanel(what, subject) {
  said = null;
  rejected = null;
  draw(what, subject);
  if (!panel().open) panel().showModal();
  if (what && hasToken()) confirm(what, subject);
}

function draw(what, subject) {
  update(
    panel(),
    dialogHead('Operator'),
    hasToken() ? actions() : tokenForm(what, subject),
    el('p', { key: 'answer', role: 'status', class: said?.refused ? 'answer refused' : 'answer' }, said?.words),
    said?.secret ? el('div', { key: 'secret' }, command(said.secret)) : null,
  );
}

/** Asks for the token; the page of a league that is shown to its operator alone has this too. */
export function tokenForm(what, subject) {
  const give = async (event) => {
    event.preventDefault();
    const field = event.target.querySelector('input');
    const told = event.target.querySelector('[role=status]');
    setToken(field.value.trim());
    field.value = '';
    try {
      const league = await ask('league');
      if (!league.operator) throw new Error('this is not the operator token');
      say('The manager took the token. It is kept until this tab is closed.');
      context.changed();
    } catch (error) {
      setToken(null);
      rejected = sentence(error.message);
      told.textContent = rejected;
      return;
    }
    rejected = null;
    draw(what, subject);
    if (what) confirm(what, subject);
  };
  return el(
    'form',
    { key: 'token', class: 'form-row', onsubmit: give },
    el(
      'p',
      {},
      'Orders need the operator token, which the manager printed when it was first started (or was given by --operator-token). It is kept in this tab until the tab is closed.',
    ),
    field('Operator token', null, text('token', { type: 'password', required: true })),
    el('p', { role: 'status', class: 'answer refused' }, rejected),
    el('button', { type: 'submit' }, 'Use this token'),
  );
}

function actions() {
  const { league } = context;
  if (league && league.live === false)
    return el('p', { key: 'stored' }, 'This is a stored league: it takes no orders.');
  const isPossible = (what) => !league || ORDERS[what].when.includes(league.phase);
  return el(
    'div',
    { key: 'actions', class: 'orders' },
    GROUPS.map((group) => ordersOf(group, group.orders.filter(isPossible))),
    el(
      'button',
      {
        key: 'forget',
        type: 'button',
        class: 'small',
        onclick: () => {
          setToken(null);
          say('The token is forgotten.');
          context.changed();
          draw();
        },
      },
      'Forget the token',
    ),
  );
}

/** A field for what the orders are about, if they need to know, and a button for each. */
function ordersOf({ title, asks, example }, possible) {
  if (!possible.length) return null;
  const submit = (event) => {
    event.preventDefault();
    confirm(event.submitter.value, event.target.querySelector('input')?.value.trim());
  };
  const button = (what, place) => {
    const kind = ORDERS[what].danger ? 'quiet refused' : asks || place ? 'quiet' : '';
    return el('button', { key: what, type: 'submit', value: what, class: kind }, ORDERS[what].name);
  };
  return group(
    title,
    el(
      'form',
      { class: 'order', onsubmit: submit },
      asks ? field(asks, null, text('subject', { required: true, placeholder: example })) : null,
      el('span', { class: 'actions' }, possible.map(button)),
    ),
  );
}

function confirm(what, subject) {
  const { name, danger, will, sent, subject: field } = ORDERS[what];
  const act = async () => {
    try {
      const body = field ? { order: what, [field]: sent ? sent(subject) : subject } : { order: what };
      const told = await change('POST', 'orders', body);
      // Whoever renews the operator's own token goes on with the new one.
      if (what === 'rotate' && subject === 'operator') setToken(told.secret);
      say(sentence(told.said), false, told.secret);
    } catch (error) {
      if (error.status === 401 || error.status === 403) setToken(null);
      say(sentence(error.message), true);
    }
    context.changed();
    draw();
  };
  confirmed({ name, subject, danger, will: will(subject), act });
}

function say(words, refused = false, secret = null) {
  said = { words, refused, secret };
}
