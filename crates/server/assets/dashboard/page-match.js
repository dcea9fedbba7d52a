// One match: who won and why, who is to blame if it was not played out, every message of it, and its draw.

import { el } from './dom.js';
import { possible, recomputed } from './draw.js';
import { openPanel } from './orders.js';
import { command, empty, head, link, matchState, who } from './parts.js';
import { replay } from './replay.js';
import { transcript } from './transcript.js';
import { duration, instant, moment, sentence, withNames } from './words.js';
import { waterfall } from './waterfall.js';

export const topics = ['rounds', 'messages', 'standings'];
export const title = (match) => match.id;

export async function load(ask, { id, league, memory }) {
  const match = await ask(`matches/${encodeURIComponent(id)}`);
  if (
    match.draw &&
    match.draw.secret &&
    league.game === 'even_odd' &&
    possible() &&
    memory.checked?.of !== match.draw.commitment
  ) {
    memory.checked = { of: match.draw.commitment, ...(await recomputed(league.league_id, match)) };
  }
  return match;
}

export function view(match, context) {
  const { league, memory, refresh } = context;
  // Moves of a match that is being played are no event of the manager's, so nothing announces them.
  if (match.state === 'playing' && match.positions && !memory.again)
    memory.again = setTimeout(() => {
      memory.again = null;
      refresh();
    }, 700);
  return [
    el(
      'div',
      { class: 'head', key: 'head' },
      el(
        'h1',
        { tabindex: -1, class: 'unseen' },
        `${match.id}: `,
        el('bdi', {}, match.a.name),
        ' against ',
        el('bdi', {}, match.b.name),
      ),
      el(
        'p',
        { class: 'muted' },
        match.id,
        ', ',
        el('a', { href: link('rounds', match.round) }, `round ${match.round}`),
        match.referee ? `, refereed by ${match.referee}` : null,
        match.attempts > 1 ? `, attempt ${match.attempts}` : null,
        match.decided_at ? `, decided ${moment(match.decided_at)}` : null,
        match.took_ms ? ` in ${duration(match.took_ms)}` : null,
      ),
      score(match),
      match.reason ? el('p', { class: 'reason' }, sentence(withNames(match.reason, [match.a, match.b]))) : null,
      match.proof === 'unproven'
        ? el('p', { class: 'refused' }, 'This result is unproven: the referee alone reports it, although a player has a key.')
        : null,
    ),
    blame(match),
    replay(match, context),
    transcript(match),
    match.withheld ? el('p', { class: 'note', key: 'withheld' }, sentence(match.withheld)) : null,
    el(
      'section',
      { class: 'card', key: 'messages', 'aria-labelledby': 'messages-title' },
      el('h2', { id: 'messages-title' }, 'Every message'),
      match.messages?.length
        ? waterfall(match.messages)
        : empty(
            match.withheld
              ? 'The messages are shown when the match is decided.'
              : 'No messages of it have been kept here.',
          ),
      match.missing ? el('p', { class: 'muted' }, sentence(match.missing)) : null,
    ),
    el('div', { class: 'cards', key: 'cards' }, story(match), moves(match), draw(match, memory)),
    league.operator && league.live !== false && match.state === 'decided'
      ? el(
          'p',
          { key: 'orders' },
          el(
            'button',
            { type: 'button', class: 'quiet', onclick: () => openPanel('void', match.id) },
            `Void ${match.id} …`,
          ),
        )
      : null,
  ];
}

function score(match) {
  const side = (player) =>
    el(
      'div',
      { class: `board-side${match.winner === player.id ? ' won' : ''}` },
      who(player),
      match.winner === player.id ? el('span', { class: 'pill win' }, 'won') : null,
    );
  const points = (player) => match.score?.[player.id] ?? '–';
  return el(
    'div',
    { class: 'board' },
    side(match.a),
    el(
      'div',
      { class: 'board-middle' },
      el(
        'span',
        { class: 'board-score', 'aria-label': `points ${points(match.a)} to ${points(match.b)}` },
        `${points(match.a)} : ${points(match.b)}`,
      ),
      matchState(match),
    ),
    side(match.b),
  );
}

const CULPRITS = {
  player: 'The player itself is to blame',
  opponent: 'The opponent is to blame',
  referee: 'The referee is to blame, and neither player',
  infrastructure: 'The network or the machine is to blame, and neither player',
};

