// Shows the tab Processes: what each reports, with a search.

import { bdi, h, on, replaceContent } from '../dom.js';
import { drawer, pane, showing, tab } from '../drawer/pane.js';
import { when } from '../format.js';
import { request } from '../requests.js';
import { listen } from '../signals.js';
import { processes } from './state.js';

const search = h('input', {
  type: 'search',
  label: 'Search processes by ID, label or build',
  placeholder: 'ID, label or build',
  part: 'process-search',
  autocomplete: 'off',
  spellcheck: 'false',
});
const count = h('p.soft', { role: 'status' });
const list = h('ul');
on(search, 'input', refresh);

const load = () => request('GET', '/api/fleet/processes?q=' + encodeURIComponent(search.value));

export function showProcesses() {
  return showing('processes', load, (reply) => {
    draw(reply);
    return [h('h2', 'Processes'), h('div.box', search), count, list];
  });
}

let asked = 0;
/** Draws the list alone, so that the search is not interrupted. */
async function refresh() {
  const own = ++asked;
  const reply = await load().catch(() => null);
  if (reply && own === asked && !pane.matches(':active')) draw(reply);
}

function draw({ processes: found, found: total, live }) {
  const shown = found.length < Number(total) ? `; the first ${found.length} are shown` : '';
  count.textContent = Number(total) === Number(live)
    ? processes(live) + shown
    : `${total} of ${processes(live)}${shown}`;
  replaceContent(list, found.map(item));
}

const named = (text, isBad) => h('span.badge', { 'data-bad': isBad }, text);

function item(process) {
  const { id, labels, build, revision, lagging, declared, unstable } = process;
  const { rollouts, trouble, refused, covered } = process;
  const labelText = Object.entries(labels).map(([name, value]) => `${name}=${value}`).join(', ');
  const details = [
    labelText,
    `build ${build.slice(0, 8)}${declared ? '' : ' without declarations'}`,
    `revision ${revision}`,
    rollouts.length && 'in ' + rollouts.join(', '),
    covered.length && `${covered.length} local ${covered.length === 1 ? 'override' : 'overrides'}`,
    'reported ' + when(Number(process.at)),
  ];
  return h(
    'li',
    { 'data-process': id },
    h(
      'div.apart',
      h('strong', bdi(id)),
      h(
        'span.cluster',
        lagging ? named('not at the newest write', false) : null,
        unstable ? named('its ID changes', false) : null,
        trouble ? named('in trouble', true) : null,
        refused.length ? named(`${refused.length} refused`, true) : null,
      ),
    ),
    h('div.soft', { dir: 'auto' }, details.filter(Boolean).join(' · ')),
    trouble ? h('div.error', { dir: 'auto' }, trouble) : null,
    ...refused.map(({ rollout, path, reason }) =>
      h('div.error', { dir: 'auto' }, `${path}${rollout ? ` (rollout ${rollout})` : ''}: ${reason}`)
    ),
    ...covered.map((path) => h('div.soft', { dir: 'auto' }, `a local override above ${path}`)),
  );
}

let later = 0;
listen('fleet', () => {
  if (!drawer.open || tab !== 'processes' || later) return;
  later = setTimeout(() => {
    later = 0;
    if (drawer.open && tab === 'processes') refresh();
  }, 1000);
});
