// Takes changes: what the events say, and the answers to what this page has changed.

import { announce } from './notes.js';
import { nanoseconds } from './numbers/decimal.js';
import { due, refreshSoon, refreshUnmoved } from './refresh.js';
import { mine, request } from './requests.js';
import { countSoon, drawSoon, rows } from './rows.js';
import { emit } from './signals.js';
import { has, judge, plain, tweaks } from './tweaks.js';

const undecided = [];
let bulk = 0;
/** Changes several tweaks; whose the events are that come before the answer is decided by the answer. */
export async function change(method, path, content) {
  bulk++;
  try {
    const reply = await request(method, path, content ?? {});
    refreshUnmoved(reply);
    return reply;
  } finally {
    if (!--bulk) {
      for (const event of undecided.splice(0)) if (!mine.has(String(event.rev))) noticed(event);
    }
  }
}

function follow(tweak, event) {
  for (const name of ['value', 'set', 'by']) if (name in event) tweak[name] = event[name];
  tweak.layer = event.layer ?? (String(event.value) === String(tweak.default) ? 'default' : 'override');
  const left = event.timeLeft && nanoseconds(event.timeLeft);
  // An answer has reported this revision already, with the time left, which events omit.
  tweak.until = left
    ? Date.now() + Number(left / 1000000n)
    : Number(event.rev) === tweak.rev
    ? tweak.until
    : null;
  tweak.rev = Number(event.rev);
  judge(tweak);
  if (tweak.layer === 'temporary override' && !tweak.until) refreshSoon(tweak.path);
}

/** Takes an event; false where its tweak is not known. */
export function changed(event) {
  const tweak = tweaks.get(event.path);
  if (!tweak) return false;
  if ('value' in event) event.value = plain(tweak, event.value);
  // An answer may overtake the events of what was sent before: they are told of, and change nothing.
  if (!(Number(event.rev) < tweak.rev)) follow(tweak, event);
  const row = rows.get(event.path);
  if (has(tweak, 'read-only')) {
    row?.sample(tweak.value);
    drawSoon(event.path);
    return true;
  }
  emit('committed');
  if (has(tweak, 'needs-restart')) due(event.path);
  const isMine = mine.has(String(event.rev));
  if (!isMine && row?.sender.isBusy) row.waiting.push(event);
  else if (!isMine && bulk) {
    undecided.push(event);
    row?.changed(event, true);
  } else {
    row?.changed(event, isMine);
    if (!isMine) announce(event);
  }
  drawSoon(event.path);
  countSoon();
  return true;
}

function noticed(event) {
  rows.get(event.path)?.flash(event.by);
  announce(event);
}
