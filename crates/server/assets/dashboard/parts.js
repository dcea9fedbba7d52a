// The small things that several pages show: names, badges, form, matches, commands.

import { el } from './dom.js';
import { following, link } from './follow.js';
import { MEANINGS } from './glossary.js';
import { duration, plural, sentence } from './words.js';

export { link };

const MARKS = ['●', '■', '▲', '◆'];
const HUES = 8;
const place = (id) => Math.max(1, Number.parseInt(/\d+/.exec(id)?.[0] ?? '1', 10)) - 1;

/** The number of the colour by which a player is known: the same in a terminal, in `badge.rs`. */
export const hue = (player) => place(player.id) % HUES;

const badge = (player) =>
  el(
    'i',
    { class: `badge hue-${hue(player)}`, 'aria-hidden': 'true' },
    MARKS[Math.floor(place(player.id) / HUES) % MARKS.length],
  );

/** A player's name as it gave it, kept from turning the direction of what stands beside it. */
export function who(player, { plain = false } = {}) {
  const title = player.strategy ? `${player.name} · ${player.strategy}` : player.name;
  const name = el('bdi', { class: 'name', title }, player.name || player.id);
  const strategy = player.strategy ? el('span', { class: 'strategy' }, '· ', el('bdi', {}, player.strategy)) : null;
  const id = player.name && player.name !== player.id ? el('span', { class: 'id' }, player.id) : null;
  const pin =
    following() === player.id ? el('span', { class: 'pin', role: 'img', 'aria-label': 'followed' }, '◆') : null;
  return plain
    ? el('span', { class: 'who' }, pin, badge(player), name, strategy, id)
    : el('a', { class: 'who', href: link('players', player.id) }, pin, badge(player), name, strategy, id);
}

const FORM = { W: 'won', D: 'drew', L: 'lost', T: 'lost for a technical reason' };

/** The last results, oldest first. */
export function form(letters) {
  if (!letters?.length) return el('span', { class: 'muted' }, '–');
  const said = letters.map((letter) => FORM[letter] ?? letter).join(', ');
  const marks = letters.map((letter) => el('i', { class: `mark mark-${letter}` }, letter));
  return el('span', { class: 'form', role: 'img', 'aria-label': `oldest first: ${said}` }, marks);
}

const PHASES = { registration: 'Registration', running: 'Running', paused: 'Paused', completed: 'Finished' };
export const phaseName = (phase) => PHASES[phase] ?? phase;
export const phase = (name) => el('span', { class: `pill phase-${name}` }, phaseName(name));

const STATES = { scheduled: 'Scheduled', assigned: 'Given to a referee', playing: 'Playing', decided: 'Decided' };

/** Where a match stands. */
export function matchState(match) {
  const technical = match.status === 'TECHNICAL_LOSS';
  const words = technical ? 'Technical loss' : match.status === 'DRAW' ? 'Drawn' : (STATES[match.state] ?? match.state);
  return el('span', { class: `pill state-${technical ? 'technical' : match.state}`, title: meaning(words) }, words);
}

/** One match in a list. */
function matchRow(match) {
  const side = (player) => {
    const won = match.winner === player.id;
    const lost = match.winner && !won;
    return el(
      'span',
      { class: `side${won ? ' won' : ''}${lost ? ' lost' : ''}` },
      who(player),
      won ? el('span', { class: 'unseen' }, ' won') : null,
    );
  };
  const points = (player) => match.score?.[player.id] ?? '–';
  const score = match.state === 'decided' ? `${points(match.a)} : ${points(match.b)}` : '– : –';
  const notes = [
    match.referee ? `by ${match.referee}` : null,
    match.attempts > 1 ? `attempt ${match.attempts}` : null,
    match.took_ms !== undefined && match.took_ms !== null ? duration(match.took_ms) : null,
  ].filter(Boolean);
  return el(
    'li',
    {
      class: `match${following() && [match.a.id, match.b.id].includes(following()) ? ' followed' : ''}`,
      key: match.id,
    },
    el('a', { class: 'match-id', href: link('matches', match.id) }, match.id),
    el(
      'span',
      { class: 'sides' },
      side(match.a),
      el(
        'span',
        { class: 'score', 'aria-label': match.state === 'decided' ? `points ${score}` : 'not decided' },
        score,
      ),
      side(match.b),
    ),
    el('span', { class: 'match-notes muted' }, notes.join(' · ')),
    matchState(match),
  );
}

