// Search, sort, follow, shortcuts and downloads.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { go, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/');
  const names = () => page.locator('.standings tbody:not(.pinned-rows) .row .name').allTextContents();
  const ranked = await names();
  assert.equal(ranked.length, 4);

  await page.keyboard.press('/');
  await page.keyboard.type('clio');
  await page.waitForFunction(() => document.querySelectorAll('.standings .row').length === 1);
  assert.deepEqual(await names(), ['Clio']);
  await page.getByRole('searchbox').fill('');

  const losses = () =>
    page.locator('.standings .row').evaluateAll((rows) => rows.map((row) => Number(row.cells[6].textContent)));
  await page.getByRole('button', { name: 'L: Lost', exact: true }).click();
  const sorted = await losses();
  assert.deepEqual(
    sorted,
    [...sorted].sort((a, b) => b - a),
  );
  assert.equal(await page.locator('th[aria-sort=descending]').textContent(), 'L');
  await page.getByRole('button', { name: 'L: Lost', exact: true }).click();
  await page.getByRole('button', { name: 'L: Lost', exact: true }).click();
  assert.deepEqual(await names(), ranked, 'the third click brings the ranks back');

  await page.getByRole('link', { name: 'Follow Clio' }).click();
  await page.locator('.pinned-rows').getByText('Clio').waitFor();
  assert.match(page.url(), /follow=P03/);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rounds' }).click();
  // The page before has a search field and followed matches too.
  await page.waitForSelector('main[data-shown^="#/rounds"]');
  await page.locator('.match.followed').first().waitFor();
  assert.match(page.url(), /#\/rounds\?follow=P03/, 'the followed player stays in the address');

  await page.getByRole('searchbox').fill('clio');
  await page.waitForFunction(() => document.querySelectorAll('.match').length === 1);
  assert.match(await page.locator('.match').textContent(), /Clio/);

  await page.locator('h1').focus();
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  assert.match(await help.textContent(), /Wall mode/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('p');
  await page.getByRole('heading', { name: 'Points race' }).waitFor();

  const saved = async (name, act) => {
    const [download] = await Promise.all([page.waitForEvent('download'), act()]);
    assert.match(download.suggestedFilename(), name);
    return readFile(await download.path());
  };
  const picture = await saved(/points-race\.svg/, () =>
    page.getByRole('button', { name: 'points-race as SVG' }).click(),
  );
  assert.match(picture.toString(), /^<svg .*stroke="rgb/s, 'it needs no style sheet');
  const bitmap = await saved(/points-race\.png/, () =>
    page.getByRole('button', { name: 'points-race as PNG' }).click(),
  );
  assert.deepEqual([...bitmap.subarray(1, 4)], [...Buffer.from('PNG')]);

  await go(page, url, '#/');
  const csv = await saved(/standings\.csv/, () => page.getByRole('button', { name: 'Save the table as CSV' }).click());
  assert.equal(csv.toString().trim().split('\r\n').length, 5);
  assert.match(csv.toString(), /'=1\+1/, 'a name that begins like a formula is text');
  const report = await saved(/\.html/, () => page.getByRole('button', { name: 'Save the Report' }).click());
  assert.match(report.toString(), /^<!DOCTYPE html>/);
});
