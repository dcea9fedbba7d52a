// Numbers and times as people read them.

// One formatter for all: making one for each number is what would make a large table slow.
const numbers = new Intl.NumberFormat('en');
export const number = (value) => (value < 1000 ? String(value) : numbers.format(value));

export const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** A sentence with the names of these players where their ids stand. */
export function withNames(text, players) {
  const names = new Map(players.map(({ id, name }) => [id, name]));
  return String(text).replace(/\bP\d+\b/g, (id) => names.get(id) || id);
}

/** What people call a game. */
export const gameName = (game) => (game === 'even_odd' ? 'even/odd' : String(game).replaceAll('_', ' '));

export const percent = (part) => `${Math.round(part * 100)} %`;

/** A duration. */
export function duration(ms) {
  if (ms === null || ms === undefined) return '–';
  if (ms < 10) return `${Number.isInteger(ms) ? ms : ms.toFixed(1)} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(ms < 9950 ? 1 : 0)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** A time as milliseconds, with the microseconds that `Date` drops. */
export const exact = (at) => Date.parse(at) + Number(`0.${/\.\d{3}(\d+)/.exec(at)?.[1] ?? 0}`);

/** How long until something, in whole seconds. */
export const left = (ms) => (ms > 59000 ? duration(ms) : `${Math.ceil(ms / 1000)} s`);

/** The time of day here, of a time in UTC. */
export const clock = (at) => new Date(at).toLocaleTimeString('en-GB');

/** The same, to the millisecond. */
export const instant = (at) => `${clock(at)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`;

/** Day and time here. */
export const moment = (at) =>
  new Date(at).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });

const time = (date) => date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/** When something is, as people here say it: "tonight 20:00", "tomorrow 09:30", "Friday 20:00", "2 March 20:00". */
export function when(at, now = new Date()) {
  const date = new Date(at);
  const midnight = (day) => new Date(day.getFullYear(), day.getMonth(), day.getDate());
  const days = Math.round((midnight(date) - midnight(now)) / 86400000);
  if (days === 0) return `${date.getHours() >= 18 ? 'tonight' : 'today'} ${time(date)}`;
  if (days === 1) return `tomorrow ${time(date)}`;
  if (days > 1 && days < 7) return `${date.toLocaleDateString('en-GB', { weekday: 'long' })} ${time(date)}`;
  const year = date.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' };
  return `${date.toLocaleDateString('en-GB', { day: 'numeric', month: 'long', ...year })} ${time(date)}`;
}

/** A time with its zone, for who points at the words. */
export const zoned = (at) => new Date(at).toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'long' });

/** `round_robin` as words. */
export const words = (name) => String(name).replaceAll('_', ' ');

/** A text that is JSON, one member a line; any other text as it is, and whether it is the beginning of one. */
export function pretty(text) {
  try {
    return { shown: JSON.stringify(JSON.parse(text), null, 2), cut: false };
  } catch {
    return { shown: text, cut: /^\s*[{[]/.test(text) };
  }
}

/** `wins` and the like of a record, said in full. */
export function record({ w, d, l, t }) {
  const played = [plural(w, 'win'), plural(d, 'draw'), plural(l, 'loss', 'losses')].join(', ');
  return t ? `${played}, ${t} of them technical` : played;
}

/** A sentence begins with a capital and ends with a stop. */
export function sentence(text) {
  const trimmed = String(text)
    .trim()
    .replace(/([.?!])\.+$/, '$1');
  if (!trimmed) return '';
  const begun = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
