// What the dialogs of an operator are made of.

import { change } from './api.js';
import { confirmed } from './confirm.js';
import { el, update } from './dom.js';
import { sentence } from './words.js';

const panel = () => document.getElementById('panel');

/** Shows this in the dialog, and opens it if it is not. */
export function show(...content) {
  update(panel(), content);
  if (!panel().open) panel().showModal();
}

export const close = () => panel().close();

export const dialogHead = (title) =>
  el(
    'div',
    { class: 'dialog-head', key: 'head' },
    el('h2', { id: 'panel-title' }, title),
    el('button', { type: 'button', class: 'quiet', onclick: close }, 'Close'),
  );

/** A field with its name above it, and a line about it below. */
export const field = (label, about, input) => el('label', {}, label, input, about ? el('span', { class: 'about' }, about) : null);

export const text = (name, attributes) => el('input', { name, autocomplete: 'off', spellcheck: 'false', ...attributes });

/** What belongs together, under a heading. */
export const group = (title, ...content) =>
  el('section', { class: 'order-group', key: title }, el('h3', {}, title), content);

/** Where the answer of a form stands. */
export const answerLine = () => el('p', { role: 'status', class: 'answer refused' });

/** A form whose change is confirmed first. `read` makes of its values what is asked and sent; what it throws, and a refusal, stand in the
 * form. `done` is told what was answered. */
export function changeForm({ key, button, read, done }, ...fields) {
  const submit = (event) => {
    event.preventDefault();
    const { elements } = event.target;
    const answer = event.target.querySelector('[role=status]');
    const refused = (error) => (answer.textContent = sentence(error.message));
    answer.textContent = '';
    let wanted;
    try {
      wanted = read((name) => elements.namedItem(name)?.value.trim() ?? '');
    } catch (error) {
      refused(error);
      return;
    }
    const { method, path, body, name = button, subject, will } = wanted;
    const act = () => change(method, path, body).then(done).catch(refused);
    confirmed({ name, subject, will, act });
  };
  return el('form', { key, class: 'form-row', onsubmit: submit }, fields, answerLine(), el('button', { type: 'submit' }, button));
}

/** `key = value`, one a line. */
export function settingsOf(lines) {
  return Object.fromEntries(
    lines
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => {
        const [, key, value] = line.match(/^([\w-]+)\s*=\s*"?(.*?)"?$/) ?? [];
        if (!key) throw new Error(`a setting is written as key = value, and this is not: ${line}`);
        return [key, value];
      }),
  );
}

/** When the leagues of a season start. */
export const scheduleFields = ({ schedule = '', zone, about = '', required = false }) => [
  field(
    'Start of each league',
    `Minute, hour, day, month and weekday as in a crontab, such as 0 20 * * mon${about}`,
    text('schedule', { required, value: schedule, placeholder: '0 20 * * mon' }),
  ),
  field('Time zone', null, text('time_zone', { required, value: zone })),
];
