// Asks the manager, or the service whose page this is. The operator's token is kept for this tab: pages of a service follow one
// another, and closing the tab ends it. It stands in no address, no cookie and no other storage.

/** Where these files lie: the address of the league, or of the service. */
export const ROOT = new URL('..', import.meta.url).pathname;

const kind = document.documentElement.dataset.page ?? 'league';
const place = (what, root) => `matchday ${what} ${root}`;
let token = null;
try {
  token = sessionStorage.getItem(place(kind, ROOT));
} catch {
  // A browser that keeps nothing: the token is gone with the page.
}

function keep(at, text) {
  try {
    if (text) sessionStorage.setItem(at, text);
    else sessionStorage.removeItem(at);
  } catch {
    // As above.
  }
}

export const hasToken = () => token !== null;
export const setToken = (text) => {
  token = text || null;
  keep(place(kind, ROOT), token);
};

/** Keeps the operator token of a league of this service, for its page in this tab. */
export const keepTokenOf = (league, text) => keep(place('league', `${ROOT}leagues/${league}/`), text);

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
  return answer(`${ROOT}api/${path}${tail}`, { headers: headers(), signal: AbortSignal.timeout(15000) });
}

/** The report of the league as a file; in the manager's words, why there is none. */
export async function report() {
  const response = await fetch(`${ROOT}api/report`, { headers: headers(), cache: 'no-store', credentials: 'omit' });
  if (response.ok) return response.blob();
  const { error } = await response.json().catch(() => ({}));
  throw new Refused(response.status, error ?? `the manager answered ${response.status}`);
}

/** Has something changed: an order to the manager, or a change of the service. */
export const change = (method, path, body) =>
  answer(`${ROOT}api/${path}`, {
    method,
    headers: { ...headers(), ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : undefined,
  });
