// Takes back the last change, or makes it again.

import { change } from './changes.js';
import { root } from './dom.js';
import { nameOf } from './format.js';
import { toast } from './notes.js';
import { gesture } from './rows.js';
import { busy } from './sender.js';
import { may } from './session.js';

export async function step(direction, force = false) {
  // What is under way is taken back, not what came before it.
  if (gesture.row) gesture.row.run = '';
  while (busy.size && root.dataset.state === 'connected') await new Promise((done) => setTimeout(done, 5));
  try {
    const { tweaks = [] } = await change('POST', '/api/' + direction, force ? { force } : {});
    toast(
      (direction === 'undo' ? 'Undone' : 'Done again') +
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
