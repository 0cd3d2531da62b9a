// Applies change events to the tweaks and their rows, and sends changes of several tweaks.

import { announceChange } from './notifications.js';
import { nanoseconds } from './numbers/decimal.js';
import { addPendingRestart, refreshSoon, refreshUnmoved } from './refresh.js';
import { ownRevisions, request } from './requests.js';
import { countSoon, drawSoon, rows } from './rows.js';
import { emit } from './signals.js';
import { has, normalize, tweaks, updateModified } from './tweaks.js';

const undecided = [];
let bulk = 0;
/** Changes several tweaks. Events are queued until the reply, which identifies the own changes among them. */
export async function change(method, path, content) {
  bulk++;
  try {
    const reply = await request(method, path, content ?? {});
    refreshUnmoved(reply);
    emit('own-changes', reply.tweaks ?? []);
    return reply;
  } finally {
    if (!--bulk) {
      for (const event of undecided.splice(0)) if (!ownRevisions.has(String(event.rev))) noticed(event);
    }
  }
}

function follow(tweak, event) {
  tweak.preview = null;
  for (const name of ['value', 'set', 'by']) if (name in event) tweak[name] = event[name];
  tweak.layer = event.layer ?? (String(event.value) === String(tweak.default) ? 'default' : 'override');
  tweak.overridden = event.overridden ?? tweak.layer === 'override';
  const left = event.timeLeft && nanoseconds(event.timeLeft);
  // A reply has reported this revision already, with the time left, which events omit.
  tweak.until = left
    ? Date.now() + Number(left / 1000000n)
    : Number(event.rev) === tweak.rev
    ? tweak.until
    : null;
  tweak.rev = Number(event.rev);
  updateModified(tweak);
  if (tweak.layer === 'temporary override' && !tweak.until) refreshSoon(tweak.path);
}

/** Whether an event begins or ends a preview, which sets nothing. */
const isPreview = (tweak, { layer, by }) =>
  layer === 'preview' || tweak.preview != null && String(by).startsWith('preview of ');

let ending = 0;
function preview(tweak, { path, layer, value, by, rev }) {
  tweak.preview = layer === 'preview' ? { value, by } : null;
  tweak.rev = Number(rev);
  drawSoon(path);
  clearTimeout(ending);
  // Another preview may begin in the same commit.
  ending = setTimeout(() => {
    if (![...tweaks.values()].some((tweak) => tweak.preview)) emit('preview-ended', Number(rev));
  }, 100);
}

/** Applies a change event; returns false if its tweak is unknown. */
export function changed(event) {
  const tweak = tweaks.get(event.path);
  if (!tweak) return false;
  if ('value' in event) event.value = normalize(tweak, event.value);
  if (isPreview(tweak, event)) {
    preview(tweak, event);
    return true;
  }
  // A reply may overtake events of earlier changes: these are announced, but not applied.
  if (!(Number(event.rev) < tweak.rev)) follow(tweak, event);
  const row = rows.get(event.path);
  if (has(tweak, 'read-only')) {
    drawSoon(event.path);
    return true;
  }
  emit('committed');
  if (has(tweak, 'needs-restart')) addPendingRestart(event.path);
  const isMine = ownRevisions.has(String(event.rev));
  if (!isMine && row?.sender.isBusy) row.waiting.push(event);
  else if (!isMine && bulk) {
    undecided.push(event);
    row?.changed(event, true);
  } else {
    row?.changed(event, isMine);
    if (!isMine) announceChange(event);
  }
  drawSoon(event.path);
  countSoon();
  return true;
}

function noticed(event) {
  rows.get(event.path)?.flash(event.by);
  announceChange(event);
}
