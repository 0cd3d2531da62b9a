// Shows the tab Log: what operators have written, with a way back.

import { bdi, button, h } from '../dom.js';
import { drawer, link, showing, tab } from '../drawer/pane.js';
import { when } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { mayAll } from '../session.js';
import { listen } from '../signals.js';
import { ask } from './dialog.js';
import { fleet } from './state.js';
import { changeList, valueText } from './write.js';

export function showLog() {
  return showing('log', () => request('GET', '/api/fleet/history'), ({ history }) => [
    h('h2', 'Log'),
    h('p.soft', `What operators have written in ${fleet.name}, newest first.`),
    history.length ? h('ol', ...history.map(item)) : h('p.empty', 'Nothing was written yet.'),
  ]);
}

function item(line) {
  if (line.derived) {
    return h('li', h('div.soft', { dir: 'auto' }, `rollout ${line.rollout} ended: ${line.why}`));
  }
  const { entry, verb, rollout, why, by, at, changes } = line;
  return h(
    'li',
    { 'data-entry': entry },
    h(
      'div.apart',
      h('span', h('strong', verb), rollout ? ' ' + rollout : '', h('span.soft', ` · entry ${entry}`)),
      h('span.soft', bdi(by), ' · ' + when(Number(at))),
    ),
    why ? h('div.soft', { dir: 'auto' }, why) : null,
    ...changes.slice(0, 12).map((change) =>
      h('div', link(change.path), ' ', h('span.soft', moveText(change)))
    ),
    changes.length > 12 ? h('div.soft', `and ${changes.length - 12} more`) : null,
    canUndo(line) && mayAll('write')
      ? button('Undo…', () => undo(line), { class: 'button plain', label: `Undo entry ${entry}` })
      : null,
  );
}

const moveText = ({ old, new: next }) => `${valueText(old)} → ${valueText(next)}`;

/** Whether an entry has changed values for all; rollouts are aborted. */
const canUndo = ({ verb, rollout, changes }) =>
  changes.length > 0 &&
  (['finish', 'approve'].includes(verb) ||
    ['set', 'reset', 'import', 'undo'].includes(verb) && rollout == null);

function undo({ entry, changes }) {
  const dialog = ask(`Undo entry ${entry}`);
  dialog.fill(
    h('p.soft', 'The values go back, for all processes. It is refused if they have changed since.'),
    changeList(changes.map(({ path, old, new: next }) => ({ path, old: next, new: old, held: [] }))),
  );
  dialog.offer('Undo for all', async () => {
    const reply = await request('POST', '/api/fleet/undo', { entry: String(entry) });
    toast(`Undone: entry ${reply.entry} of the log`);
  });
}

listen('fleet', () => {
  if (drawer.open && tab === 'log') showLog();
});
