// The forms that create a league or a season, or take a league out of a file; and what has been made, with its secrets.

import { keepTokenOf, ROOT } from './api.js';
import { changeForm, close, dialogHead, field, scheduleFields, settingsOf, show, text } from './dialog.js';
import { el } from './dom.js';
import { save, saveCsv } from './download.js';
import { command } from './parts.js';
import { plural } from './words.js';

const options = (list) => [...document.querySelectorAll(`#${list} option`)].map((option) => option.value);

const KINDS = {
  league: 'One league',
  season: 'A season: leagues over the same players',
  file: 'A league out of a file',
};
const TITLES = { league: 'Create a league', season: 'Create a season', file: 'Import a league' };

/** Opens the form; `done` is told what came of it. */
export function openCreate(done, kind = 'league') {
  const kinds = field(
    'What it is',
    null,
    el(
      'select',
      { onchange: (event) => openCreate(done, event.target.value) },
      Object.entries(KINDS).map(([value, name]) => el('option', { value, selected: value === kind }, name)),
    ),
  );
  show(dialogHead(TITLES[kind]), kind === 'file' ? importForm(kinds, done) : createForm(kinds, kind === 'season', done));
}

const GAME_SETTINGS = ['game', 'format', 'start-when'];

function createForm(kinds, isSeason, done) {
  const what = isSeason ? 'season' : 'league';
  const read = (value) => {
    const roster = value('roster');
    const given = GAME_SETTINGS.map((name) => [name, value(name)]).filter(([, text]) => text);
    const spec = {
      settings: { ...Object.fromEntries(given), ...settingsOf(value('settings')) },
      ...(roster ? { roster } : {}),
    };
    const name = value('name');
    const season = { name, schedule: value('schedule') || null, time_zone: value('time_zone') || null, ...spec };
    const people = plural(roster.split('\n').filter((line) => line.trim()).length, 'name');
    return {
      method: 'POST',
      path: `${what}s`,
      body: isSeason ? season : { leagues: [{ league_id: name, ...spec }] },
      name: 'Create',
      subject: name,
      will: `A ${what} called ${name} is created${roster ? `, with join codes for ${people}` : ''}. It takes registrations at once.`,
    };
  };
  const made = (answer) => {
    const { operator_token: token, ...one } = isSeason ? answer : answer.leagues[0];
    const name = isSeason ? one.name : one.league_id;
    if (token) keepTokenOf(name, token);
    show(created(name, { ...one, operator_token: token }, isSeason));
    done(`${name} is created.`);
  };
  return changeForm(
    { key: what, button: `Create the ${what}`, read, done: made },
    kinds,
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
      ? scheduleFields({ zone: Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC', about: '; empty: you start each' })
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
  );
}

/** The file lies on the machine of the service, as `archive` writes it. */
function importForm(kinds, done) {
  const read = (value) => ({
    method: 'POST',
    path: 'leagues/import',
    body: { file: value('file'), league_id: value('league_id') || null },
    name: 'Import',
    subject: value('file'),
    will: 'The league is taken out of this file with all its results, and stands in the list. The file stays as it is.',
  });
  const imported = ({ league_id: id }) => {
    close();
    done(`${id} is imported.`);
  };
  return changeForm(
    { key: 'file', button: 'Import the league', read, done: imported },
    kinds,
    field('File', 'Where it lies on the machine of the service, such as /srv/matchday/spring.db', text('file', { required: true, placeholder: '/srv/matchday/spring.db' })),
    field('League', 'Of a file with several leagues: which one. Empty: the latest', text('league_id', { placeholder: 'spring' })),
  );
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
