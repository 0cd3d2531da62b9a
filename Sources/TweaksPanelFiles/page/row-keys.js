// Moves the focus between and within rows, and handles the keys, copying and pasting of a focused row.

import { byId, on } from './dom.js';
import { shown } from './format.js';
import { announce, toast } from './notifications.js';
import { has } from './tweaks.js';

const focusable = 'a, button, input, select, textarea, [tabindex]';
/** What a row has for its own; a picker in it is another place. */
const within = (row) =>
  [...row.control.element.querySelectorAll(focusable)].filter((element) => !element.closest('[popover]'));
const isUsable = (element) => !element.disabled && element.checkVisibility({ visibilityProperty: true });

/** The part of a row that Tab reaches: its field, or else its first control. */
export const mainOf = (row) => {
  const all = within(row).filter((element) => !element.disabled && !element.closest('[hidden]'));
  return all.find((element) => ['field', 'hex'].includes(element.dataset.part)) ??
    all.find((element) => element.type !== 'radio' || element.checked) ?? all[0];
};

/** Leaves one part of a row in the order of Tab, or all of its control while the focus is in that. */
export function orderFocus(row, isInside) {
  const main = mainOf(row);
  for (const element of within(row)) {
    const isReached = element === main || element.type === 'radio' ||
      isInside && element.closest('.pair') && element.matches('input, select, textarea, button');
    element.tabIndex = isReached ? 0 : -1;
  }
  // A row without a control that can be used is a stop itself.
  row.element.tabIndex = main ? -1 : 0;
}

/** Handles a key that a row or a part of it has received. */
export function pressed(row, event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === row.element) pressedRow(row, event);
  else if (event.key === 'Escape') leave(row, event);
  else if (event.target.matches('.tool, .name > a, .name > .picture')) moveWithin(row, event);
  else return;
}

function leave(row, event) {
  event.preventDefault();
  row.element.focus({ preventScroll: true });
}

function pressedRow(row, event) {
  const acts = { r: 'reset', e: 'explain', f: 'star', t: 'for', m: 'more', ContextMenu: 'more' };
  const all = [...byId('list').querySelectorAll('.row')].filter(isUsable);
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key] ?? 0;
  const next = all[all.indexOf(row.element) + step];
  if (event.key === 'Enter') mainOf(row)?.focus();
  else if (event.key in acts) row.act(acts[event.key]);
  else if (step && next) next.focus();
  else if (event.key === 'ArrowUp') byId('search').focus();
  else return moveWithin(row, event);
  event.preventDefault();
}

/** Left and right lead through the parts of a row. */
function moveWithin(row, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const all = [row.element, ...[...row.element.querySelectorAll(focusable)].filter(isUsable)];
  all[all.indexOf(event.target) + step]?.focus({ preventScroll: true });
}

// Copy and paste ----------------------------------------------------------------------------------------

function line({ tweak }) {
  const { path, value, kind, of } = tweak;
  const isText = kind === 'string' || kind === 'optional' && of === 'string' && value !== 'none';
  const subject = /[\s"'#=*?]/.test(path) ? JSON.stringify(path) : path;
  return `${subject} = ${isText ? JSON.stringify(value) : shown(value)}`;
}

/** The value of a pasted text, which may be the line of another tweak; null for several lines. */
function valueOf(text) {
  const lines = text.trim().split('\n').map((one) => /^("(?:[^"\\]|\\.)+"|[^"\s]\S*\/\S*) = (.*)$/.exec(one));
  if (lines.length > 1 && lines.every(Boolean)) return null;
  const value = lines.length === 1 && lines[0]?.[2];
  if (!value) return text.replace(/\n$/, '');
  try {
    return value.startsWith('"') ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}

/** Copies a line that an import and a terminal accept. */
export async function copyText(row) {
  try {
    await navigator.clipboard.writeText(line(row));
    announce(`copied ${row.label}`);
  } catch {
    toast('The browser does not let this page copy; focus the row, and press Ctrl C', { isBad: true });
  }
}

const focusedRow = () => document.activeElement?.row;

on(document, 'copy', (event) => {
  const row = focusedRow();
  if (!row || String(getSelection()) || has(row.tweak, 'secret') || row.tweak.kind === 'action') return;
  event.clipboardData.setData('text/plain', line(row));
  event.preventDefault();
  announce(`copied ${row.label}`);
});

on(document, 'paste', (event) => {
  const row = focusedRow();
  if (!row || row.reason || row.tweak.kind === 'action' || has(row.tweak, 'read-only')) return;
  const text = event.clipboardData.getData('text/plain');
  event.preventDefault();
  const value = valueOf(text);
  if (value == null) toast('These are several values; open Import, and paste them there', { isBad: true });
  else if (text) row.send({ value }, { text: value });
});
