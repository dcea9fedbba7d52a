// One player: how it did, against whom, what it chose, how quickly it answered, and what it lost without playing.

import { bars, climb, histogram, interval } from './charts.js';
import { el } from './dom.js';
import { followLink, following } from './follow.js';
import { ratings } from './lines.js';
import { openPanel } from './orders.js';
import { empty, figure, figures, form, head, matchList, who } from './parts.js';
import { whyLost } from './why-lost.js';
import { clock, percent, plural, record, sentence } from './words.js';

export const topics = ['players', 'standings', 'messages'];
export const pace = 1500;
const SEAT_LIMIT = 50;
export const title = (player) => player.name || player.id;

/** A player in a seat also has what its client said and was told, as far as that may be shown. */
export async function load(ask, { id }) {
  const [player, seat] = await Promise.all([
    ask(`players/${encodeURIComponent(id)}`),
    ask('messages', { conversation_id: `conv-seat-${id.toUpperCase()}`, limit: SEAT_LIMIT, bodies: 1 }),
  ]);
  return { ...player, seat: seat.messages };
}

export function view(player, { league, memory, redraw }) {
  const card = (name, ...content) => el('section', { class: 'card', key: name }, el('h2', {}, name), content);
  return [
    head(
      el('bdi', {}, player.name || player.id),
      el(
        'p',
        { class: 'muted' },
        player.id,
        player.state && player.state !== 'active' ? [' ', el('span', { class: 'pill' }, player.state)] : null,
        player.rank && league.matches.decided ? `, rank ${player.rank} of ${league.players}` : null,
        agent(player.agent),
      ),
      el(
        'p',
        {},
        el(
          'a',
          { class: 'button', href: followLink(player.id) },
          following() === player.id ? '◆ Stop following' : '◇ Follow',
        ),
      ),
    ),
    numbers(player),
    whyLost(player),
    el(
      'div',
      { class: 'cards', key: 'cards' },
      card(
        'Form',
        form(player.form?.slice(-40)),
        player.form?.length > 40 ? el('p', { class: 'muted' }, `the last 40 of ${player.form.length}`) : null,
        player.luck ? el('p', {}, sentence(player.luck)) : null,
        !player.luck && player.by_chance !== undefined && player.by_chance !== null
          ? el(
              'p',
              { class: 'muted' },
              `By chance alone a player does this well or better ${percent(player.by_chance)} of the time.`,
            )
          : null,
      ),
      player.points_by_round?.length > 1
        ? card(
            'Points, round by round',
            climb(player.points_by_round, {
              name: `points-${player.id}`,
              label: `${plural(player.points_by_round.at(-1), 'point')} from ${plural(player.played, 'match', 'matches')} in ${plural(player.points_by_round.length, 'round')}`,
            }),
          )
        : null,
      player.pairing_rating?.by_round.length > 1
        ? card(
            'Pairing rating, round by round',
            ratings(
              player.pairing_rating.by_round.map(({ round, value }) => ({ at: round, value })),
              { name: `pairing-rating-${player.id}` },
            ),
            el(
              'p',
              { class: 'muted' },
              'The ladder pairs and ranks by it (Glicko-2: each round changes it a little). The rating at the head of the page weighs all ' +
                'results alike (Bradley-Terry); its interval says how sure it is.',
            ),
          )
        : null,
      card(
        'Answer times',
        player.answers?.count
          ? histogram(player.answers, { name: `answer-times-${player.id}` })
          : empty('No answers of this player have been kept.'),
        byType(player.answers),
      ),
      card(
        'What it chose',
        player.choices?.length
          ? bars(
              player.choices.map(({ choice, count }) => ({ name: choice, count })),
              { label: 'Choices' },
            )
          : empty('No moves yet.'),
      ),
      card('Lost, and how', losses(player)),
      card(
        'Deviations',
        player.deviations?.length
          ? el(
              'ul',
              { class: 'plain' },
              player.deviations.map(({ what, count, fix }) =>
                el(
                  'li',
                  {},
                  el('b', {}, sentence(what)),
                  count > 1 ? el('span', { class: 'muted' }, ` ${count} times`) : null,
                  fix ? el('p', {}, fix) : null,
                ),
              ),
            )
          : empty('None: the player kept to the protocol.'),
      ),
    ),
    seat(player),
    against(player),
    played(player, memory, redraw),
    league.operator && league.live !== false && player.state !== 'withdrawn' && league.phase !== 'completed'
      ? el(
          'p',
          { key: 'orders' },
          el(
            'button',
            { type: 'button', class: 'quiet', onclick: () => openPanel('withdraw', player.id) },
            `Withdraw ${player.id} …`,
          ),
        )
      : null,
  ];
}

/** What the client of a seat was told and what it said, the newest first. */
function seat(player) {
  if (!player.seat?.length) return null;
  return el(
    'section',
    { class: 'card', key: 'seat', 'aria-labelledby': 'seat-title' },
    el('h2', { id: 'seat-title' }, 'At its seat'),
    el('p', { class: 'muted' }, 'What its client said, and what it was told, the newest first.'),
    el(
      'ol',
      { class: 'plain seat' },
      player.seat.map((call) =>
        el(
          'li',
          { key: call.id },
          el('span', { class: 'muted' }, clock(call.sent_at), ' ', call.match_id ?? ''),
          el('p', {}, el('strong', {}, 'said '), said(call)),
          el('p', {}, el('strong', {}, 'was told '), told(call)),
        ),
      ),
    ),
  );
}

