// One round: its matches as they go through their states, and the way to every other round.

import { bracket, isKnockout, loadBracket } from './bracket.js';
import { el } from './dom.js';
import { countdown, empty, head, link, matchList, pager, searchField, who } from './parts.js';
import { plural } from './words.js';

export const topics = ['rounds'];
export const title = (data) => (data.round ? `Round ${data.round.round}` : 'Rounds');

const LIMIT = 100;

export async function load(ask, { id, query, league, memory }) {
  const { rounds } = await ask('rounds');
  const which = id ?? league.round?.current ?? rounds[0]?.round;
  const offset = Number(query.offset ?? 0);
  const round =
    which && rounds.length ? await ask(`rounds/${encodeURIComponent(which)}`, { offset, limit: LIMIT }) : null;
  const knockout = !id && isKnockout(league) ? await loadBracket(ask, rounds, memory) : [];
  return { rounds, round, offset, knockout };
}

const STATES = { scheduled: 'Not announced yet', announced: 'Announced', running: 'Being played', completed: 'Over' };

const TECHNICAL = 'technical';

/** Whether a match is of a player that is searched for; `technical` finds technical losses. */
function fits(match, words) {
  const technical = match.status === 'TECHNICAL_LOSS' ? TECHNICAL : '';
  const told = [match.id, match.a.name, match.a.id, match.b.name, match.b.id, match.state, technical];
  return told.join(' ').toLowerCase().includes(words);
}

export function view({ rounds, round, offset, knockout }, { league, memory, redraw }) {
  if (!round) return [head('Rounds'), empty('The rounds are scheduled when the league starts.')];
  const decided = rounds.find((one) => one.round === round.round);
  return [
    head(
      round.title ? `Round ${round.round}: ${round.title}` : `Round ${round.round}`,
      el(
        'p',
        { class: 'muted' },
        STATES[round.state] ?? round.state,
        decided ? `, ${decided.decided} of ${plural(decided.total, 'match', 'matches')} decided` : null,
        decided?.technical ? `, ${decided.technical} by technical loss` : null,
        round.starts_at && round.state === 'announced' ? [', starts ', countdown(round.starts_at)] : null,
      ),
    ),
    strip(rounds, round.round),
    bracket(knockout, league),
    round.bye?.length
      ? el(
          'p',
          { key: 'bye', class: 'bye' },
          'Has no match in this round: ',
          round.bye.map((player) => [who(player), ' ']),
        )
      : null,
    el(
      'section',
      { class: 'card flush', key: 'list', 'aria-label': 'Matches' },
      round.matches.length
        ? [
            el('div', { class: 'tools' }, searchField('Player, playing, technical', memory, redraw)),
            found(round, memory),
          ]
        : empty('This round has no matches.'),
    ),
    pager(offset, LIMIT, round.total, (to) => link('rounds', round.round, { offset: to })),
  ];
}

function found(round, memory) {
  const words = (memory.search ?? '').trim().toLowerCase();
  const matches = round.matches.filter((match) => fits(match, words));
  return matches.length ? matchList(matches) : empty(`No match of this round contains “${memory.search}”.`);
}

function strip(rounds, here) {
  return el(
    'nav',
    { class: 'strip', 'aria-label': 'Rounds', key: 'strip' },
    el(
      'ol',
      {},
      rounds.map((one) =>
        el(
          'li',
          { key: one.round },
          el(
            'a',
            {
              href: link('rounds', one.round),
              class: `chip ${one.state}`,
              'aria-current': one.round === here ? 'page' : null,
              'aria-label': `Round ${one.round}${one.title ? `, ${one.title}` : ''}, ${one.decided} of ${one.total} decided`,
              title: `${one.title ? `${one.title}: ` : ''}${one.decided} of ${one.total} decided`,
            },
            el('i', { style: { height: `${one.total ? (one.decided / one.total) * 100 : 0}%` } }),
            el('span', {}, one.round),
          ),
        ),
      ),
    ),
  );
}
