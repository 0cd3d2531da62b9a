// Shows the drafts above the list: what was changed here, and in no process.

import { change } from '../changes.js';
import { button, byId, h } from '../dom.js';
import { toast } from '../notifications.js';
import { refreshSoon } from '../refresh.js';
import { rows } from '../rows.js';
import { mayAll } from '../session.js';
import { emit, listen } from '../signals.js';
import { isOverridden, tweaks } from '../tweaks.js';
import { rollOut } from './roll-out.js';
import { counted, fleet } from './state.js';
import { confirmWrite } from './write.js';

const text = h('span');
const acts = [
  button('Set for all…', () => confirmWrite(drafts()), { class: 'button main', part: 'set-all' }),
  button('Roll out…', () => rollOut(drafts()), { part: 'roll-out' }),
  button('Discard', discard, { class: 'button plain', part: 'discard' }),
];
const strip = h(
  'div.strip',
  { part: 'drafts', role: 'group', label: 'Drafts', hidden: true },
  text,
  ...acts,
);
byId('strips').prepend(strip);

export const drafts = () => [...tweaks.values()].filter(isOverridden).map((tweak) => tweak.path);

function draw() {
  const { length } = drafts();
  strip.hidden = !length;
  text.textContent = `${counted(length, 'draft')}: nothing is changed in ${fleet.name} yet`;
  for (const act of acts.slice(0, 2)) act.disabled = !mayAll('write');
}

listen('count', draw);
listen('fleet', () => {
  draw();
  // A draft that was written is gone without an event: the value is the same.
  for (const path of drafts()) {
    if (!fleet.drafts.has(path) && !rows.get(path)?.sender.isBusy) {
      refreshSoon(path);
      setTimeout(() => emit('count'), 400);
    }
  }
});

async function discard() {
  const paths = drafts();
  try {
    await change('PATCH', '/api/tweaks', { changes: paths.map((path) => ({ path, reset: true })) });
    toast(`${counted(paths.length, 'draft')} discarded; Undo brings them back`);
  } catch (error) {
    toast(error.message, { isBad: true });
  }
}
