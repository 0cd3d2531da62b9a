// Stores the tweaks of the process by path, in the order of the process.

import { partsOf, shown } from './format.js';
import { nanoseconds } from './numbers/decimal.js';
import { drawSoon, rows } from './rows.js';
import { stored } from './storage.js';

export const tweaks = new Map();
/** Paths by category and collection. */
export let tree = new Map();
export const favorites = new Set(stored('favorites', []));
export const has = (tweak, flag) => tweak.flags?.includes(flag) ?? false;
const definitionFields = [
  'kind',
  'of',
  'format',
  'min',
  'max',
  'step',
  'unit',
  'help',
  'policy',
  'choices',
  'flags',
  'minLength',
  'maxLength',
  'scale',
  'arguments',
  'template',
];
const signature = (tweak) =>
  JSON.stringify(
    definitionFields.map((name) => tweak[name]),
    (_, value) => typeof value === 'bigint' ? String(value) : value,
  );
const updatedFields = [
  'value',
  'default',
  'set',
  'layer',
  'overridden',
  'by',
  'until',
  'modified',
  'stale',
  'preview',
  'rev',
];
export const isOverridden = (tweak) => tweak.overridden === true;
export function updateModified(tweak) {
  if (has(tweak, 'read-only') || tweak.kind === 'action') tweak.modified = false;
  else if (has(tweak, 'secret')) tweak.modified = tweak.layer != null && tweak.layer !== 'default';
  else tweak.modified = String(tweak.value) !== String(tweak.default);
}

/** Converts a value for rows: points, lists and unset optionals become text that the process can parse. */
export function normalize(tweak, value) {
  if (tweak.kind === 'optional' && value === null && !has(tweak, 'secret')) return 'none';
  if (Array.isArray(value) && (tweak.kind === 'point' || tweak.of === 'point')) return value.join(',');
  return Array.isArray(value) ? shown(value) : value;
}

export function received(tweak) {
  tweak.preview = null;
  if ('settled' in tweak) {
    tweak.preview = { value: normalize(tweak, tweak.value), by: tweak.by };
    Object.assign(tweak, { value: tweak.settled, layer: tweak.settledLayer, by: null });
  }
  for (const name of ['value', 'default']) if (name in tweak) tweak[name] = normalize(tweak, tweak[name]);
  const left = tweak.timeLeft && nanoseconds(tweak.timeLeft);
  tweak.until = left == null || left === '' ? null : Date.now() + Number(left / 1000000n);
  if (!('default' in tweak) && tweak.kind !== 'action' && !has(tweak, 'secret')) tweak.default = tweak.value;
  if (!tweak.layer && tweak.modified) Object.assign(tweak, { layer: 'override', overridden: true });
  updateModified(tweak);
  return tweak;
}

/** Applies a snapshot or a listing; rows and their typed text stay.
    A listing of revision `rev` and events may arrive in any order: newer changes from events are kept. */
export function applySnapshot(list, isWhole, rev = Infinity) {
  const before = isWhole ? new Set(tweaks.keys()) : new Set();
  let moved = 0;
  let isNew = isWhole && tweaks.size !== list.length;
  for (const fresh of list.map(received)) {
    const old = tweaks.get(fresh.path);
    before.delete(fresh.path);
    if (!old || signature(old) !== signature(fresh)) {
      remove(fresh.path);
      tweaks.set(fresh.path, fresh);
      isNew = true;
    } else if (!(old.rev > rev)) {
      const isOther = String(old.value) !== String(fresh.value) || old.set !== fresh.set;
      for (const name of updatedFields) old[name] = fresh[name];
      if (isOther && !has(old, 'read-only')) {
        moved++;
        rows.get(old.path)?.changed({ by: old.by }, false);
      } else drawSoon(old.path);
    }
  }
  for (const path of before) {
    tweaks.delete(path);
    remove(path);
  }
  if (isNew) buildTree(list, isWhole);
  return { moved, isNew };
}

/** Removes a row; an editor in it is closed first, which ends its changes. */
function remove(path) {
  const element = rows.get(path)?.element;
  element?.querySelector(':popover-open')?.hidePopover();
  element?.remove();
  rows.delete(path);
}

function buildTree(list, isWhole) {
  tree = new Map();
  for (const path of isWhole ? list.map((tweak) => tweak.path) : tweaks.keys()) {
    const [category, collection] = partsOf(path);
    if (!tree.has(category)) tree.set(category, new Map());
    if (!tree.get(category).has(collection)) tree.get(category).set(collection, []);
    tree.get(category).get(collection).push(path);
  }
}
