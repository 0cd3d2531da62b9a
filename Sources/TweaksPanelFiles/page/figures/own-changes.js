// Remembers the changes that this window has made, which charts show as ticks.

import { moveText, nameOf } from '../format.js';
import { listen } from '../signals.js';
import { has, tweaks } from '../tweaks.js';

const kept = 1800000;
/** Oldest first, each with its time and its changes. */
let commits = [];

listen('own-changes', (changes, isOfRow = false) => {
  const moved = changes.filter(({ was, value }) => was != null && String(was) !== String(value));
  if (!moved.length) return;
  const now = Date.now();
  // The values of a drag are one change; that of an editor may change several tweaks in turn.
  const last = commits.findLast((one) =>
    one.isOfRow && now - one.time < 1000 && one.changes[0].path === moved[0].path);
  const isSame = isOfRow && last != null;
  if (isSame) commits = commits.filter((one) => one !== last);
  const first = isSame ? { ...moved[0], was: last.changes[0].was } : moved[0];
  // A canceled drag has changed nothing.
  if (isSame && String(first.was) === String(first.value)) return;
  commits.push({ time: now, changes: [first, ...moved.slice(1)], isOfRow });
  commits = commits.filter(({ time }) => time > now - kept);
});

/** The changes since a time, as `Size 16 → 24`. */
export const ownChanges = (start) =>
  commits.filter(({ time }) => time >= start).map(({ time, changes }) => ({ time, text: textOf(changes) }));

function textOf([first, ...others]) {
  const secret = first.secret || has(tweaks.get(first.path) ?? {}, 'secret');
  const more = others.length ? ` and ${others.length} more` : '';
  return `${nameOf(first.path)} ${moveText({ ...first, secret })}${more}`;
}
