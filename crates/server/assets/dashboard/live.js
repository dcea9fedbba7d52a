// Listens for what changed. Reads the event stream with `fetch`, because the browser's own EventSource cannot carry the
// operator's token; comes back by itself, waiting longer each time.

import { headers } from './api.js';

const QUIET_MS = 40000; // The manager says something every 15 seconds, if only that it is there.
const POLL_MS = 5000; // How often to look, if the manager has no place for one more listener.
const WAITS_MS = [500, 1000, 2000, 4000, 8000, 15000];

/** `heard(change)` for each event, without topics if anything may have changed; `end()` when the manager says that it stops;
 * `lost(waitMs)` when the stream broke, `found()` when it stands again. */
export function listen({ heard, end, lost, found }) {
  let failures = 0;
  let wake = () => {};
  let current = null;

  async function once() {
    current = new AbortController();
    let silence = setTimeout(() => current.abort(), QUIET_MS);
    try {
      const response = await fetch('api/events', { headers: headers(), cache: 'no-store', signal: current.signal });
      failures = 0;
      found();
      if (!response.ok) {
        await rest(POLL_MS);
        heard({});
        return true;
      }
      for await (const event of events(response.body, () => {
        clearTimeout(silence);
        silence = setTimeout(() => current.abort(), QUIET_MS);
      })) {
        if (event.name === 'change') heard(JSON.parse(event.data));
        if (event.name === 'end') end();
      }
    } finally {
      clearTimeout(silence);
    }
    return false;
  }

  const rest = (ms) =>
    new Promise((resolve) => {
      wake = resolve;
      setTimeout(resolve, ms);
    });

  async function forever() {
    for (;;) {
      const again = await once().catch(() => false);
      if (again) continue;
      const wait = WAITS_MS[Math.min(failures, WAITS_MS.length - 1)];
      failures += 1;
      lost(wait);
      await rest(wait);
    }
  }

  forever();
  return {
    /** Try now. */
    again() {
      failures = 0;
      current?.abort();
      wake();
    },
  };
}

async function* events(body, sign) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    sign();
    text += value.replaceAll('\r', '');
    let end;
    while ((end = text.indexOf('\n\n')) >= 0) {
      yield parsed(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function parsed(block) {
  const event = { name: 'message', data: '' };
  for (const line of block.split('\n')) {
    const [, field, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === 'event') event.name = value;
    if (field === 'data') event.data += value;
  }
  return event;
}
