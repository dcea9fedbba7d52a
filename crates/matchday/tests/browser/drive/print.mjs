// What is folded in the report is printed.

import assert from 'node:assert/strict';
import { scenario } from './browser.mjs';

const seen = () => document.querySelector('#rounds details table').checkVisibility();

await scenario(async ({ url, visit }) => {
  const page = await visit();
  const report = await page.request.get(`${url}api/report`);
  await page.setContent(await report.text());
  assert.equal(await page.evaluate(seen), false, 'on the screen the rounds are folded');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.evaluate(seen), true);
});
