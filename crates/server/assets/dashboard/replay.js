// A match played over: its board at one ply, and what leads from one ply to the next. The ply stands in the address, so that a
// position can be shared.

import { board, sideColours } from './board.js';
import { el } from './dom.js';
import { outlookBar } from './outlook.js';
import { link } from './parts.js';
import { thoughts } from './transcript.js';
import { duration, plural } from './words.js';

const STEP_MS = 900;

/** The whole section; nothing for a match of which no position is known. */
export function replay(match, { league, query, memory, redraw }) {
  const { positions } = match;
  if (!positions?.length) return null;
  const last = positions.length - 1;
  if (query?.ply !== memory.asked) {
    memory.asked = query?.ply;
    memory.ply = /^\d+$/.test(query?.ply ?? '') ? Number(query.ply) : undefined;
  }
  // Until the reader chooses a ply, the newest is shown: a match that is being played moves on by itself.
  const ply = Math.min(memory.ply ?? last, last);
  const go = (to) => {
    memory.ply = Math.min(Math.max(to, 0), last);
    history.replaceState(null, '', link('matches', match.id, { ply: memory.ply }));
    redraw();
  };
  const play = () => {
    clearInterval(memory.timer);
    memory.timer = null;
    if (memory.playing) {
      if (ply >= last) go(0);
      memory.timer = setInterval(() => {
        const shown = memory.ply ?? last;
        if (shown < last && document.getElementById('replay')) return go(shown + 1);
        memory.playing = false;
        play();
        redraw();
      }, STEP_MS);
    }
  };
  const toggle = () => {
    memory.playing = !memory.playing;
    play();
    redraw();
  };
  const keys = {
    ArrowLeft: () => go(ply - 1),
    ArrowRight: () => go(ply + 1),
    Home: () => go(0),
    End: () => go(last),
    ' ': toggle,
  };
  const button = (name, words, act, disabled) =>
    el('button', { type: 'button', class: 'quiet', 'aria-label': words, title: words, onclick: act, disabled }, name);
  const said = ply === 0 ? 'Before the first move' : `Move ${ply} of ${last}`;
  return el(
    'section',
    {
      class: 'card replay',
      id: 'replay',
      key: 'replay',
      tabindex: 0,
      'aria-labelledby': 'replay-title',
      onkeydown: (event) => {
        const act = event.target.closest('button') && event.key === ' ' ? null : keys[event.key];
        if (!act || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        act();
      },
    },
    el('h2', { id: 'replay-title' }, 'The game'),
    el(
      'div',
      { class: 'replay-board', style: sideColours(match.a, match.b) },
      evaluation(match, ply),
      board(positions[ply], [match.a.name || match.a.id, match.b.name || match.b.id], league.game),
    ),
    el('p', { class: 'ply', 'aria-live': 'polite' }, said, moveWords(match, ply)),
    thoughts(match, ply),
    last > 0
      ? el(
          'div',
          { class: 'scrubber' },
          button('«', 'To the beginning', keys.Home, ply === 0),
          button('‹', 'One move back', keys.ArrowLeft, ply === 0),
          button(memory.playing ? '❚❚' : '▶', memory.playing ? 'Pause' : 'Play', toggle),
          button('›', 'One move on', keys.ArrowRight, ply === last),
          button('»', 'To the end', keys.End, ply === last),
          el('input', {
            type: 'range',
            min: 0,
            max: last,
            value: ply,
            'aria-label': 'Move',
            'aria-valuetext': said,
            oninput: (event) => go(Number(event.target.value)),
          }),
        )
      : null,
  );
}

/** Which move led to a position, in words, how long its player thought, and how often it was asked. */
function moveWords(match, ply) {
  const made = (match.moves ?? []).filter((move) => move.turn === ply);
  const name = (id) => [match.a, match.b].find((player) => player.id === id)?.name || id;
  return made.map((move, index) => [
    index ? '; ' : ': ',
    el('bdi', {}, name(move.player)),
    ' ',
    el('b', {}, el('bdi', {}, move.words)),
    move.think_ms === undefined ? null : ` (${duration(move.think_ms)})`,
    move.asked > 1 ? `, asked ${plural(move.asked, 'time')}` : null,
  ]);
}

/** Where a search knows; only of matches that are over. */
const evaluation = ({ outlook, a, b }, ply) =>
  outlook?.some((one) => one !== 'open') ? outlookBar(outlook[ply], a.name, b.name) : null;
