// Handles the replies to a row's changes, and the events that were received before them.

import { addPendingRestart, refreshSoon } from './refresh.js';
import { ownRevisions } from './requests.js';
import { announceChange } from './notifications.js';
import { shown } from './format.js';
import { nanoseconds } from './numbers/decimal.js';
import { countSoon } from './rows.js';
import { session } from './session.js';
import { emit } from './signals.js';
import { has, normalize, updateModified } from './tweaks.js';

/** Handles an accepted change. */
export function accepted(row, reply, job) {
  const { tweak } = row;
  const own = reply.tweaks?.find((other) => other.path === tweak.path);
  for (const name of ['value', 'was']) if (own && name in own) own[name] = normalize(tweak, own[name]);
  const others = row.waiting.splice(0).filter((event) => !ownRevisions.has(String(event.rev)));
  const later = others.filter((event) => own == null || event.rev > reply.rev);
  if (own && !later.length) follow(tweak, own, reply, job);
  if (own && job.settled) emit('edited');
  if (own) emit('own-changes', [own], true);
  row.showError(
    reply.unsaved ? 'in effect, but not saved: ' + reply.unsaved
      : reply.unaudited ? 'in effect, but not in the audit: ' + reply.unaudited : '');
  if (own && has(tweak, 'needs-restart')) addPendingRestart(tweak.path);
  if (job.settled && needsRefresh(reply, own, job)) refreshSoon(tweak.path);
  for (const event of row.drag ? others : later) {
    row.changed(event, false);
    announceChange(event);
  }
  if (row.drag || later.length && row.isInUse) return;
  show(row, own, job);
}

/** Updates the tweak from the reply. */
function follow(tweak, own, reply, { change }) {
  Object.assign(tweak, { value: own.value, by: session.identity, rev: Number(reply.rev) });
  if ('set' in own) tweak.set = own.set;
  tweak.overridden = !change.reset;
  if (!change.reset) tweak.layer = change.for ? 'temporary override' : 'override';
  else if (String(own.value) === String(tweak.default)) tweak.layer = 'default';
  const time = own.timeLeft && nanoseconds(own.timeLeft);
  tweak.until = time ? Date.now() + Number(time / 1000000n) : null;
  updateModified(tweak);
}

/** Whether the reply leaves the layers unknown. */
function needsRefresh(reply, own, { change }) {
  return change.reset || change.keep || change.for || reply.unchanged ||
    String(own?.value) === String(own?.was);
}

function show(row, own, job) {
  const { tweak } = row;
  if (!row.isEdited && !row.sender.isBusy) {
    row.ghost = null;
    row.control.show(tweak.value);
  }
  if (job.text != null && 'value' in job.change && own?.value != null) row.showMeaning(job.text);
  if (own?.value != null && 'clampedFrom' in own) {
    row.showError(`${shown(own.clampedFrom)} is out of range; the nearest value was set`);
  }
  row.draw();
  if (!row.layers.hidden) refreshSoon(tweak.path);
  countSoon();
}

/** The message of an error beside its row: without the path, and without a remedy for other clients. */
export function reasonOf({ message, reply }) {
  const { path, force } = reply?.error ?? {};
  const end = force ? message.lastIndexOf('; ') : -1;
  const text = end < 0 ? message : message.slice(0, end);
  const subject = [path, JSON.stringify(path)].find((subject) => subject && text.startsWith(subject));
  if (!subject) return text;
  const rest = text.slice(subject.length);
  return rest.startsWith(': ') ? rest.slice(2) : 'it' + rest;
}

/** Handles a refused change, or a lost connection. */
export function failed(row, error) {
  for (const event of row.waiting.splice(0)) announceChange(event);
  row.showError(reasonOf(error));
  if (row.drag) return;
  // Typed text stays, so that the user can correct it.
  for (const field of row.fields) field.refuse();
  if (!row.isEdited) row.control.show(row.tweak.value);
  row.draw();
}
