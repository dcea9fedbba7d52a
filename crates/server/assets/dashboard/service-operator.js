// What the operator of a service does in the browser: creates leagues and seasons, archives and removes leagues, steers seasons. Each
// is a request that the commands make too, is confirmed first, and stands in the service's log.

import { ask, change, hasToken, keepTokenOf, ROOT, setToken } from './api.js';
import { confirmed } from './confirm.js';
import { save, saveCsv } from './download.js';
import { el, update } from './dom.js';
import { command } from './parts.js';
import { plural, sentence } from './words.js';

const panel = () => document.getElementById('panel');
let refresh = () => {};
let said = null; // The last answer, and whether it was a refusal.

/** Draws the button in the head: it asks for the token, or opens what the operator can do. */
export function operatorButton(redraw) {
  refresh = redraw;
  document.getElementById('operator').onclick = () => {
    said = null;
    show(hasToken() ? createForm() : tokenForm());
  };
  update(document.getElementById('operator'), hasToken() ? 'Create' : 'Operator');
  update(
    document.getElementById('state'),
    said ? el('p', { role: 'status', class: said.refused ? 'refused' : '' }, said.text) : null,
    hasToken()
      ? el(
          'button',
          {
            key: 'forget',
            type: 'button',
            class: 'small',
            onclick: () => {
              setToken(null);
              said = null;
              refresh();
            },
          },
          'Forget the token',
        )
      : null,
  );
}

function show(...content) {
  update(panel(), content);
  if (!panel().open) panel().showModal();
}

const dialogHead = (title) =>
  el(
    'div',
    { class: 'dialog-head' },
    el('h2', { id: 'panel-title' }, title),
    el('button', { type: 'button', class: 'quiet', onclick: () => panel().close() }, 'Close'),
  );

function tokenForm() {
  const give = async (event) => {
    event.preventDefault();
    const form = event.target;
    setToken(form.querySelector('input').value.trim());
    try {
      await ask('cluster');
      panel().close();
    } catch (error) {
      setToken(null);
      form.querySelector('[role=status]').textContent =
        error.status === 401 ? 'This is not the service token.' : sentence(error.message);
    }
    refresh();
  };
  return [
    dialogHead('Operator'),
    el(
      'form',
      { key: 'token', class: 'form-row', onsubmit: give },
      el(
        'p',
        {},
        'Leagues are created and removed with the service token, which the service printed when it was first started. It is kept in this tab until the tab is closed. A league itself is steered on its own page, with its operator token.',
      ),
      el(
        'label',
        {},
        'Service token',
        el('input', { type: 'password', autocomplete: 'off', required: true, spellcheck: 'false' }),
      ),
      el('button', { type: 'submit' }, 'Use this token'),
      el('p', { role: 'status', class: 'answer refused' }),
    ),
  ];
}

/** Asks first, then does it, and says what came of it. */
function order({ name, subject, will, danger, method, path, done }) {
  const act = async () => {
    try {
      const told = await change(method, path);
      said = { text: done(told), refused: false };
    } catch (error) {
      if (error.status === 401) setToken(null);
      said = { text: sentence(error.message), refused: true };
    }
    refresh();
  };
  confirmed({ name, subject, will, danger, act });
}

const button = (label, what, { danger = false } = {}) =>
  el(
    'button',
    { type: 'button', class: `small${danger ? ' refused' : ''}`, 'aria-label': `${label} ${what.subject}`, onclick: () => order({ ...what, danger }) },
    label,
  );

/** What can be done with a league of the list. */
export function leagueActions({ league_id: id, season, phase }) {
  const path = `leagues/${encodeURIComponent(id)}`;
  if (season && phase !== 'completed') return null;
  return el(
    'span',
    { class: 'actions' },
    button('Archive', {
      name: 'Archive',
      subject: id,
      will: `${id} is written into a file on the machine of the service, verified there, and removed here.`,
      method: 'POST',
      path: `${path}/archive`,
      done: ({ file }) => `${id} is archived as ${file}.`,
    }),
    button(
      'Remove',
      {
        name: 'Remove for good',
        subject: id,
        will: `${id} is removed with all its results and messages. Nothing brings it back.`,
        method: 'DELETE',
        path,
        done: () => `${id} is removed.`,
      },
      { danger: true },
    ),
  );
}