export const matchList = (matches) => el('ul', { class: 'matches' }, matches.map(matchRow));

const LONGEST_WORD = 36;

/** A line that is broken between its words alone; an address may be broken anywhere. */
const unbroken = (line) =>
  line
    .split(/( )/)
    .map((word) => (/^\S+$/.test(word) && word.length <= LONGEST_WORD ? el('span', { class: 'word' }, word) : word));

/** A command to be typed, with a button that copies it. */
export function command(line) {
  const copy = (event) => {
    const button = event.currentTarget;
    navigator.clipboard?.writeText(line).then(
      () => {
        button.textContent = 'Copied';
      },
      () => {
        button.textContent = 'Not allowed';
      },
    );
  };
  return el(
    'div',
    { class: 'command' },
    el('code', {}, unbroken(line)),
    navigator.clipboard
      ? el('button', { type: 'button', class: 'small', onclick: copy, 'aria-label': `Copy ${line}` }, 'Copy')
      : null,
  );
}

/** What to do next. */
export function next(steps) {
  if (!steps?.length) return null;
  return el(
    'section',
    { class: 'card', key: 'next', 'aria-labelledby': 'next-title' },
    el('h2', { id: 'next-title' }, 'What to do next'),
    el(
      'ol',
      { class: 'next' },
      steps.map((step) => el('li', {}, el('p', {}, sentence(step.text)), step.command ? command(step.command) : null)),
    ),
  );
}

/** What a label means, if the glossary has it. */
export function meaning(label) {
  const word = label
    .toLowerCase()
    .replace(/^95 % /, '')
    .replace(/ \(.*/, '');
  return MEANINGS[word] ?? MEANINGS[word.replace(/(?:es|s)$/, '')];
}

/** A label that says what it means when it is pointed at or has the focus. */
export const term = (label) =>
  meaning(label) ? el('abbr', { class: 'term', tabindex: 0, title: meaning(label) }, label) : label;

/** A figure with its name under it. */
export const figure = (value, name) => el('div', { class: 'figure' }, el('dt', {}, term(name)), el('dd', {}, value));

export const figures = (...list) => el('dl', { class: 'figures' }, list);

/** A page's head: what it is, and a line about it. */
export const head = (title, ...under) =>
  el('div', { class: 'head', key: 'head' }, el('h1', { tabindex: -1 }, title), under);

/** A field that narrows a list to what holds its words; they are kept in `memory.search`. */
export const searchField = (label, memory, redraw) =>
  el('input', {
    type: 'search',
    placeholder: label,
    'aria-label': label,
    value: memory.search ?? '',
    oninput: (event) => {
      memory.search = event.target.value;
      redraw();
    },
  });

export const empty = (...words) => el('p', { class: 'empty' }, ...words);

/** Done out of all, as a bar. */
export function progress(done, all, label) {
  const part = all ? Math.min(1, done / all) : 0;
  return el(
    'div',
    {
      class: 'progress',
      role: 'progressbar',
      'aria-label': label,
      'aria-valuemin': 0,
      'aria-valuemax': all || 1,
      'aria-valuenow': done,
      'aria-valuetext': all ? `${done} of ${plural(all, 'match', 'matches')}` : 'nothing yet',
    },
    el('i', { style: { width: `${part * 100}%` } }),
  );
}

/** Counts down to a time; `app.js` lets it tick. */
export const countdown = (at) => el('time', { class: 'countdown', datetime: at, 'data-until': at });

/** From this to that of so many, with links to what is before and after. */
export function pager(offset, limit, total, to) {
  if (total <= limit) return null;
  const last = Math.min(total, offset + limit);
  return el(
    'nav',
    { class: 'pager', 'aria-label': 'Parts of the list' },
    offset > 0 ? el('a', { class: 'button', href: to(Math.max(0, offset - limit)) }, 'Before') : null,
    el('span', { class: 'muted' }, `${offset + 1} to ${last} of ${total}`),
    last < total ? el('a', { class: 'button', href: to(offset + limit) }, 'After') : null,
  );
}
