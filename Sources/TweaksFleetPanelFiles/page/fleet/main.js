// Makes the panel the page of a fleet: its tabs, its drafts, its problems, and what rows offer in addition.

import './drafts.js';
import { badgeSources } from '../badges.js';
import { byId, button, h, root } from '../dom.js';
import { tabs, toggleDrawer } from '../drawer/drawer.js';
import { layerNames } from '../format.js';
import { drawSoon, rows } from '../rows.js';
import { menuSources } from '../row-menu.js';
import { mayAll } from '../session.js';
import { listen } from '../signals.js';
import { isOverridden, tweaks } from '../tweaks.js';
import { showLog } from './log.js';
import { showProcesses } from './processes.js';
import { showRollouts } from './rollouts.js';
import { fleet, follow } from './state.js';
import { confirmWrite, showHolders } from './write.js';

root.toggleAttribute('data-fleet', true);
Object.assign(layerNames, { override: 'draft', 'temporary override': 'draft for a while' });

// Drafts are kept nowhere, so they have neither presets nor a history worth a tab.
const { import: transfer, people } = tabs;
for (const name of Object.keys(tabs)) delete tabs[name];
Object.assign(tabs, {
  rollouts: ['Rollouts', showRollouts],
  processes: ['Processes', showProcesses],
  log: ['Log', showLog],
  import: ['Import', transfer[1]],
  people,
});
for (const name of ['history', 'presets']) byId(name).hidden = true;
byId('drawer').setAttribute('aria-label', 'Rollouts, processes, log, import and people');

const count = h('span.count');
const opener = button('', () => toggleDrawer('rollouts'), {
  part: 'fleet',
  'aria-haspopup': 'dialog',
  title: 'Rollouts, processes and the log',
});
opener.append('Fleet ', count);
byId('modified-only').after(opener);

document.querySelector('#login .soft').replaceChildren(
  'Open the address that ',
  h('code', 'tweakctl fleet NAME panel'),
  ' prints: it has a code that signs in one browser, once; after that it prints the next. ' +
    'Or paste a code here.',
);

const banner = h('div.strip.problems', { part: 'problems', role: 'alert', hidden: true });
byId('strips').prepend(banner);
let shown = '';
listen('fleet', () => {
  count.textContent = fleet.rollouts.length || '';
  const text = fleet.problems.join('\n');
  if (text === shown) return;
  shown = text;
  banner.hidden = !text;
  banner.replaceChildren(h('ul', ...fleet.problems.map((problem) => h('li', { dir: 'auto' }, problem))));
});

// Rows --------------------------------------------------------------------------------------------------

/** The open rollouts of a path. */
const rolloutsOf = (path) =>
  fleet.rollouts.filter((rollout) => rollout.changes.some((change) => change.path === path));

badgeSources.push(({ tweak: { path } }) => [
  ...rolloutsOf(path).map(({ id, share, state }) => ({
    kind: 'rollout',
    words: state === 'done' ? `rule ${id}` : `rollout ${id} at ${share} %`,
    title: 'Some processes have another value; see Rollouts',
  })),
  ...fleet.differing.has(path)
    ? [{ kind: 'differing', words: 'builds differ', title: 'Shown as the newest live build declares it' }]
    : [],
  ...fleet.undefaulted.has(path) && tweaks.get(path)?.layer === 'default'
    ? [{ kind: 'undefaulted', words: 'default unknown', title: 'Its build has not written its default' }]
    : [],
]);
menuSources.push(({ tweak }) => [
  ['Who holds what…', 'menu-holders', () => showHolders(tweak.path)],
  ...tweak.layer === 'fleet' && !isOverridden(tweak) && mayAll('write')
    ? [['Reset for all…', 'menu-reset-all', () => confirmWrite([tweak.path], true)]]
    : [],
]);
let badged = new Set();
listen('fleet', () => {
  const now = new Set([
    ...fleet.rollouts.flatMap(({ changes }) => changes.map(({ path }) => path)),
    ...fleet.differing,
    ...fleet.undefaulted,
  ]);
  for (const path of new Set([...badged, ...now])) if (rows.has(path)) drawSoon(path);
  badged = now;
});

follow();
