// Calculates with exact decimals, so that integers beyond 2^53 and repeated steps have no rounding errors.

const exact = (_, value, context) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context.source)
    : value;
export const parse = (text) => /\d{16}/.test(text) ? JSON.parse(text, exact) : JSON.parse(text);
export const powerOfTen = (power) => 10n ** BigInt(power);
const units = [['h', 3600000000000n], ['m', 60000000000n], ['s', 1000000000n], ['ms', 1000000n], [
  'us',
  1000n,
], ['ns', 1n]];
/** Parses `12.5e-3` as 125 · 10⁻⁴; null if it is not a decimal number. */
export function decimal(text) {
  const match = /^([+-]?)(\d*)\.?(\d*)(?:e([+-]?\d{1,3}))?$/i.exec(text.trim());
  if (!match || !(match[2] + match[3])) return null;
  let scale = match[3].length - Number(match[4] ?? 0);
  let digits = BigInt(match[1] + (match[2] + match[3]).replace(/^0+(?=\d)/, ''));
  if (scale < 0) {
    digits *= powerOfTen(-scale);
    scale = 0;
  }
  return { digits, scale };
}

export function formatDecimal({ digits, scale }) {
  const sign = digits < 0n ? '-' : '';
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const plain = scale ? `${text.slice(0, -scale)}.${text.slice(-scale)}`.replace(/\.?0+$/, '') : text;
  return sign + (plain.length > 21 ? String(Number(plain)) : plain);
}

/** The nanoseconds of a duration such as `1h30m` or `.5s`. */
export function nanoseconds(text) {
  if (!/^-?(\d*\.?\d+(h|ms|us|ns|m|s))+$/.test(text)) return null;
  let total = 0n;
  for (const [, amount, unit] of text.matchAll(/(\d*\.?\d+)(h|ms|us|ns|m|s)/g)) {
    const { digits, scale } = decimal(amount);
    total += digits * units.find((known) => known[0] === unit)[1] / powerOfTen(scale);
  }
  return text[0] === '-' ? -total : total;
}

export function duration(total) {
  let rest = total < 0n ? -total : total;
  let text = total < 0n ? '-' : '';
  if (!rest) return '0s';
  const isLong = rest >= units[1][1];
  for (const [unit, size] of units.slice(0, 2)) {
    if (rest >= size) {
      text += rest / size + unit;
      rest %= size;
    }
  }
  if (!rest) return text;
  const [unit, size] = isLong ? units[2] : units.slice(2).find((known) => rest >= known[1]);
  return text + formatDecimal({ digits: rest, scale: String(size).length - 1 }) + unit;
}

/** Parses the text of a value as a count of the smallest unit that it needs. */
export function measure(kind, text) {
  text = String(text).trim();
  if (kind === 'duration') {
    const digits = nanoseconds(text);
    return digits == null ? null : { digits, scale: 0 };
  }
  if (/^-?0x[\da-f_]+$/i.test(text)) {
    return { digits: BigInt(text.replace(/[-_]/g, '')) * (text[0] === '-' ? -1n : 1n), scale: 0 };
  }
  return decimal(text.replaceAll('_', ''));
}

export const rescale = (amount, scale) => amount.digits * powerOfTen(scale - amount.scale);
export const formatValue = (kind, digits, scale) =>
  kind === 'duration' ? duration(digits) : formatDecimal({ digits, scale });
export const floor = (a, b) => a / b - (a % b < 0n ? 1n : 0n);
export const clamp = (value, low, high) =>
  low != null && value < low ? low : high != null && value > high ? high : value;
