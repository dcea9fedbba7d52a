// The page as a whole: which page is shown, when it is fetched again, what stands in its head, and what is said when the
// manager cannot be reached.

import { ask, Refused, Unreachable } from './api.js';
import { el, svg, update } from './dom.js';
import { listen } from './live.js';
import { know, openPanel, tokenForm } from './orders.js';
import { head, link, phase, phaseName, progress } from './parts.js';
import { clock, left, number, plural, sentence } from './words.js';
import * as overview from './page-overview.js';
import * as rounds from './page-rounds.js';
import * as cross from './page-cross.js';
import * as player from './page-player.js';
import * as match from './page-match.js';
import * as messages from './page-messages.js';
import * as referees from './page-referees.js';

const PAGES = { '': overview, rounds, cross, players: player, matches: match, messages, referees };
const NAV = [
  ['', 'Standings', 'M4 20V10h4v10M10 20V4h4v16M16 20v-7h4v7'],
  ['rounds', 'Rounds', 'M4 5h16v15H4zM4 10h16M9 3v4M15 3v4'],
  ['cross', 'Cross table', 'M4 4h16v16H4zM4 9.3h16M4 14.6h16M9.3 4v16M14.6 4v16'],
  ['messages', 'Messages', 'M4 5h16v11H9l-5 4z'],
  ['referees', 'Referees', 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 4-6 8-6s8 2 8 6'],
];

const main = document.getElementById('main');
let league = null; // The last that was heard of it.
let shown = null; // What stands in `main`: its route, its page, what it remembers.
let stream = null;
let lastHeard = null;
let broken = false;

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
  const same = shown && shown.route.name === route.name && shown.route.id === route.id;
  shown = { route, page: PAGES[route.name] ?? null, memory: same ? shown.memory : {}, arrived: !same };
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
    league = await ask('league');
    heardFrom();
    if (!stream) follow();
    know(league, refresh);
    drawState();
    const context = { ...view.route, league, memory: view.memory, redraw: () => view === shown && draw(view), refresh };
    const data = view.page ? await view.page.load(ask, context) : null;
    view.content = () => (view.page ? view.page.view(data, context) : unknown(view.route));
    view.title = view.page?.title(data, context) ?? 'No such page';
  } catch (error) {
    if (error instanceof Unreachable) return lose();
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
  } else update(main, view.content());
  main.dataset.shown = view.route.hash || '#/';
  document.title = `${view.title} – ${league?.league_id ?? 'Matchday'}`;
  tick();
}

const unknown = (route) => [
  head('There is no such page'),
  el('p', {}, `Nothing stands at ${route.hash}. `, el('a', { href: '#/' }, 'To the standings')),
];

function refusal(error, route) {
  if (error.status === 401 || error.status === 403) {
    return [
      head('Shown to its operator alone'),
      el('div', { class: 'card narrow' }, el('p', {}, sentence(error.message)), tokenForm()),
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
    lost: lose,
  });
}

function heardFrom() {
  lastHeard = new Date();
  if (!broken) return;
  broken = false;
  document.getElementById('banner').hidden = true;
  announce('The manager is back');
}

/** Says that nobody answers, and since when; a page that has no stream tries again by itself. */
function lose(wait = 2000) {
  broken = true;
  const banner = document.getElementById('banner');
  const since = lastHeard ? ` What you see is from ${clock(lastHeard)}.` : '';
  update(
    banner,
    el(
      'p',
      {},
      el('b', {}, 'The manager cannot be reached.'),
      since,
      ` Trying again in ${left(wait)}. If it was stopped, start it again with the same command: the league goes on where it was.`,
    ),
    el('button', { type: 'button', onclick: () => (stream ? stream.again() : refresh()) }, 'Try now'),
  );
  banner.hidden = false;
  announce('The manager cannot be reached');
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

document.getElementById('operator').onclick = () => openPanel();
document.getElementById('skip').onclick = (event) => {
  event.preventDefault();
  main.focus();
};
addEventListener('hashchange', () => {
  navigate();
  if (shown.arrived) shown.moved = true;
});
setInterval(tick, 1000);
know(null, refresh);
navigate();
