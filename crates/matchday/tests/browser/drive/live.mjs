// The table changes while it is looked at, and the page is not loaded again for it.

import assert from 'node:assert/strict';
import { go, say, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  await page.waitForFunction(() => document.querySelectorAll('.joined li').length === 3);
  await page.evaluate(() => {
    window.mark = 'still the same page';
  });
  say('ready');

  await page.waitForFunction(() =>
    [...document.querySelectorAll('.standings td.points')].some((cell) => cell.textContent !== '0'),
  );
  await page.getByRole('heading', { name: 'The league is over' }).waitFor();
  assert.equal(await page.evaluate(() => window.mark), 'still the same page');
  assert.match(await page.locator('#said').textContent(), /Finished/);
});
