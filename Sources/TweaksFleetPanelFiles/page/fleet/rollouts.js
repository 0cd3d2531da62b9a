// Shows the tab Rollouts: each with its progress, its figures over time, and what can be done with it.

import { bdi, button, h, setStyle } from '../dom.js';
import { link, drawer, showing, tab } from '../drawer/pane.js';
import { when } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { mayAll } from '../session.js';
import { listen } from '../signals.js';
import { chartOf } from './chart.js';
import { ask } from './dialog.js';
import { fleet, processes } from './state.js';
import { valueText } from './write.js';

export const showRollouts = () => showing('rollouts', loadCharts, draw);

/** The charts of the rollouts with conditions, by ID. */
async function loadCharts() {
  const judged = fleet.rollouts.filter((rollout) => rollout.conditions.length && rollout.state !== 'done');
  const load = async ({ id }) => {
    // A rollout may end meanwhile.
    const { charts } = await request('GET', '/api/fleet/charts?rollout=' + id).catch(() => ({ charts: [] }));
    return [id, charts];
  };
  return new Map(await Promise.all(judged.map(load)));
}

const draw = (charts) => [
  h('h2', 'Rollouts'),
  h('p.soft', `Values that a growing share of ${fleet.name} has. ${processes(fleet.live)} now.`),
  ...fleet.rollouts.map((rollout) => card(rollout, charts.get(rollout.id) ?? [])),
  fleet.rollouts.length ? null : h('p.empty', 'No rollouts. Change a value, and choose Roll out.'),
  fleet.ended.length ? h('h3', 'Ended while this panel drove them') : null,
  h('ul', ...fleet.ended.map(ended)),
].filter(Boolean);

const ended = ({ id, text, bad, at }) =>
  h(
    'li',
    h('div.apart', h('strong', bdi(id)), h('span.soft', when(Number(at)))),
    h('div', { class: bad ? 'error' : null }, text),
  );

function card(rollout, charts) {
  const { id, members, reported, refused, note, bad } = rollout;
  const part = rollout.where ? ' of ' + rollout.where : '';
  return h(
    'section.rollout',
    { label: 'Rollout ' + id, 'data-rollout': id },
    h('div.apart', h('h3', bdi(id)), h('span.badge', { part: 'state' }, stateText(rollout))),
    progress(rollout),
    h(
      'p',
      { part: 'progress' },
      `${processes(members)}${part}, ${reported} reported, `,
      h('span', { class: Number(refused) ? 'error' : null }, `${refused} refused`),
    ),
    ...rollout.changes.map((change) =>
      h(
        'div',
        link(change.path),
        ' ',
        h('span.soft', `${valueText(change.old)} → ${valueText(change.new)}`),
      )
    ),
    ...charts.map((chart, index) => chartOf(chart, rollout.conditions[index]?.violators)),
    note ? h('p', { part: 'note', class: bad ? 'error' : 'soft' }, note) : null,
    h(
      'p.soft',
      [nextText(rollout), driverText(rollout), `begun by ${rollout.by}`].filter(Boolean).join(' · '),
    ),
    mayAll('write') ? h('div.cluster', ...acts(rollout)) : null,
  );
}

function stateText({ state, share, temporary }) {
  if (state === 'done') return 'standing rule';
  if (temporary) return 'for a while';
  return `${state === 'paused' ? 'paused' : 'open'} at ${share} %`;
}

/** The share as a bar, with a mark at each step. */
function progress({ id, share, steps, state }) {
  const bar = h('div.share', {
    role: 'progressbar',
    label: `Share of rollout ${id}`,
    'aria-valuemin': '0',
    'aria-valuemax': '100',
    'aria-valuenow': share,
    class: state === 'paused' ? 'share paused' : 'share',
  });
  setStyle(bar, '--share', share + '%');
  for (const step of steps) {
    const mark = h('i');
    setStyle(mark, '--at', step + '%');
    bar.append(mark);
  }
  return bar;
}

function nextText({ state, next, confirmBy, share, steps }) {
  if (confirmBy != null) return `finish it until ${when(Number(confirmBy))}, or it is reverted`;
  if (state !== 'open' || next == null) return '';
  const following = steps.find((step) => Number(step) > Number(share));
  return `${following ? following + ' %' : 'finished'} from ${when(Number(next))} on`;
}

function driverText({ own, driver, state, temporary }) {
  if (state === 'done' || temporary) return '';
  if (own) return 'driven by this panel';
  return driver ? `driven by ${driver.by} on ${driver.host}` : 'no driver: it stays at its share';
}

// What can be done with it ------------------------------------------------------------------------------

function acts(rollout) {
  const { id, state, driver, temporary } = rollout;
  const isDriven = state !== 'done' && !temporary;
  return [
    isDriven && state === 'open' && button('Pause', () => confirmAct(rollout, 'pause'), { part: 'pause' }),
    isDriven && (state === 'paused' || !driver) &&
    button('Resume', () => confirmAct(rollout, 'resume'), { part: 'resume' }),
    state !== 'done' && button('Finish…', () => confirmAct(rollout, 'finish'), { part: 'finish' }),
    button('Abort…', () => confirmAct(rollout, 'abort'), { class: 'button danger', part: 'abort' }),
  ].filter(Boolean).map((act) => {
    act.setAttribute('aria-label', `${act.textContent.replace('…', '')} rollout ${id}`);
    return act;
  });
}

/** What each act does, for its confirmation. */
const effects = {
  pause: ({ share, members }) =>
    `It stays at ${share} %: ${processes(members)} keep the values. Its conditions still revert it.`,
  resume: ({ driver, share, leased }) => {
    if (driver) return `Its driver goes on from ${share} %.`;
    const fate = leased ? 'it is reverted' : 'it stays';
    const others = `Without one this panel does, and when that ends, ${fate}.`;
    return `The drive service goes on from ${share} %. ${others}`;
  },
  finish: ({ share, where, members, eligible }) => {
    if (where) {
      return `The values become a standing rule for ${where}: ${processes(eligible)} now, and later ones.`;
    }
    return Number(share) < 100
      ? `It is at ${share} % with ${processes(members)}. All ${processes(fleet.live)} get the values at once.`
      : `The values become those of the fleet: ${processes(fleet.live)} have them already.`;
  },
  abort: ({ members, changes }) => {
    const back = changes.map(({ path, now }) => `${path} to ${valueText(now)}`).join(', ');
    return `${processes(members)} go back: ${back}.`;
  },
};

function confirmAct(rollout, verb) {
  const { id, share, where } = rollout;
  const name = verb[0].toUpperCase() + verb.slice(1);
  const dialog = ask(`${name} rollout ${id}`);
  dialog.fill(h('p', effects[verb](rollout)));
  const content = verb === 'finish' && Number(share) < 100 ? { force: true } : {};
  const isEarly = verb === 'finish' && !where && Number(share) < 100;
  dialog.offer(isEarly ? 'Finish now, for all' : name, async () => {
    const { notes } = await request('POST', `/api/fleet/rollouts/${encodeURIComponent(id)}/${verb}`, content);
    toast([`${name}: rollout ${id}`, ...notes].join('; '));
  }, { isDanger: verb === 'abort' || isEarly });
}

listen('fleet', () => {
  if (drawer.open && tab === 'rollouts') showRollouts();
});
// The figures move while the state stays.
setInterval(() => {
  const isJudged = fleet.rollouts.some(({ conditions }) => conditions.length);
  if (drawer.open && tab === 'rollouts' && isJudged && !document.hidden) showRollouts();
}, 2000);
