// Offers to reset overrides that are the defaults of the program by now.

import { change } from '../changes.js';
import { button, byId, h, on } from '../dom.js';
import { toast } from '../notifications.js';
import { drawSoon, gesture } from '../rows.js';
import { may, session } from '../session.js';
import { emit, listen } from '../signals.js';
import { store, stored } from '../storage.js';
import { tweaks } from '../tweaks.js';
import { counted } from './texts.js';

/** The paths that the list shows instead of all; null for all. */
export const stale = { shown: null };
/** The start of the process for which the user has declined. */
let declined = stored('kept', '');

const text = h('span');
const showing = button('Show', show, { part: 'stale-show', 'aria-pressed': 'false' });
const resetting = button('Reset them', reset, { part: 'stale-reset' });
const strip = h(
  'div.strip',
  { part: 'stale', role: 'group', label: 'Overrides that are no longer needed', hidden: true },
  text,
  showing,
  resetting,
  button('Not now', decline, { class: 'button plain', part: 'stale-later' }),
);
byId('strips').prepend(strip);

const found = () =>
  declined === session.instance ? [] : [...tweaks.values()].filter(isStale).map((tweak) => tweak.path);
const isStale = (tweak) =>
  tweak.stale && tweak.layer === 'override' && !tweak.modified && may('write', tweak.path);

/** Whether the user is at a row, which then must not move. */
const isInUse = () => gesture.row?.drag || document.activeElement.closest('#list .row') != null;

function draw() {
  const { length } = found();
  if (strip.hidden === length > 0 && isInUse()) return;
  strip.hidden = !length;
  // The last one is gone, and with it the way back to the list.
  if (!length && stale.shown) return setTimeout(show);
  text.textContent = `${counted(length, 'tweak')} ${
    length === 1 ? 'is set to what is its default now' : 'are set to what is their default now'
  }`;
  resetting.textContent = length === 1 ? 'Reset it' : 'Reset them';
}

listen('count', draw);
listen('listed', () => {
  showing.setAttribute('aria-pressed', stale.shown != null);
  draw();
});
on(byId('list'), 'focusout', () => setTimeout(draw));

function show() {
  stale.shown = stale.shown ? null : found();
  emit('list', true);
}

async function reset() {
  const paths = found();
  const known = new Map(paths.map((path) => [path, tweaks.get(path)?.rev]));
  let reply;
  try {
    reply = await change('PATCH', '/api/tweaks', { changes: paths.map((path) => ({ path, reset: true })) });
  } catch (error) {
    return toast(error.message, { isBad: true });
  }
  // Nothing has changed for others, so there is no event.
  for (const path of paths.filter((path) => tweaks.get(path)?.rev === known.get(path))) {
    Object.assign(tweaks.get(path) ?? {}, { layer: 'default', overridden: false, by: null, stale: false });
    drawSoon(path);
  }
  const moved = reply.tweaks?.filter(({ value, was }) => String(value) !== String(was)).length ?? 0;
  const effect = moved ? counted(moved, 'value') + ' changed' : 'no value has changed';
  toast(`${counted(paths.length, 'override')} reset; ${effect}`);
  close();
}

/** Offers nothing until the process starts again. */
function decline() {
  declined = session.instance;
  store('kept', declined);
  close();
}

function close() {
  byId('list').focus({ preventScroll: true });
  if (stale.shown) show();
  draw();
}