/** What can be done with a season. */
export function seasonActions({ name, state, is_playing: playing }) {
  const path = `seasons/${encodeURIComponent(name)}`;
  const orders = {
    run: {
      name: 'Start the league now',
      will: 'Registration for the current league is closed, and it is played at once. The schedule stays as it is.',
      done: ({ league_id: league }) => `${league} has started.`,
    },
    pause: {
      name: 'Pause the season',
      will: 'No league starts by schedule until the season is resumed. One that is being played is finished.',
      done: () => `${name} is paused.`,
    },
    resume: {
      name: 'Resume the season',
      will: 'Leagues start by the schedule again.',
      done: () => `${name} goes on.`,
    },
    end: {
      name: 'End the season',
      danger: true,
      will: 'No league follows. One that has not started is removed; one that is being played is finished.',
      done: () => `${name} has ended.`,
    },
  };
  const possible = state === 'ended' ? [] : [playing ? null : 'run', state === 'paused' ? 'resume' : 'pause', 'end'];
  if (!possible.length) return null;
  return el(
    'p',
    { class: 'actions', key: 'orders' },
    possible.filter(Boolean).map((what) =>
      el(
        'button',
        {
          key: what,
          type: 'button',
          class: orders[what].danger ? 'danger' : what === 'run' ? '' : 'quiet',
          onclick: () => order({ ...orders[what], subject: name, method: 'POST', path: `${path}/${what}` }),
        },
        orders[what].name,
      ),
    ),
  );
}

// Creating.

const field = (label, about, input) => el('label', {}, label, input, about ? el('span', { class: 'about' }, about) : null);

const options = (list) => [...document.querySelectorAll(`#${list} option`)].map((option) => option.value);