function blame(match) {
  if (match.status !== 'TECHNICAL_LOSS' && !match.blame) return null;
  const loser = [match.a, match.b].find((player) => match.winner && player.id !== match.winner);
  return el(
    'section',
    { class: 'note bad', key: 'blame', 'aria-labelledby': 'blame-title' },
    el('h2', { id: 'blame-title' }, match.status === 'TECHNICAL_LOSS' ? 'A technical loss' : 'What went wrong'),
    el(
      'p',
      {},
      match.status !== 'TECHNICAL_LOSS'
        ? null
        : loser
          ? [who(loser), ' lost this match without its being played out. ']
          : 'Both players lost this match without its being played out. ',
      match.blame
        ? [el('b', {}, CULPRITS[match.blame.culprit] ?? match.blame.culprit), ': ', sentence(match.blame.cause)]
        : 'The referee did not say why.',
    ),
  );
}

function story(match) {
  if (!match.steps?.length) return null;
  return el(
    'section',
    { class: 'card', key: 'story' },
    el('h2', {}, 'Its story'),
    el(
      'ol',
      { class: 'story' },
      match.steps.map((step) =>
        el(
          'li',
          {},
          el('time', { datetime: step.at, title: moment(step.at) }, instant(step.at)),
          el('span', {}, step.text),
        ),
      ),
    ),
  );
}

function moves(match) {
  if (!match.moves?.length) return null;
  return el(
    'section',
    { class: 'card', key: 'moves' },
    el('h2', {}, 'Moves'),
    el(
      'div',
      { class: 'moves' },
      el(
        'table',
        {},
        el('caption', { class: 'unseen' }, 'Moves in order'),
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            ['Turn', 'Player', 'Move', 'Thought', 'Asked'].map((name) => el('th', { scope: 'col' }, name)),
          ),
        ),
        el(
          'tbody',
          {},
          match.moves.map((move) =>
            el(
              'tr',
              {},
              el('td', {}, el('a', { href: link('matches', match.id, { ply: move.turn }) }, move.turn)),
              el('td', {}, el('bdi', {}, [match.a, match.b].find((player) => player.id === move.player)?.name ?? move.player)),
              el('td', {}, el('bdi', {}, move.words)),
              el('td', {}, move.think_ms === undefined ? '–' : duration(move.think_ms)),
              el('td', {}, move.asked > 1 ? `${move.asked} times` : 'once'),
            ),
          ),
        ),
      ),
    ),
  );
}

function draw(match, memory) {
  const { draw: drawn } = match;
  if (!drawn) return null;
  const fact = (name, value) =>
    value ? [el('dt', {}, name), el('dd', {}, el('code', {}, el('bdi', {}, value)))] : null;
  const checked = memory.checked?.of === drawn.commitment ? memory.checked : null;
  return el(
    'section',
    { class: 'card', key: 'draw', 'aria-labelledby': 'draw-title' },
    el('h2', { id: 'draw-title' }, 'The number'),
    drawn.number !== undefined && drawn.number !== null
      ? el('p', { class: 'drawn' }, el('b', {}, drawn.number), ` ${drawn.parity ?? ''}`)
      : null,
    el(
      'p',
      { class: drawn.holds ? 'good' : 'refused' },
      drawn.holds ? '✓ The manager has verified this number.' : '✗ This number failed the check.',
    ),
    checked
      ? el('p', { class: checked.holds ? 'good' : 'refused' }, `${checked.holds ? '✓' : '✗'} ${checked.words}`)
      : possible()
        ? null
        : el('p', { class: 'muted' }, 'A browser recomputes it only on a page that came by TLS or from this machine.'),
    el(
      'details',
      {},
      el('summary', {}, 'What it was made of'),
      el(
        'dl',
        { class: 'facts long' },
        fact('Promised', drawn.commitment),
        fact('Secret', drawn.secret),
        Object.entries(drawn.nonces ?? {}).map(([player, nonce]) => fact(`Nonce of ${player}`, nonce)),
        Object.entries(drawn.proof ?? {}).map(([player, proof]) => fact(`Proven of ${player}`, proof)),
      ),
    ),
    drawn.how ? el('p', {}, sentence(drawn.how)) : null,
    drawn.command ? command(drawn.command) : null,
  );
}
