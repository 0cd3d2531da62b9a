// Writes values, times and names as people read them.

import { clean } from './dom.js';
import { duration } from './numbers/decimal.js';

export const shown = (value) =>
  value == null ? '' : typeof value === 'number' ? String(Number(value.toPrecision(15))) : String(value);

export const brief = (value, length = 60) => {
  const text = clean(shown(value)).replaceAll('\n', ' ⏎ ') || '“”';
  return text.length > length ? text.slice(0, length) + '…' : text;
};

/** The time until then. */
export const left = (until) => {
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

/** From which value to which a change led, and for how long; values of secrets are not told. */
export const moveText = ({ was, value, for: span }) =>
  (was == null || value == null ? '(secret)' : `${brief(was, 40)} → ${brief(value, 40)}`) +
  (span ? ' for ' + span : '');

export const partly = (path) => path.split('/').map(encodeURIComponent).join('/');
export const partsOf = (path) => path.split('/');
export const nameOf = (path) => partsOf(path)[2] ?? path;
