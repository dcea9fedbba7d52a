// Rows glide to their new places, and stand still for readers who want no motion.

import assert from 'node:assert/strict';
import { go, scenario } from './browser.mjs';

const swap = async () => {
  const { places, glide } = await import('./assets/flip.js');
  const list = document.querySelector('.standings tbody');
  const before = places(list, '.row');
  list.prepend(list.querySelectorAll('.row')[1]);
  glide(list, '.row', before);
  return list.getAnimations({ subtree: true }).length;
};

await scenario(async ({ url, visit }) => {
  const moving = await visit({ reducedMotion: 'no-preference' });
  await go(moving, url, '#/');
  assert.equal(await moving.evaluate(swap), 2, 'two rows glide past each other');
  const still = await visit({ reducedMotion: 'reduce' });
  await go(still, url, '#/');
  assert.equal(await still.evaluate(swap), 0);
});
