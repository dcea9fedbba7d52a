// What the operator of a service does with one league: lets others register or not, changes its settings, archives or removes it. And
// when the leagues of a season start.

import { ask } from './api.js';
import { changeForm, close, dialogHead, field, group, scheduleFields, settingsOf, show, text } from './dialog.js';
import { el } from './dom.js';
import { empty, phaseName } from './parts.js';
import { sentence } from './words.js';

/** Opens the dialog of a league; `order` asks first and does it then, `told` says what came of it. */
export async function manageLeague({ league_id: id, season, phase, format }, { order, told }) {
  const path = `leagues/${encodeURIComponent(id)}`;
  show(dialogHead(id), empty('One moment …'));
  let settings;
  try {
    ({ settings } = await ask(path));
  } catch (error) {
    show(dialogHead(id), el('p', { class: 'refused' }, sentence(error.message)));
    return;
  }
  const does = (what) => () => {
    close();
    order({ subject: id, ...what });
  };
  const isOpen = phase === 'registration' || (format === 'ladder' && ['running', 'paused'].includes(phase));
  const ofSeason = season && phase !== 'completed';
  show(
    dialogHead(id),
    el(
      'p',
      { class: 'muted', key: 'about' },
      `${phaseName(phase) ?? 'Cannot be read'}. Start, pause and all that is done with players and matches is on `,
      el('a', { href: `leagues/${id}/` }, 'its own page'),
      '.',
    ),
    isOpen ? group('Registration', registration(id, path, settings, does)) : null,
    group('Settings', settingsForm(id, path, settings, phase, told)),
    ofSeason
      ? el('p', { class: 'muted', key: 'season' }, `It is of the season ${season}, and stays as long as it is its current league.`)
      : group('Removal', removal(id, path, does)),
  );
}

function registration(id, path, settings, does) {
  const closed = settings.registration === 'closed';
  const turn = (name, will, value, done) =>
    el(
      'button',
      {
        type: 'button',
        class: 'quiet',
        onclick: does({ name, will, method: 'PATCH', path, body: { settings: { registration: value } }, done: () => `Registration of ${id} is ${done}.` }),
      },
      name,
    );
  return el(
    'p',
    { class: 'actions' },
    closed
      ? turn('Open registration', 'Others may register again.', 'open', 'open')
      : turn('Close registration', 'Nobody else may register until it is opened again. Those who are here stay.', 'closed', 'closed'),
    el('span', { class: 'about' }, closed ? 'Closed: nobody else may register.' : 'Open: others may register.'),
  );
}

/** Fields for what is changed most, and lines for all else; only what has changed is sent. */
function settingsForm(id, path, settings, phase, told) {
  const begun = phase !== 'registration';
  const fields = begun ? ['agents-per-address'] : ['start-when', 'agents-per-address'];
  const read = (value) => {
    const wanted = { ...Object.fromEntries(fields.map((name) => [name, value(name)])), ...settingsOf(value('settings')) };
    const changed = Object.entries(wanted).filter(([name, text]) => text !== (settings[name] ?? ''));
    if (!changed.length) throw new Error('nothing has been changed');
    return {
      method: 'PATCH',
      path,
      body: { settings: Object.fromEntries(changed) },
      subject: id,
      will: `${changed.map(([name, text]) => `${name} = ${text}`).join(', ')}. It holds from now on.`,
    };
  };
  const done = () => {
    close();
    told(`The settings of ${id} are changed.`);
  };
  const kept = Object.entries(settings).filter(([name]) => ![...fields, 'registration'].includes(name));
  return changeForm(
    { button: 'Change the settings', read, done },
    begun
      ? null
      : field('Start by itself', 'When so many have registered, such as players=4', text('start-when', { value: settings['start-when'] ?? '', placeholder: 'players=4' })),
    field(
      'Agents from one address',
      'How many may register from there; 0 for any number, for a class behind one router. Empty: 16',
      text('agents-per-address', { inputmode: 'numeric', value: settings['agents-per-address'] ?? '', placeholder: '16' }),
    ),
    field(
      'Others, one a line',
      begun ? 'It has begun: seats, dashboard and exchanges can still change' : 'As in the section [league] of a configuration file',
      el('textarea', { name: 'settings', rows: Math.min(Math.max(kept.length, 2), 6), spellcheck: 'false' }, kept.map(([name, value]) => `${name} = ${value}`).join('\n')),
    ),
  );
}

const removal = (id, path, does) =>
  el(
    'p',
    { class: 'actions' },
    el(
      'button',
      {
        type: 'button',
        class: 'quiet',
        onclick: does({
          name: 'Archive',
          will: `${id} is written into a file on the machine of the service, verified there, and removed here.`,
          method: 'POST',
          path: `${path}/archive`,
          done: ({ file }) => `${id} is archived as ${file}.`,
        }),
      },
      'Archive',
    ),
    el(
      'button',
      {
        type: 'button',
        class: 'quiet refused',
        onclick: does({
          name: 'Remove for good',
          danger: true,
          will: `${id} is removed with all its results and messages. Nothing brings it back.`,
          method: 'DELETE',
          path,
          done: () => `${id} is removed.`,
        }),
      },
      'Remove',
    ),
  );

/** When the leagues of a season start. */
export function changeSchedule({ name, schedule, time_zone: zone }, { told }) {
  const read = (value) => {
    const body = { schedule: value('schedule'), time_zone: value('time_zone') };
    const will = `Its leagues start at ${body.schedule} (${body.time_zone}) from now on.`;
    return { method: 'PATCH', path: `seasons/${encodeURIComponent(name)}`, body, subject: name, will };
  };
  const done = () => {
    close();
    told(`The schedule of ${name} is changed.`);
  };
  show(
    dialogHead(`When ${name} is played`),
    changeForm(
      { key: 'schedule', button: 'Change the schedule', read, done },
      scheduleFields({ schedule: schedule ?? '', zone, required: true }),
    ),
  );
}
