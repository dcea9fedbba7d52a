// The page as a whole: which page is shown, when it is fetched again, what stands in its head, and what is said when the
// manager cannot be reached.

import { ask, Refused, ROOT, setToken, Unreachable } from './api.js';
import { el, svg, update } from './dom.js';
import { glide, places } from './flip.js';
import { followFrom, link } from './follow.js';
import { listenForKeys, openHelp } from './keys.js';
import { listen } from './live.js';
import { head, phase, phaseName, progress } from './parts.js';
import { clock, left, number, plural, sentence } from './words.js';

// The operator's panel: fetched when it is first needed.
let orders = null;
const loadOrders = async () => {
  orders ??= await import('./orders.js');
  orders.know(league, refresh);
  return orders;
};
const withOrders = (page) => Promise.all([page, loadOrders()]).then(([module]) => module);

// A page's module is fetched when the page is first shown.
const PAGES = {
  '': () => import('./page-overview.js'),
  rounds: () => import('./page-rounds.js'),
  cross: () => import('./page-cross.js'),
  charts: () => import('./page-charts.js'),
  players: () => withOrders(import('./page-player.js')),
  matches: () => withOrders(import('./page-match.js')),
  messages: () => import('./page-messages.js'),
  referees: () => import('./page-referees.js'),
  wall: () => import('./page-wall.js'),
};
// What glides to its new place when the table changes.
const GLIDING = '.standings .row, .wall-row';
const NAV = [
  ['', 'Standings', 'M4 20V10h4v10M10 20V4h4v16M16 20v-7h4v7'],
  ['rounds', 'Rounds', 'M4 5h16v15H4zM4 10h16M9 3v4M15 3v4'],
  ['cross', 'Cross table', 'M4 4h16v16H4zM4 9.3h16M4 14.6h16M9.3 4v16M14.6 4v16'],
  ['charts', 'Charts', 'M4 20V4M4 20h16M7 15l4-5 3 3 5-7'],
  ['messages', 'Messages', 'M4 5h16v11H9l-5 4z'],
  ['referees', 'Referees', 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6'],
];

const main = document.getElementById('main');
let league = null; // The last that was heard of it.
let shown = null; // What stands in `main`: its route, its page, what it remembers.
let stream = null;
let lastHeard = null;
let broken = false;
let ended = false; // The manager has said that it stops.

function routed() {
  const [path, query] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...rest] = path.split('/').map(decodeURIComponent);
  return {
    hash: location.hash,
    name,
    id: rest.join('/') || null,
    query: Object.fromEntries(new URLSearchParams(query ?? '')),
  };
}

function navigate() {
  if (location.hash && !location.hash.startsWith('#/')) return;
  const route = routed();
  followFrom(route.query);
  const same = shown && shown.route.name === route.name && shown.route.id === route.id;
  shown = { route, page: same ? shown.page : null, memory: same ? shown.memory : {}, arrived: !same };
  document.body.classList.toggle('is-wall', route.name === 'wall');
  drawNav();
  refresh();
}

let running = false;
let wanted = false;
let lastRun = 0;

/** Fetches what is shown, one at a time and not more often than the page bears. */
async function refresh() {
  wanted = true;
  if (running) return;
  running = true;
  while (wanted) {
    const pace = shown.arrived ? 0 : (shown.page?.pace ?? 300);
    const early = pace - (performance.now() - lastRun);
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    wanted = false;
    lastRun = performance.now();
    await fetchAndDraw(shown);
  }
  running = false;
}

async function fetchAndDraw(view) {
  try {
    const [told, page] = await Promise.all([ask('league'), PAGES[view.route.name]?.()]);
    league = told;
    view.page = page ?? null;
    heardFrom();
    if (!stream) follow();
    orders?.know(league, refresh);
    drawState();
    const context = { ...view.route, league, memory: view.memory, redraw: () => view === shown && draw(view), refresh };
    const data = view.page ? await view.page.load(ask, context) : null;
    view.content = () => (view.page ? view.page.view(data, context) : unknown(view.route));
    view.title = view.page?.title(data, context) ?? 'No such page';
  } catch (error) {
    if (error instanceof Unreachable) return lose();
    if (error.status === 401 || error.status === 403) await loadOrders();
    view.content = () => refusal(error, view.route);
    view.title = 'Not shown';
    if (!(error instanceof Refused)) console.error(error);
  }
  if (view === shown) draw(view);
}

