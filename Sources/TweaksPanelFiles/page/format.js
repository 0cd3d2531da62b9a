// Formats values, times and names for display.

import { clean } from './dom.js';
import { duration } from './numbers/decimal.js';

/** A list in the syntax of the process. */
const listed = (values) =>
  '[' + values.map((one) => typeof one === 'string' ? JSON.stringify(one) : String(one)).join(', ') + ']';

export const shown = (value) => {
  if (Array.isArray(value)) return listed(value);
  if (typeof value === 'number') return String(Number(value.toPrecision(15)));
  return value == null ? '' : String(value);
};

export const brief = (value, length = 60) => {
  const text = clean(shown(value)).replaceAll('\n', ' ⏎ ') || '“”';
  return text.length > length ? text.slice(0, length) + '…' : text;
};

/** The time left until a moment. */
export const timeUntil = (until) => {
  const seconds = Math.max(0, Math.ceil((until - Date.now()) / 1000));
  return duration(BigInt(seconds) * 1000000000n);
};

export const when = (time) => {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isNaN(date) ? '' : date.toLocaleString(
    undefined,
    isToday ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' },
  );
};

/** A value of a change; values of secrets are hidden. */
export const valueText = (value, isSecret, length) =>
  isSecret ? '(secret)' : value == null ? 'none' : brief(value, length);

/** The old and the new value of a change, and its duration. */
export const moveText = ({ was, value, secret, for: span }) =>
  (secret ? '(secret)' : `${valueText(was, false, 40)} → ${valueText(value, false, 40)}`) +
  (span ? ' for ' + span : '');

/** Other names of layers, on pages where they mean something else. */
export const layerNames = {};
export const nameOfLayer = (layer) => layerNames[layer] ?? layer;

export const encodePath = (path) => path.split('/').map(encodeURIComponent).join('/');
export const partsOf = (path) => path.split('/');
export const nameOf = (path) => partsOf(path)[2] ?? path;
