// Takes back one's own last change, or makes it again; another's only when a person says so.

import { change } from './changes.js';
import { byId, clean, root } from './dom.js';
import { moveText, nameOf } from './format.js';
import { offer, toast, withdraw } from './notes.js';
import { gesture } from './rows.js';
import { request } from './requests.js';
import { busy } from './sender.js';
import { may, session } from './session.js';
import { listen } from './signals.js';

const words = {
  undo: { infinitive: 'Undo', past: 'Undid', next: 'undoes' },
  redo: { infinitive: 'Redo', past: 'Redid', next: 'redoes' },
};

/** What can be done, as far as it is known; the process knows for sure. */
export function allow(steps) {
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

/** `Gravity 100 → 300`; of another's change with whose it is. */
function described({ by, changes }) {
  const [first] = changes;
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
  const text = first ? `${nameOf(first.path)} ${moveText(first)}${more}` : '';
  return by === session.identity ? text : `${clean(by)}'s change: ${text}`;
}

/** One step, through one's own changes. */
export async function step(direction) {
  withdraw();
  // What is under way is taken back, not what came before it.
  if (gesture.row) gesture.row.run = '';
  while (busy.size && root.dataset.state === 'connected') await new Promise((done) => setTimeout(done, 5));
  await go(direction, { mine: true });
}

async function go(direction, content) {
  try {
    const reply = await change('POST', '/api/' + direction, content);
    allow(direction === 'undo' ? { redo: true } : { undo: true });
    toast(`${words[direction].past} ${described(reply)}`);
  } catch (error) {
    const isConflict = error.code === 'conflict';
    // A conflict about no tweak: there is nothing of one's own.
    if (isConflict && content.mine && !error.reply.error.path) return ask(direction);
    const canForce = isConflict && may('admin') && !content.force && /force/.test(error.message);
    toast(error.message, {
      isBad: true,
      action: canForce ? ['Force', () => go(direction, { ...content, force: true })] : null,
    });
  }
}

/** Offers to go on with another's change; `known` is the revision of what was offered, and agreed to. */
async function ask(direction, known = null) {
  const { infinitive, next } = words[direction];
  try {
    const reply = await request('GET', '/api/history?count=1000');
    allow({ undo: reply.undo, redo: reply.redo });
    const rev = reply[next];
    if (rev == null) return toast(`Nothing to ${direction}`);
    // What was agreed to is done; where something else has come meanwhile, that is offered.
    if (String(rev) === String(known)) return await go(direction, {});
    const entry = reply.history.find((entry) => String(entry.rev) === String(rev));
    const what = entry ? described(entry) : `the change of revision ${rev}`;
    offer(`${infinitive} ${what}?`, infinitive, () => ask(direction, rev));
  } catch (error) {
    toast(error.message, { isBad: true });
  }
}
