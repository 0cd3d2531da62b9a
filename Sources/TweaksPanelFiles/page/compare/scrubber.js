// Goes back in the history: shows the values of an earlier time, and sets them again if the user wants that.

import { change } from '../changes.js';
import { button, h, on } from '../dom.js';
import { when } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { may } from '../session.js';
import { emit } from '../signals.js';
import { normalize, tweaks } from '../tweaks.js';
import { hold, mayCompare, release } from './hold.js';

/** A value of the history as a body can have it. */
const sendable = (value) => typeof value === 'bigint' ? String(value) : value;

/** The changes that lead from now to the time after an entry of a history, which begins with the newest. */
function changesTo(position, history) {
  const earlier = new Map();
  for (const entry of history.slice(0, position)) {
    for (const { path, was, secret } of entry.changes) if (!secret) earlier.set(path, sendable(was));
  }
  return [...earlier].map(([path, value]) => ({ path, value })).filter(isOther);
}

/** Whether a change would do something that this client may do and see. */
const isOther = ({ path, value }) => {
  const tweak = tweaks.get(path);
  return mayCompare(tweak) && value !== undefined && String(normalize(tweak, value)) !== String(tweak.value);
};

let slider = null;
/** Whether the slider of the history stands at an earlier time. */
export const isBack = () => slider?.isConnected === true && slider.value !== slider.max;

/** Sets values again, as one change. */
async function restore(changes, text) {
  if (slider) slider.value = slider.max;
  try {
    await change('PATCH', '/api/tweaks', { changes });
    toast(`Restored ${text}`);
  } catch (error) {
    toast(error.message, { isBad: true });
  }
}

/** Sets again what was in force after the entry of a revision, also where others have changed it since. */
async function restoreAll(rev, text) {
  try {
    const { history } = await request('GET', '/api/history?count=100');
    const at = history.findIndex((entry) => String(entry.rev) === String(rev));
    const position = rev == null ? history.length : at;
    if (position < 0) return toast('The history no longer reaches back there', { isBad: true });
    await restore(changesTo(position, history), text);
  } catch (error) {
    toast(error.message, { isBad: true });
  }
}

/** A button that sets again what an entry has set; null where all of that is as it was. */
export function restoreButton(entry) {
  if (entry.kind === 'reload' || entry.kind === 'expiry') return null;
  const changes = entry.changes.filter(({ secret }) => !secret)
    .map(({ path, value }) => ({ path, value: sendable(value) })).filter(isOther);
  if (!changes.length) return null;
  return button('Restore this', () => restore(changes, `the values of ${when(entry.time)}`), {
    class: 'button plain',
    part: 'restore',
  });
}

const differ = (count) =>
  count === 0 ? 'nothing differs' : `${count} ${count === 1 ? 'tweak differs' : 'tweaks differ'}`;

/** A slider over the history, the newest entry first; null without changes. */
export function scrubber(history) {
  if (!history.length || !may('write')) return null;
  const hint = h('span.soft', 'Drag to see earlier values.');
  const out = h('p.cluster', { role: 'status' }, hint);
  const own = slider = h('input', {
    type: 'range',
    min: 0,
    max: history.length,
    step: 1,
    value: history.length,
    label: 'Time',
    part: 'scrubber',
    'aria-valuetext': 'now',
  });
  const look = () => {
    const position = history.length - Number(own.value);
    const time = position === 0 ? 'now' : position < history.length
      ? when(history[position].time) : 'before all of these';
    const changes = changesTo(position, history);
    own.setAttribute('aria-valuetext', time);
    const set = () => restoreAll(history[position]?.rev, `the values of ${time}`);
    out.replaceChildren(
      position ? h('span.soft', `${time}: ${differ(changes.length)}`) : hint,
      ...changes.length ? [button('Restore these', set, { part: 'restore-all' })] : [],
    );
    if (changes.length) hold(changes, `Values of ${time}`);
    else release();
    // The list may have missed changes.
    if (!position) emit('count');
  };
  own.oninput = look;
  // The process shows them while the slider is held; here they stay, to be restored.
  for (const name of ['keyup', 'blur', 'pointerup', 'pointercancel']) on(own, name, release);
  return h('div', own, out);
}