const parsed = (text) => {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
};

function said(call) {
  const { arguments: given = {} } = parsed(call.request);
  const shown = Object.entries(given).filter(([name]) => name !== 'seat');
  return [call.type, ...shown.map(([name, value]) => ` ${name} ${JSON.stringify(value)}`)].join('');
}

function told(call) {
  const reply = parsed(call.answer);
  if (reply.error_code) return `${reply.error_code}: ${reply.error_message ?? ''}`;
  const parts = [];
  if (reply.happened) parts.push(reply.happened);
  if (reply.turn?.options) parts.push(`options ${JSON.stringify(reply.turn.options)}`);
  if (reply.turn?.context && Object.keys(reply.turn.context).length) parts.push(JSON.stringify(reply.turn.context));
  if (reply.choice !== undefined) parts.push(`the move ${JSON.stringify(reply.choice)} is made`);
  for (const game of reply.results ?? []) parts.push(`${game.match_id}: ${game.outcome}, ${game.reason ?? ''}`);
  return parts.join('; ') || reply.next || 'nothing';
}

function agent(about) {
  if (!about) return null;
  return [
    about.strategy ? [', plays by ', el('bdi', {}, about.strategy)] : null,
    about.dialect ? `, ${about.dialect} JSON-RPC` : null,
    about.version ? `, version ${about.version}` : null,
  ];
}

function numbers(player) {
  return el(
    'div',
    { class: 'card', key: 'numbers' },
    figures(
      figure(player.points, 'points'),
      figure(player.played, 'played'),
      figure(player.wins, 'won'),
      figure(player.draws, 'drawn'),
      figure(player.losses, 'lost'),
      figure(player.technical_losses, 'of them technical'),
      player.rating ? figure(Math.round(player.rating.value), 'rating (Bradley-Terry)') : null,
      player.rating ? figure(interval(player.rating), '95 % interval') : null,
      player.pairing_rating ? figure(player.pairing_rating.now, 'pairing rating') : null,
    ),
  );
}

function losses(player) {
  const technical = player.technical_losses ?? 0;
  const outplayed = Math.max(0, player.losses - technical);
  if (!player.losses) return empty('It has lost nothing.');
  return [
    bars(
      [
        { name: 'in play', count: outplayed },
        { name: 'technical', count: technical },
      ],
      { label: 'Losses' },
    ),
    player.technical_causes?.length
      ? el(
          'ul',
          { class: 'plain' },
          player.technical_causes.map(({ cause, count }) =>
            el('li', {}, sentence(cause), el('span', { class: 'muted' }, ` ${plural(count, 'match', 'matches')}`)),
          ),
        )
      : null,
  ];
}

function byType(answers) {
  const types = Object.entries(answers?.by_type ?? {});
  if (!types.length) return null;
  return el(
    'details',
    {},
    el('summary', {}, 'By message'),
    types.map(([type, part]) =>
      el(
        'div',
        { class: 'by-type' },
        el('h3', {}, type),
        part.buckets?.length
          ? histogram(part, { name: `${type.toLowerCase()}-${part.count}` })
          : el('p', { class: 'muted' }, plural(part.count ?? 0, 'answer')),
      ),
    ),
  );
}

function against(player) {
  if (!player.against?.length) return null;
  return el(
    'section',
    { class: 'card flush', key: 'against' },
    el(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Record against each, scrolls' },
      el(
        'table',
        {},
        el('caption', {}, 'Against each'),
        el(
          'thead',
          {},
          el(
            'tr',
            {},
            el('th', { scope: 'col' }, 'Opponent'),
            ['W', 'D', 'L', 'T'].map((name, index) =>
              el(
                'th',
                { scope: 'col', class: 'n' },
                el('abbr', { title: ['Won', 'Drawn', 'Lost', 'Technical losses'][index] }, name),
              ),
            ),
          ),
        ),
        el(
          'tbody',
          {},
          player.against.map((other) =>
            el(
              'tr',
              { key: other.id, title: record(other) },
              el('th', { scope: 'row' }, who(other)),
              [other.w, other.d, other.l, other.t].map((value) =>
                el('td', { class: `n${value ? '' : ' zero'}` }, value ?? 0),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Its matches, the newest first, fifty at a time. */
function played(player, memory, redraw) {
  const matches = player.matches ?? [];
  const most = memory.most ?? 50;
  return el(
    'section',
    { class: 'card flush', key: 'matches', 'aria-labelledby': 'matches-title' },
    el('h2', { id: 'matches-title', class: 'inset' }, 'Matches'),
    matches.length ? matchList(matches.slice(0, most)) : empty('It has no matches yet.'),
    matches.length > most
      ? el(
          'p',
          { class: 'inset' },
          el(
            'button',
            {
              type: 'button',
              class: 'quiet',
              onclick: () => {
                memory.most = most + 50;
                redraw();
              },
            },
            `Show more of ${matches.length}`,
          ),
        )
      : null,
  );
}
