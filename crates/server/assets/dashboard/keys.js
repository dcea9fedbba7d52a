// Keyboard shortcuts, and the help that lists them.

import { el, update } from './dom.js';
import { link } from './follow.js';

const SHORTCUTS = [
  ['s', 'Standings', () => go('')],
  ['r', 'Rounds', () => go('rounds')],
  ['c', 'Cross table', () => go('cross')],
  ['p', 'Charts', () => go('charts')],
  ['m', 'Messages', () => go('messages')],
  ['f', 'Wall mode, on and off', () => go(location.hash.startsWith('#/wall') ? '' : 'wall')],
  ['/', 'Search', () => document.querySelector('input[type=search]')?.focus()],
  ['?', 'This help', () => openHelp()],
];
const ELSEWHERE = [
  ['← →', 'In a match: one move back, one move on'],
  ['Home End', 'In a match: to the beginning, to the end'],
  ['Space', 'In a match: play and pause'],
  ['Esc', 'Close this, or leave wall mode'],
];

function go(page) {
  location.hash = link(page);
}

export function openHelp() {
  const dialog = document.getElementById('help');
  const row = ([key, words]) => [el('dt', {}, el('kbd', {}, key)), el('dd', {}, words)];
  update(
    dialog,
    el(
      'div',
      { class: 'dialog-head' },
      el('h2', { id: 'help-title' }, 'Keyboard shortcuts'),
      el('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Close'),
    ),
    el('dl', { class: 'shortcuts' }, SHORTCUTS.map(row), ELSEWHERE.map(row)),
  );
  dialog.showModal();
}

export function listenForKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target.closest?.('input, select, textarea, dialog')) return;
    if (event.key === 'Escape' && location.hash.startsWith('#/wall')) return go('');
    const found = SHORTCUTS.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
  });
}