function draw(view) {
  if (view.arrived) {
    main.replaceChildren(...[view.content()].flat(Infinity).filter(Boolean));
    window.scrollTo(0, 0);
    main.querySelector('.strip [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
    if (view.moved) main.querySelector('h1')?.focus({ preventScroll: true });
    view.arrived = false;
  } else {
    const before = places(main, GLIDING);
    update(main, view.content());
    glide(main, GLIDING, before);
  }
  main.dataset.shown = view.route.hash || '#/';
  document.title = `${view.title} – ${league?.league_id ?? 'Matchday'}`;
  tick();
}

const unknown = (route) => [
  head('There is no such page'),
  el('p', {}, `There is nothing at ${route.hash}. `, el('a', { href: link('') }, 'To the standings')),
];

function refusal(error, route) {
  if (error.status === 401 || error.status === 403) {
    // A token that has been replaced is worth nothing, and would be counted as a guess each time.
    setToken(null);
    return [
      head('Shown to its operator alone'),
      el('div', { class: 'card narrow' }, el('p', {}, sentence(error.message)), orders.tokenForm()),
    ];
  }
  const title = error.status === 404 ? `There is no ${route.id ?? 'such page'}` : 'This cannot be shown';
  return [head(title), el('p', {}, sentence(error.message)), el('p', {}, el('a', { href: '#/' }, 'To the standings'))];
}

// The head.

function drawNav() {
  const here = { players: '', matches: 'rounds' }[shown.route.name] ?? shown.route.name;
  update(
    document.getElementById('nav'),
    el(
      'ul',
      {},
      NAV.map(([name, title, path]) =>
        el(
          'li',
          { key: name },
          el(
            'a',
            { href: link(name), 'aria-current': name === here ? 'page' : null },
            svg('svg', { viewBox: '0 0 24 24', 'aria-hidden': 'true' }, svg('path', { d: path })),
            el('span', {}, title),
          ),
        ),
      ),
    ),
  );
}

function stateWords() {
  const { round, matches } = league;
  if (league.phase === 'registration')
    return `${plural(league.players, 'player')} and ${plural(league.referees, 'referee')} registered`;
  const which = round?.total ? `round ${round.current} of ${round.total}` : `round ${round?.current ?? 1}`;
  const decided = `${number(matches.decided)}${matches.total ? ` of ${number(matches.total)}` : ''} ${(matches.total ?? matches.decided) === 1 ? 'match' : 'matches'} decided`;
  return league.phase === 'completed'
    ? decided
    : `${which}, ${decided}${matches.playing ? `, ${matches.playing} playing` : ''}`;
}

function drawState() {
  // Of a service: the way to the others.
  const others = document.getElementById('others');
  others.hidden = !league.in_service;
  others.href = `${ROOT.replace(/leagues\/[^/]+\/$/, '')}leagues`;
  // A stored league takes no orders.
  document.getElementById('operator').hidden = league.live === false;
  const { matches } = league;
  update(
    document.getElementById('state'),
    el(
      'p',
      {},
      el('b', {}, el('bdi', {}, league.league_id)),
      ' ',
      phase(league.phase),
      league.live === false ? el('span', { class: 'pill' }, 'Stored') : null,
    ),
    el('p', { class: 'muted' }, stateWords()),
    matches.total ? progress(matches.decided, matches.total, 'Matches decided') : null,
  );
  announce(
    `${phaseName(league.phase)}${league.phase === 'running' && league.round?.current ? `, round ${league.round.current}` : ''}`,
  );
}

function announce(words) {
  const line = document.getElementById('said');
  if (line.textContent !== words) line.textContent = words;
}

// Being live.

function follow() {
  stream = listen({
    heard(change) {
      heardFrom();
      const topics = shown.page?.topics ?? [];
      if (!change.topics || change.topics.includes('league') || change.topics.some((topic) => topics.includes(topic)))
        refresh();
    },
    found: () => broken && refresh(),
    end() {
      ended = true;
    },
    lost: lose,
  });
}

function heardFrom() {
  lastHeard = new Date();
  ended = false;
  if (!broken) return;
  broken = false;
  document.getElementById('banner').hidden = true;
  announce('The manager is back');
}

/** Why nobody answers: the league is over, its manager was stopped, or it cannot be reached. */
function absence(wait) {
  const since = lastHeard ? ` What you see is from ${clock(lastHeard)}.` : '';
  if (league?.phase === 'completed')
    return ['The league is over, and its manager has stopped.', ' What you see is the final state.'];
  if (ended) return ['The manager was stopped.', `${since} This page continues when the manager is started again.`];
  return ['The manager cannot be reached.', `${since} Trying again in ${left(wait)}.`];
}

/** Says that nobody answers, and since when; a page that has no stream tries again by itself. */
function lose(wait = 2000) {
  broken = true;
  const banner = document.getElementById('banner');
  const [what, more] = absence(wait);
  update(
    banner,
    el('p', {}, el('b', {}, what), more),
    el('button', { type: 'button', onclick: () => (stream ? stream.again() : refresh()) }, 'Try now'),
  );
  banner.hidden = false;
  announce(what);
  if (!stream) setTimeout(refresh, wait);
}

function tick() {
  const skew = league ? Date.parse(league.now) - lastHeard : 0;
  for (const node of document.querySelectorAll('[data-until]')) {
    const remaining = Date.parse(node.dataset.until) - (Date.now() + skew);
    const words = remaining > 0 ? `in ${left(remaining)}` : 'now';
    if (node.textContent !== words) node.textContent = words;
  }
}

document.getElementById('operator').onclick = async () => (await loadOrders()).openPanel();
document.getElementById('keys').onclick = () => openHelp();
document.getElementById('skip').onclick = (event) => {
  event.preventDefault();
  main.focus();
};
addEventListener('hashchange', () => {
  navigate();
  if (shown.arrived) shown.moved = true;
});
// Folded sections are printed too.
addEventListener('beforeprint', () => {
  for (const details of document.querySelectorAll('main details:not([open])')) {
    details.open = true;
    details.dataset.folded = '';
  }
});
addEventListener('afterprint', () => {
  for (const details of document.querySelectorAll('main details[data-folded]')) {
    details.open = false;
    delete details.dataset.folded;
  }
});
listenForKeys();
setInterval(tick, 1000);
navigate();
