// What the operator of a service does in the browser: creates leagues and seasons, archives and removes leagues, steers seasons. Each
// is a request that the commands make too, is confirmed first, and stands in the service's log.

import { ask, change, hasToken, setToken } from './api.js';
import { confirmed } from './confirm.js';
import { answerLine, close, dialogHead, field, show, text } from './dialog.js';
import { el, update } from './dom.js';
import { sentence } from './words.js';

let refresh = () => {};
let said = null; // The last answer, and whether it was a refusal.

/** Draws the button in the head: it asks for the token, or opens what the operator can do. */
export function operatorButton(redraw) {
  refresh = redraw;
  document.getElementById('operator').onclick = () => {
    said = null;
    if (!hasToken()) return show(tokenForm());
    import('./service-create.js').then(({ openCreate }) => openCreate(told));
  };
  update(document.getElementById('operator'), hasToken() ? 'Create' : 'Operator');
  update(
    document.getElementById('state'),
    said ? el('p', { role: 'status', class: said.refused ? 'refused' : '' }, said.text) : null,
    hasToken()
      ? el(
          'button',
          {
            key: 'forget',
            type: 'button',
            class: 'small',
            onclick: () => {
              setToken(null);
              said = null;
              refresh();
            },
          },
          'Forget the token',
        )
      : null,
  );
}

/** What came of a change stands in the head. */
function told(words, refused = false) {
  said = { text: words, refused };
  refresh();
}

function tokenForm() {
  const give = async (event) => {
    event.preventDefault();
    const form = event.target;
    setToken(form.querySelector('input').value.trim());
    try {
      await ask('cluster');
      close();
    } catch (error) {
      setToken(null);
      form.querySelector('[role=status]').textContent =
        error.status === 401 ? 'This is not the service token.' : sentence(error.message);
    }
    refresh();
  };
  return [
    dialogHead('Operator'),
    el(
      'form',
      { key: 'token', class: 'form-row', onsubmit: give },
      el(
        'p',
        {},
        'Leagues are created and removed with the service token, which the service printed when it was first started. It is kept in this tab until the tab is closed. A league itself is steered on its own page, with its operator token.',
      ),
      field('Service token', null, text('token', { type: 'password', required: true })),
      answerLine(),
      el('button', { type: 'submit' }, 'Use this token'),
    ),
  ];
}

/** Asks first, then does it, and says what came of it. */
function order({ name, subject, will, danger, method, path, body, done }) {
  const act = async () => {
    try {
      told(done(await change(method, path, body)));
    } catch (error) {
      if (error.status === 401) setToken(null);
      told(sentence(error.message), true);
    }
  };
  confirmed({ name, subject, will, danger, act });
}

/** What can be done with a league of the list is behind one button. */
export const leagueActions = (league) =>
  el(
    'button',
    {
      type: 'button',
      class: 'small',
      'aria-label': `Manage ${league.league_id}`,
      onclick: () => {
        said = null;
        import('./service-manage.js').then(({ manageLeague }) => manageLeague(league, { order, told }));
      },
    },
    'Manage',
  );

/** What can be done with a season. */
export function seasonActions(season) {
  const { name, state, is_playing: playing } = season;
  const path = `seasons/${encodeURIComponent(name)}`;
  const orders = {
    run: {
      name: 'Start the league now',
      will: 'Registration for the current league is closed, and it is played at once. The schedule stays as it is.',
      done: ({ league_id: league }) => `${league} has started.`,
    },
    pause: {
      name: 'Pause the season',
      will: 'No league starts by schedule until the season is resumed. One that is being played is finished.',
      done: () => `${name} is paused.`,
    },
    resume: {
      name: 'Resume the season',
      will: 'Leagues start by the schedule again.',
      done: () => `${name} goes on.`,
    },
    end: {
      name: 'End the season',
      danger: true,
      will: 'No league follows. One that has not started is removed; one that is being played is finished.',
      done: () => `${name} has ended.`,
    },
  };
  const possible = state === 'ended' ? [] : [playing ? null : 'run', state === 'paused' ? 'resume' : 'pause', 'end'];
  if (!possible.length) return null;
  return el(
    'p',
    { class: 'actions', key: 'orders' },
    possible.filter(Boolean).map((what) =>
      el(
        'button',
        {
          key: what,
          type: 'button',
          class: orders[what].danger ? 'danger' : what === 'run' ? '' : 'quiet',
          onclick: () => order({ ...orders[what], subject: name, method: 'POST', path: `${path}/${what}` }),
        },
        orders[what].name,
      ),
    ),
    el(
      'button',
      {
        key: 'schedule',
        type: 'button',
        class: 'quiet',
        onclick: () => import('./service-manage.js').then(({ changeSchedule }) => changeSchedule(season, { told })),
      },
      'Change the schedule',
    ),
  );
}
