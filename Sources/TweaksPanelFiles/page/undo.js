// Undoes and redoes the user's own last change, and a change of another user only after confirmation.

import { change } from './changes.js';
import { byId, clean, root } from './dom.js';
import { moveText, nameOf } from './format.js';
import { offer, toast, withdraw } from './notifications.js';
import { gesture } from './rows.js';
import { request } from './requests.js';
import { busy } from './sender.js';
import { isConnected, may, session } from './session.js';
import { listen } from './signals.js';

const words = {
  undo: { infinitive: 'Undo', past: 'Undone', next: 'undoes' },
  redo: { infinitive: 'Redo', past: 'Redone', next: 'redoes' },
};

/** Enables the buttons of the possible steps; the process decides when they are used. */
export function allow(steps) {
  for (const direction in steps) byId(direction).disabled = !steps[direction] || !may('write');
}

// A change can be undone. The process is asked for the exact state once changes pause.
listen('committed', () => allow({ undo: true }));
listen('count', async () => {
  if (!may('write') || root.dataset.state !== 'connected') return allow({ undo: false, redo: false });
  try {
    const { undo, redo } = await request('GET', '/api/history?count=1');
    allow({ undo, redo });
  } catch { /* a click reports the error */ }
});

/** `Gravity 100 → 300 and 2 more`. */
function summary([first, ...others]) {
  const more = others.length ? ` and ${others.length} more` : '';
  return first ? `${nameOf(first.path)} ${moveText(first)}${more}` : '';
}

/** The same for what a step did. What another layer has set since stays as it is. */
function outcome(direction, { changes: [first, ...others], tweaks }) {
  const now = tweaks?.find(({ path }) => path === first?.path);
  if (!first) return '';
  if (!now) return nameOf(first.path) + ' stays as it is';
  return summary([{ ...first, ...now, for: direction === 'redo' ? first.for : null }, ...others]);
}

/** Other windows may have the same name, or none. */
const ownerOf = ({ by }) => by === session.identity ? "another window's change" : `${clean(by)}'s change`;

/** Undoes or redoes one of the user's own changes. */
export async function step(direction) {
  withdraw();
  // Waits for pending changes, so that they are undone, not the changes before them.
  if (gesture.row) gesture.row.runID = '';
  while (busy.size && isConnected()) await new Promise((done) => setTimeout(done, 5));
  await go(direction, { mine: true });
}

async function go(direction, content) {
  try {
    const reply = await change('POST', '/api/' + direction, content);
    allow(direction === 'undo' ? { redo: true } : { undo: true });
    toast(`${words[direction].past}: ${outcome(direction, reply)}${reply.own ? '' : ` (${ownerOf(reply)})`}`);
  } catch (error) {
    const isConflict = error.code === 'conflict';
    // A conflict without a path: there is no own change.
    if (isConflict && content.mine && !error.reply.error.path) return offerStep(direction);
    const canForce = isConflict && may('admin') && !content.force && error.reply.error.force;
    toast(error.message, {
      isBad: true,
      action: canForce ? ['Force', () => go(direction, { ...content, force: true })] : null,
    });
  }
}

/** Offers to undo or redo a change of another client; `known` is the revision that the user has confirmed. */
async function offerStep(direction, known = null) {
  const { infinitive, next } = words[direction];
  try {
    const reply = await request('GET', '/api/history?count=1000');
    allow({ undo: reply.undo, redo: reply.redo });
    const rev = reply[next];
    if (rev == null) return toast(`Nothing to ${direction}`);
    // The confirmed change is undone; if another one has come meanwhile, that one is offered.
    if (String(rev) === String(known)) return await go(direction, {});
    const entry = reply.history.find((entry) => String(entry.rev) === String(rev));
    const text = entry ? summary(entry.changes) : `the change of revision ${rev}`;
    const target = entry && !entry.own ? `${ownerOf(entry)}: ${text}` : text;
    offer(`${infinitive} ${target}?`, infinitive, () => offerStep(direction, rev));
  } catch (error) {
    toast(error.message, { isBad: true });
  }
}
