// Takes the answers to what a row has sent, and the events that came before them.

import { due, refreshSoon } from './refresh.js';
import { mine } from './requests.js';
import { announce } from './notes.js';
import { shown } from './format.js';
import { nanoseconds } from './numbers/decimal.js';
import { countSoon } from './rows.js';
import { session } from './session.js';
import { has, judge, plain } from './tweaks.js';

/** The process has taken a change. */
export function taken(row, reply, job) {
  const { tweak } = row;
  const own = reply.tweaks?.find((other) => other.path === tweak.path);
  for (const name of ['value', 'was']) if (own && name in own) own[name] = plain(tweak, own[name]);
  const others = row.waiting.splice(0).filter((event) => !mine.has(String(event.rev)));
  const later = others.filter((event) => own == null || event.rev > reply.rev);
  if (own && !later.length) follow(tweak, own, reply, job);
  row.say(reply.unsaved ? 'in effect, but not saved: ' + reply.unsaved : '');
  if (own && has(tweak, 'needs-restart')) due(tweak.path);
  if (job.settled && isUntold(reply, own, job)) refreshSoon(tweak.path);
  for (const event of row.drag ? others : later) {
    row.changed(event, false);
    announce(event);
  }
  if (row.drag || later.length && row.isHeld) return;
  show(row, own, job);
}

/** The tweak as the answer has it. */
function follow(tweak, own, reply, { change }) {
  Object.assign(tweak, { value: own.value, by: session.identity, rev: Number(reply.rev) });
  if ('set' in own) tweak.set = own.set;
  if (!change.reset) tweak.layer = change.for ? 'temporary override' : 'override';
  else if (String(own.value) === String(tweak.default)) tweak.layer = 'default';
  const time = own.timeLeft && nanoseconds(own.timeLeft);
  tweak.until = time ? Date.now() + Number(time / 1000000n) : null;
  judge(tweak);
}

/** The answer does not say what the layers are now. */
function isUntold(reply, own, { change }) {
  return change.reset || change.keep || change.for || reply.unchanged ||
    String(own?.value) === String(own?.was);
}

function show(row, own, job) {
  const { tweak } = row;
  if (!row.isEdited && !row.sender.isBusy) {
    row.ghost = null;
    row.control.show(tweak.value);
  }
  if (job.text != null && 'value' in job.change && own?.value != null) row.understood(job.text);
  if (own?.value != null && 'clampedFrom' in own) {
    row.say(`${shown(own.clampedFrom)} is out of range; the nearest was taken`);
  }
  row.draw();
  if (!row.layers.hidden) refreshSoon(tweak.path);
  countSoon();
}

/** The process has refused a change, or cannot be reached. */
export function failed(row, error) {
  for (const event of row.waiting.splice(0)) announce(event);
  row.say(error.message);
  if (row.drag) return;
  // What was typed can be corrected.
  row.isEdited = row.control.restore?.() ?? false;
  if (!row.isEdited) row.control.show(row.tweak.value);
  row.draw();
}
