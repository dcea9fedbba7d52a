// Every page is made of what the manager itself serves.

import assert from 'node:assert/strict';
import { go, PAGES, scenario } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  const asked = [];
  page.on('request', (request) => asked.push(request.url()));
  for (const hash of PAGES) await go(page, url, hash);
  assert.ok(asked.length > PAGES.length, 'something was asked for');
  assert.deepEqual(
    asked.filter((address) => !address.startsWith(url)),
    [],
  );
});
