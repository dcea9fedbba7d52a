// Asks the manager. The operator's token lives in this module's memory and nowhere else: not in the address, not in any
// storage; it is gone with the page.

let token = null;

export const hasToken = () => token !== null;
export const setToken = (text) => {
  token = text || null;
};

/** What the manager refused, in its own words. */
export class Refused extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}

export const headers = () => (token === null ? {} : { authorization: `Bearer ${token}` });

async function answer(path, options) {
  let response;
  try {
    response = await fetch(path, { cache: 'no-store', credentials: 'omit', ...options });
  } catch (error) {
    throw new Unreachable(error.message);
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body.error ?? `the manager answered ${response.status}`);
  return body;
}

/** `ask('rounds/3', { offset: 0 })`; empty values are left out. */
export function ask(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const tail = given.length ? `?${new URLSearchParams(given)}` : '';
  return answer(`api/${path}${tail}`, { headers: headers(), signal: AbortSignal.timeout(15000) });
}

/** The report of the league as a file; in the manager's words, why there is none. */
export async function report() {
  const response = await fetch('api/report', { headers: headers(), cache: 'no-store', credentials: 'omit' });
  if (response.ok) return response.blob();
  const { error } = await response.json().catch(() => ({}));
  throw new Refused(response.status, error ?? `the manager answered ${response.status}`);
}

/** Gives an order, and returns what the manager said to it. */
export async function order(what) {
  const told = await answer('api/orders', {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify(what),
  });
  return told.said;
}
