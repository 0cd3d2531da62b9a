// Spells values as Swift literals, as `tweakctl bake` does without an old literal whose style it keeps.

import { clean } from '../dom.js';
import { curves, parseCurve } from '../motion/curve.js';
import { nanoseconds } from '../numbers/decimal.js';

/** A number of a parameter that takes real ones anyway. */
const shortest = (number) => String(number).replace('e+', 'e');
/** A number whose literal alone is a `Double`. */
const real = (number) => /[.e]/.test(shortest(number)) ? shortest(number) : number + '.0';

const escapes = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const code = (one) => `\\u{${one.codePointAt().toString(16).toUpperCase()}}`;
/** A literal that the page cannot spell; its message says why. */
export class NoLiteral extends Error {}

/** A text on one line. Invisible characters are escaped, but not those that join a word or an emoji. */
function quoted(text) {
  const isVisible = clean(text) === text;
  const escaped = [...text].map((one) => escapes[one] ?? (isVisible || clean(one) === one ? one : code(one)));
  return `"${escaped.join('')}"`;
}

const formats = {
  uri: (text) => `URL(string: ${quoted(text)})!`,
  uuid: (text) => `UUID(uuidString: ${quoted(text)})!`,
  decimal: (text) => `Decimal(string: ${quoted(text)})!`,
};

function color(text) {
  const digits = text.slice(1);
  if (digits.endsWith('FF')) return `TweakColor(0x${digits.slice(0, 6)})`;
  const channels = ['red', 'green', 'blue', 'alpha'].map((name, at) =>
    `${name}8: ${parseInt(digits.slice(2 * at, 2 * at + 2), 16)}`
  );
  return `TweakColor(${channels.join(', ')})`;
}

const units = [
  ['seconds', 1000000000n],
  ['milliseconds', 1000000n],
  ['microseconds', 1000n],
  ['nanoseconds', 1n],
];
const reserved = ['self', 'init', 'Type', 'Protocol'];
/** The page does not know of what type the choices are: a case is the most frequent. */
function choice(name) {
  if (reserved.includes(name) || clean(name) !== name) throw new NoLiteral('its case cannot be written here');
  if (/^-?\d+(\.\d+)?$/.test(name)) return name;
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? '.' + name : quoted(name);
}

function string(text, format) {
  if (format != null && !formats[format]) throw new NoLiteral(`write its ${clean(format)} by hand`);
  return (formats[format] ?? quoted)(text);
}

/** A duration in the largest unit of which it is a whole number. */
function duration(text) {
  const total = nanoseconds(text);
  if (total == null) throw new NoLiteral('its duration is unknown to this page; reload it');
  const [name, size] = units.find(([, size]) => total % size === 0n);
  return `.${name}(${total / size})`;
}

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
/** The curves with names in Swift. */
const named = ['linear', 'ease', 'ease-in', 'ease-out', 'ease-in-out'];
function curve(text) {
  const points = parseCurve(text);
  const isKnown = Array.isArray(points) || points.count > 0;
  if (!isKnown) throw new NoLiteral('its curve is unknown to this page; reload it');
  if (!Array.isArray(points)) return `TweakCurve.steps(${points.count}, .${camel(points.position)})`;
  const name = named.find((name) => String(curves[name]) === String(points));
  return name ? 'TweakCurve.' + camel(name) : `TweakCurve(${points.map(shortest).join(', ')})`;
}

const spellings = {
  bool: String,
  int: String,
  number: real,
  string,
  color,
  choice,
  duration,
  point: ([x, y]) => `TweakPoint(x: ${shortest(x)}, y: ${shortest(y)})`,
  curve,
};

/** The literal of a value of a tweak, as the process describes both. */
export function literal({ kind, of, format }, value) {
  if (kind === 'optional') return value == null ? 'nil' : spellings[of](value, format);
  if (kind === 'list') return `[${value.map((one) => spellings[of](one, format)).join(', ')}]`;
  return spellings[kind](value, format);
}
