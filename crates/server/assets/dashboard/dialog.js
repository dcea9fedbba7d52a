// What the dialogs of an operator are made of.

import { el, update } from './dom.js';

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
