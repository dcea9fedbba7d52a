// Asks before anything is changed.

import { el, update } from './dom.js';

/** Shows what would happen, and does it if that is wanted. */
export function confirmed({ name, subject, danger, will, act }) {
  const box = document.getElementById('confirm');
  const give = () => {
    box.close();
    act();
  };
  update(
    box,
    el('h2', { id: 'confirm-title' }, `${name}${subject ? `: ${subject}` : ''}?`),
    el('p', {}, will),
    el(
      'div',
      { class: 'dialog-foot' },
      el('button', { type: 'button', class: 'quiet', onclick: () => box.close() }, 'Cancel'),
      el('button', { type: 'button', class: danger ? 'danger' : '', onclick: give }, name),
    ),
  );
  box.showModal();
}
