// Everything in the navigation is reached by the tabulator and opened by the enter key; the first stop skips it all.

import assert from 'node:assert/strict';
import { go, scenario, shown } from './browser.mjs';

const here = () => document.activeElement.textContent.trim();

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const stops = [];
  for (let step = 0; step < 10; step += 1) {
    await page.keyboard.press('Tab');
    stops.push(await page.evaluate(here));
    const seen = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== 'none');
    assert.ok(seen, `it can be seen that the focus is on ${stops.at(-1)}`);
  }
  assert.deepEqual(stops, [
    'Skip to the content',
    'Matchday',
    '?',
    'Operator',
    'Standings',
    'Rounds',
    'Cross table',
    'Charts',
    'Messages',
    'Referees',
  ]);

  for (const [name, hash] of [
    ['Rounds', '#/rounds'],
    ['Cross table', '#/cross'],
    ['Messages', '#/messages'],
    ['Referees', '#/referees'],
  ]) {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).focus();
    await page.keyboard.press('Enter');
    await shown(page, hash);
    assert.equal(
      await page.evaluate(() => document.activeElement.tagName),
      'H1',
      `a reader begins at the head of ${hash}`,
    );
  }

  await page.locator('#skip').focus();
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');

  // The cells of the cross table are one stop, and the arrows go from one to the next.
  await go(page, url, '#/cross');
  assert.equal(await page.locator('.cross td a[tabindex="0"]').count(), 1);
  await page.locator('.cross td a[tabindex="0"]').focus();
  const before = await page.evaluate(() => document.activeElement.dataset.at);
  await page.keyboard.press('ArrowRight');
  const after = await page.evaluate(() => document.activeElement.dataset.at);
  assert.ok(after && after !== before, 'an arrow goes to another cell');
});
