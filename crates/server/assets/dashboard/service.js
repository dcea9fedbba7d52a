// The pages of a service: its leagues and seasons, a season, and a player's career in it. What the viewer may see is asked of the
// API, with the service token if this tab has it.

import { ask, Refused, ROOT, Unreachable } from './api.js';
import { el, update } from './dom.js';
import { head } from './parts.js';
import { operatorButton } from './service-operator.js';
import { sentence } from './words.js';

const REFRESH_MS = 8000;
const main = document.getElementById('main');

const PAGES = {
  list: () => import('./service-list.js'),
  season: () => import('./service-season.js'),
};

/** `/seasons/NAME`, with `#/players/PLAYER`; everything else is the list. */
function routed() {
  const [, name] = location.pathname.slice(ROOT.length).match(/^seasons\/([^/]+)$/) ?? [];
  const [, player] = location.hash.match(/^#\/players\/(.+)$/) ?? [];
  return name
    ? { page: 'season', name: decodeURIComponent(name), player: player ? decodeURIComponent(player) : null }
    : { page: 'list', query: Object.fromEntries(new URLSearchParams(location.search)) };
}

const memory = {};
let latest = 0;

/** Fetches what is shown, and draws it; an answer that a later one has overtaken is dropped. */
export async function refresh() {
  const number = ++latest;
  const route = { ...routed(), memory, refresh };
  let shown;
  try {
    const page = await PAGES[route.page]();
    const data = await page.load(ask, route);
    shown = { title: page.title(data, route), content: page.view(data, route) };
  } catch (error) {
    shown = failed(error);
  }
  if (number !== latest) return;
  update(main, shown.content);
  main.dataset.shown = location.pathname.slice(ROOT.length - 1) + location.hash;
  document.title = `${shown.title} – Matchday`;
  operatorButton(refresh);
}

function failed(error) {
  if (error instanceof Unreachable && main.dataset.shown) {
    return {
      title: 'Not reached',
      content: [
        head('The service cannot be reached'),
        el('p', { key: 'why' }, 'This page continues when the service is back.'),
      ],
    };
  }
  if (!(error instanceof Refused) && !(error instanceof Unreachable)) console.error(error);
  const lost = error.status === 404 || error.status === 401;
  return {
    title: lost ? 'Not found' : 'Not shown',
    content: [
      head(lost ? 'There is nothing that you may see here' : 'This cannot be shown'),
      el('p', { key: 'why' }, sentence(error.message)),
      el('p', { key: 'back' }, el('a', { href: `${ROOT}leagues` }, 'To the leagues')),
    ],
  };
}

document.getElementById('skip').onclick = (event) => {
  event.preventDefault();
  main.focus();
};
addEventListener('hashchange', async () => {
  await refresh();
  scrollTo(0, 0);
  main.querySelector('h1')?.focus({ preventScroll: true });
});
addEventListener('popstate', refresh);
// A page that nobody looks at asks for nothing.
setInterval(() => document.hidden || document.querySelector('dialog[open]') || refresh(), REFRESH_MS);
document.addEventListener('visibilitychange', () => document.hidden || refresh());
refresh();
