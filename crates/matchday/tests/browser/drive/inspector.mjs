// The message inspector finds messages by type, agent and conversation, page by page, and shows what is kept of them.

import assert from 'node:assert/strict';
import { go, scenario, shown } from './browser.mjs';

await scenario(async ({ url, visit }) => {
  const page = await visit();
  await go(page, url, '#/messages');
  const rows = page.locator('.exchanges summary');
  assert.ok((await rows.count()) > 10, 'a page of messages');
  const newest = await rows.first().textContent();
  await page.getByRole('link', { name: 'Older' }).click();
  await page.getByRole('link', { name: 'To the newest' }).waitFor();
  assert.notEqual(await rows.first().textContent(), newest);

  await go(page, url, '#/messages');
  await page.getByLabel('Type').selectOption('ROUND_ANNOUNCEMENT');
  await shown(page, '#/messages?type=ROUND_ANNOUNCEMENT');
  const types = await page.locator('.exchanges summary .what b').allTextContents();
  assert.ok(types.length > 0 && types.every((type) => type === 'ROUND_ANNOUNCEMENT'), types.join(' '));

  await page.getByLabel('Agent').selectOption('P01');
  await shown(page, '#/messages?type=ROUND_ANNOUNCEMENT&agent=P01');
  const few = await page.locator('.exchanges summary .what').allTextContents();
  assert.ok(few.length > 0 && few.length < types.length && few.every((row) => row.includes('P01')), few.join(' '));

  await rows.first().click();
  const body = page.locator('.exchanges details[open] pre').first();
  await body.waitFor();
  assert.match(await body.textContent(), /"message_type": ?"ROUND_ANNOUNCEMENT"/);
  // Of a message as long as this the store keeps the beginning, and the page says so.
  await page.locator('.exchanges details[open]').getByText('Only its beginning is kept').waitFor();
  await page
    .locator('.exchanges details[open]')
    .getByRole('link', { name: /^conv-/ })
    .click();
  await page.waitForFunction(() =>
    document.querySelector('main').dataset.shown.startsWith('#/messages?conversation_id='),
  );
  const together = await page.locator('.exchanges summary .what').allTextContents();
  assert.ok(together.length > 1 && together.some((row) => row.includes('P02')), 'the others of the conversation');

  await page.getByLabel('Conversation').fill('there is no such conversation');
  await page.keyboard.press('Enter');
  await page.getByText('No message matches the filter').waitFor();
  await page.locator('main').getByRole('link', { name: 'Show all' }).first().click();
  await shown(page, '#/messages');
});
