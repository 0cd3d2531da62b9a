// Shows other values in the process while the user compares, or beside the rows where it allows no previews.

import { clean, h } from '../dom.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { drawSoon } from '../rows.js';
import { may, session } from '../session.js';
import { listen } from '../signals.js';
import { has, normalize, tweaks } from '../tweaks.js';

/** The most tweaks that the process shows. */
const limit = 200;
/** What is to be shown, and what the process has been asked for; null for nothing. */
let wanted = null;
let sent = null;
let isBusy = false;
let renewal = 0;
/** The revision in which the last preview began. */
let begun = 0;
const status = h('output', { id: 'compared', hidden: true });
/** The values beside the rows, by path. */
let shown = new Map();

/** The value that a row shows beside its own; undefined without one. */
export const otherValue = (tweak) => shown.get(tweak.path) ?? tweak.preview?.value;

const hiding = ['secret', 'read-only', 'needs-restart'];
/** Whether a value of it may be shown. */
export const mayCompare = (tweak) =>
  tweak != null && tweak.kind !== 'action' && !hiding.some((flag) => has(tweak, flag)) &&
  may('write', tweak.path);

/** Shows what changes would do, until `release`. Only the newest of several calls is sent. */
export function hold(changes, title) {
  wanted = { changes: changes.slice(0, limit), title, isCut: changes.length > limit };
  work();
}

/** Takes back what is shown. */
export function release() {
  if (!wanted && !sent) return;
  wanted = null;
  showBeside([]);
  work();
}

/** One request at a time: a slow network drops what is no longer wanted. */
async function work() {
  if (isBusy) return;
  isBusy = true;
  while (wanted !== sent) {
    const next = wanted;
    try {
      if (sent && !next?.changes.length) await end();
      if (next?.changes.length) await show(next);
      else if (next) showBeside([], `${next.title}: nothing differs here`);
      sent = next;
    } catch (error) {
      // An earlier one may still be on.
      if (sent) await end();
      sent = null;
      if (wanted === next) fail(error);
    }
  }
  isBusy = false;
}

async function show(next) {
  const isDry = !session.previews;
  const content = { changes: next.changes, ...isDry ? { dry: true } : { stream: session.stream } };
  const { tweaks = [], rev } = await request('PUT', '/api/preview', content);
  begun = Number(rev);
  if (wanted !== next) return;
  const count = `${tweaks.length} ${tweaks.length === 1 ? 'tweak differs' : 'tweaks differ'}`;
  const place = isDry ? 'beside the rows: the program allows no previews' : `in ${session.process}`;
  const cut = next.isCut ? `, of the first ${limit}` : '';
  const what = tweaks.length ? `${count}${cut}, shown ${place}` : 'nothing differs here';
  showBeside(tweaks, `${next.title}: ${what}`);
  clearInterval(renewal);
  if (!isDry && tweaks.length) renewal = setInterval(renew, 5000);
}

async function renew() {
  const own = wanted;
  if (!own || sent !== own || isBusy) return;
  try {
    await request('PUT', '/api/preview', { stream: session.stream });
  } catch (error) {
    if (wanted === own && sent === own) fail(error);
  }
}

async function end() {
  clearInterval(renewal);
  if (!session.previews) return;
  try {
    await request('DELETE', '/api/preview?stream=' + session.stream);
  } catch { /* it ends by itself */ }
}

/** The values have ended by themselves, or were never shown. */
function forget() {
  wanted = sent = null;
  clearInterval(renewal);
  showBeside([]);
}

function fail(error) {
  if (wanted) toast(error.message, { isBad: true });
  forget();
}

/** Shows values beside the rows, and what they are. */
function showBeside(list, text = '') {
  const before = shown;
  shown = new Map(list.map(({ path, value }) => [path, normalize(tweaks.get(path) ?? {}, value)]));
  for (const path of new Set([...before.keys(), ...shown.keys()])) drawSoon(path);
  if (!status.isConnected) document.body.append(status);
  status.hidden = !text;
  status.textContent = clean(text);
}

// Another change of a tweak, or a lost connection, has ended it.
listen('preview-ended', (rev) => {
  if (sent && wanted === sent && session.previews && rev > begun) forget();
});