function createForm(kind = 'league') {
  const isSeason = kind === 'season';
  const text = (name, attributes) => el('input', { name, autocomplete: 'off', spellcheck: 'false', ...attributes });
  return [
    dialogHead(isSeason ? 'Create a season' : 'Create a league'),
    el(
      'form',
      { key: kind, class: 'form-row create', onsubmit: (event) => create(event, isSeason) },
      field(
        'What it is',
        null,
        el(
          'select',
          { onchange: (event) => show(createForm(event.target.value)) },
          el('option', { value: 'league', selected: !isSeason }, 'One league'),
          el('option', { value: 'season', selected: isSeason }, 'A season: leagues over the same players'),
        ),
      ),
      field('Name', 'Letters, digits and any of _ . -', text('name', { required: true, maxlength: 64, pattern: '[A-Za-z0-9_\\-][A-Za-z0-9_.\\-]*' })),
      field('Game', null, el('select', { name: 'game' }, options('games').map((game) => el('option', { value: game }, game)))),
      field(
        'Format',
        null,
        el(
          'select',
          { name: 'format' },
          options('formats')
            .filter((format) => !isSeason || format !== 'ladder')
            .map((format) => el('option', { value: format }, format.replaceAll('_', ' '))),
        ),
      ),
      isSeason
        ? [
            field('Start of each league', 'Minute, hour, day, month and weekday as in a crontab, such as 0 20 * * mon; empty: you start each', text('schedule', { placeholder: '0 20 * * mon' })),
            field('Time zone', null, text('time_zone', { value: Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC' })),
          ]
        : field('Start by itself', 'When so many have registered, such as players=4; empty: you start it', text('start-when', { placeholder: 'players=4' })),
      field(
        'Roster',
        'Who may join, one name a line (or CSV with name, role, mail): each is given a join code. Empty: everybody may',
        el('textarea', { name: 'roster', rows: 4, spellcheck: 'false', placeholder: 'Ann Lee\nBob Roy' }),
      ),
      el(
        'details',
        {},
        el('summary', {}, 'More settings'),
        field(
          'One setting a line',
          'As in the section [league] of a configuration file, such as rounds = 5',
          el('textarea', { name: 'settings', rows: 3, spellcheck: 'false', placeholder: 'seats = on' }),
        ),
      ),
      el('button', { type: 'submit' }, isSeason ? 'Create the season' : 'Create the league'),
      el('p', { role: 'status', class: 'answer refused' }),
    ),
  ];
}

/** `key = value`, one a line. */
function settingsOf(text) {
  const lines = text.split('\n').map((line) => line.trim());
  return Object.fromEntries(
    lines
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => {
        const [, key, value] = line.match(/^([\w-]+)\s*=\s*"?(.*?)"?$/) ?? [];
        if (!key) throw new Error(`a setting is written as key = value, and this is not: ${line}`);
        return [key, value];
      }),
  );
}

async function create(event, isSeason) {
  event.preventDefault();
  const form = event.target;
  const told = form.querySelector('[role=status]');
  const value = (name) => form.elements.namedItem(name)?.value.trim() || null;
  const name = value('name');
  const roster = value('roster');
  let spec;
  try {
    const given = Object.entries({
      game: value('game'),
      format: value('format'),
      'start-when': value('start-when'),
    });
    spec = {
      settings: { ...Object.fromEntries(given.filter(([, text]) => text)), ...settingsOf(form.elements.settings.value) },
      ...(roster ? { roster } : {}),
    };
  } catch (error) {
    told.textContent = sentence(error.message);
    return;
  }
  const players = roster ? `, with join codes for ${plural(roster.split('\n').filter((line) => line.trim()).length, 'name')}` : '';
  const act = async () => {
    told.textContent = '';
    try {
      const made = isSeason
        ? await change('POST', 'seasons', { name, schedule: value('schedule'), time_zone: value('time_zone'), ...spec })
        : (await change('POST', 'leagues', { leagues: [{ league_id: name, ...spec }] })).leagues[0];
      if (made.operator_token) keepTokenOf(name, made.operator_token);
      said = { text: `${name} is created.`, refused: false };
      show(created(name, made, isSeason));
      refresh();
    } catch (error) {
      told.textContent = sentence(error.message);
    }
  };
  confirmed({
    name: 'Create',
    subject: name,
    will: `${isSeason ? 'A season' : 'A league'} called ${name} is created${players}. It takes registrations at once.`,
    act,
  });
}

/** What has been made: its secrets are shown only once. */
function created(name, made, isSeason) {
  const codes = made.join_codes ?? [];
  const rows = () => [
    ['name', 'role', 'mail', 'join_code', 'url'],
    ...codes.map((code) => [code.name, code.role, code.mail, code.join_code, code.url]),
  ];
  const secrets = [
    ['Operator token', made.operator_token],
    ['Code of referees', made.referee_code],
    ['Code of seats', made.seat_code],
  ].filter(([, secret]) => secret);
  return [
    dialogHead(`${name} is created`),
    el(
      'div',
      { key: 'made', class: 'form-row' },
      secrets.length || codes.length
        ? el('p', {}, 'What follows is shown only once: copy it, or save it where only you read it.')
        : null,
      secrets.map(([what, secret]) => el('div', { class: 'secret' }, el('b', {}, what), command(secret))),
      codes.length
        ? [
            el('b', {}, `Join codes (${codes.length})`),
            el(
              'div',
              { class: 'scroll codes', tabindex: 0 },
              codes.map((code) => el('div', { class: 'secret' }, el('bdi', {}, code.name), command(code.url))),
            ),
            el(
              'p',
              { class: 'actions' },
              el('button', { type: 'button', class: 'quiet', onclick: () => saveCsv(`${name}.codes.csv`, rows()) }, 'Save all as CSV'),
              el(
                'button',
                {
                  type: 'button',
                  class: 'quiet',
                  onclick: () => save(`${name}.codes.txt`, new Blob([codes.map((code) => `${code.name}\t${code.url}\n`).join('')], { type: 'text/plain' })),
                },
                'Save all as text',
              ),
            ),
          ]
        : null,
      el('p', {}, el('a', { class: 'button', href: `${ROOT}leagues/${name}/` }, 'Open its page as its operator'), isSeason ? ' The token holds for every league of the season.' : null),
    ),
  ];
}
