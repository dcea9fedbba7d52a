// The forms that create a league or a season, or take a league out of a file; and what has been made, with its secrets.

import { change, keepTokenOf, ROOT } from './api.js';
import { confirmed } from './confirm.js';
import { answerLine, close, dialogHead, field, settingsOf, show, text } from './dialog.js';
import { el } from './dom.js';
import { save, saveCsv } from './download.js';
import { command } from './parts.js';
import { plural, sentence } from './words.js';

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

function createForm(kinds, isSeason, done) {
  return el(
      'form',
      { key: isSeason ? 'season' : 'league', class: 'form-row create', onsubmit: (event) => create(event, isSeason, done) },
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
      answerLine(),
      el('button', { type: 'submit' }, isSeason ? 'Create the season' : 'Create the league'),
    );
}

/** The file lies on the machine of the service, as `archive` writes it. */
function importForm(kinds, done) {
  const submit = (event) => {
    event.preventDefault();
    const { elements } = event.target;
    const told = event.target.querySelector('[role=status]');
    const [file, id] = ['file', 'league_id'].map((name) => elements.namedItem(name).value.trim());
    const act = async () => {
      told.textContent = '';
      try {
        const made = await change('POST', 'leagues/import', { file, league_id: id || null });
        close();
        done(`${made.league_id} is imported.`);
      } catch (error) {
        told.textContent = sentence(error.message);
      }
    };
    confirmed({ name: 'Import', subject: file, will: 'The league is taken out of this file with all its results, and stands in the list. The file stays as it is.', act });
  };
  return el(
    'form',
    { key: 'file', class: 'form-row create', onsubmit: submit },
    kinds,
    field('File', 'Where it lies on the machine of the service, such as /srv/matchday/spring.db', text('file', { required: true, placeholder: '/srv/matchday/spring.db' })),
    field('League', 'Of a file with several leagues: which one. Empty: the latest', text('league_id', { placeholder: 'spring' })),
    answerLine(),
    el('button', { type: 'submit' }, 'Import the league'),
  );
}

async function create(event, isSeason, done) {
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
      show(created(name, made, isSeason));
      done(`${name} is created.`);
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
