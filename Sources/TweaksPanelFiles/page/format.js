// Writes values, times and names as people read them.

import { clean } from './dom.js';
import { duration } from './numbers/decimal.js';

/** A list as the process reads it. */
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

/** A value of a change; those of secrets are not told. */
export const told = (value, isSecret, length) =>
  isSecret ? '(secret)' : value == null ? 'none' : brief(value, length);

/** From which value to which a change led, and for how long. */
export const moveText = ({ was, value, secret, for: span }) =>
  (secret ? '(secret)' : `${told(was, false, 40)} → ${told(value, false, 40)}`) +
  (span ? ' for ' + span : '');

export const partly = (path) => path.split('/').map(encodeURIComponent).join('/');
export const partsOf = (path) => path.split('/');
export const nameOf = (path) => partsOf(path)[2] ?? path;
