// Takes back the last change, or makes it again.

import { change } from './changes.js';
import { byId, root } from './dom.js';
import { nameOf } from './format.js';
import { toast } from './notes.js';
import { gesture } from './rows.js';
import { request } from './requests.js';
import { busy } from './sender.js';
import { may } from './session.js';
import { listen } from './signals.js';

/** What can be done, as far as it is known; the process knows for sure. */
function allow(steps) {
  for (const direction in steps) byId(direction).disabled = !steps[direction] || !may('write');
}

// A change can be taken back. What else can be is asked when changes pause.
listen('committed', () => allow({ undo: true }));
listen('count', async () => {
  if (!may('write') || root.dataset.state !== 'connected') return allow({ undo: false, redo: false });
  try {
    const { undo, redo } = await request('GET', '/api/history?count=1');
    allow({ undo, redo });
  } catch { /* a click says why */ }
});

export async function step(direction, force = false) {
  // What is under way is taken back, not what came before it.
  if (gesture.row) gesture.row.run = '';
  while (busy.size && root.dataset.state === 'connected') await new Promise((done) => setTimeout(done, 5));
  try {
    const { tweaks = [] } = await change('POST', '/api/' + direction, force ? { force } : {});
    allow(direction === 'undo' ? { redo: true } : { undo: true });
    toast(
      (direction === 'undo' ? 'Undone' : 'Redone') +
        (tweaks.length ? `: ${tweaks.slice(0, 3).map((tweak) => nameOf(tweak.path)).join(', ')}` : '') +
        (tweaks.length > 3 ? ` and ${tweaks.length - 3} more` : ''),
    );
  } catch (error) {
    toast(error.message, {
      isBad: true,
      action: error.code === 'conflict' && may('admin') && !force && /force/.test(error.message)
        ? ['Force', () => step(direction, true)]
        : null,
    });
  }
}
