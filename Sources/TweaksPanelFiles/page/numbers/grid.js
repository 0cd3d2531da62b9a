// Computes the valid values of a number: bounds, steps, and the stops of its slider.

import { clamp, floor, formatValue, measure, powerOfTen, rescale } from './decimal.js';
import { positionOf, valueAt } from './scale.js';

/** A slider has at most a million stops; beyond that, a stop is several steps. */
const mostStops = 1000000n;
/** The stops of a logarithmic slider, at least as many as it has pixels. */
const logarithmicStops = 1000n;

/** The grid of a tweak: bounds and step as integer counts of one unit, and the stops of a slider. */
export function gridOf(tweak) {
  const [low, high, step, defaultValue] = ['min', 'max', 'step', 'default'].map((name) =>
    tweak[name] == null ? null : measure(tweak.kind, tweak[name])
  );
  const grid = {
    scale: Math.max(0, ...[low, high, step, step && defaultValue].map((amount) => amount?.scale ?? 0)),
    isStrict: !!step,
    isLogarithmic: tweak.scale === 'logarithmic' && low != null && high != null,
  };
  const settle = () => {
    [grid.low, grid.high, grid.step] = [low, high, step].map((amount) =>
      amount && rescale(amount, grid.scale)
    );
  };
  settle();
  // Steps count from the lower bound, or else from the default, which need not be on one.
  if (step) {
    grid.defaultValue = defaultValue && rescale(defaultValue, grid.scale);
    grid.origin = grid.low ?? grid.defaultValue ?? 0n;
  }
  if (grid.isLogarithmic) return { ...grid, count: grid.high > grid.low ? logarithmicStops : 0n };
  if (!step && low && high) {
    let length = String(grid.high - grid.low).length;
    if (tweak.kind === 'number' && length < 3) {
      grid.scale += 3 - length;
      length = 3;
      settle();
    }
    grid.step = tweak.kind === 'int' ? 1n : powerOfTen(Math.max(0, length - 3));
    // A slider has finer stops than keys have steps.
    grid.keyStep = tweak.kind === 'int' ? 1n : hundredth(grid.high - grid.low);
  }
  // The last step may be shorter, since the upper bound is always a valid value.
  if (low && high && grid.step > 0n) {
    const count = -floor(grid.low - grid.high, grid.step);
    grid.stride = grid.step * (count > 0n ? (count - 1n) / mostStops + 1n : 1n);
    grid.count = -floor(grid.low - grid.high, grid.stride);
  }
  return grid;
}

/** The value `count` steps further, as text; `power` 1 or -1 makes the steps ten times coarser or finer. */
export function stepped(tweak, grid, text, count, power = 0) {
  const from = measure(tweak.kind, text);
  if (!from) return null;
  const isFiner = power < 0 && !grid.isStrict;
  const isReal = tweak.kind === 'number';
  const scale = Math.max(grid.scale, from.scale) + (isReal && isFiner ? 1 : 0) +
    (isReal && !grid.step ? 2 : 0);
  const at = rescale(from, scale);
  const raised = (amount) => amount == null ? null : amount * powerOfTen(scale - grid.scale);
  let step = raised(grid.isStrict ? grid.step : grid.keyStep) ?? relativeStep(tweak, grid, at, scale);
  if (power > 0) step *= 10n;
  if (isFiner) step = step / 10n || 1n;
  const next = grid.isStrict
    ? onStep(at, step * BigInt(count), raised(grid.step), raised(grid.origin))
    : at + step * BigInt(count);
  const defaultValue = raised(grid.defaultValue);
  const isPassed = (at < defaultValue && defaultValue < next) || (next < defaultValue && defaultValue < at);
  // The default need not be on a step: a single step that would pass the default stops there.
  const isSingle = grid.isStrict && defaultValue != null && power <= 0 && Math.abs(count) === 1;
  const wanted = isSingle && isPassed ? defaultValue : next;
  return formatValue(tweak.kind, clamp(wanted, raised(grid.low), raised(grid.high)), scale);
}

/** Moves by a distance, from the nearest step that lies at a value or opposite to the direction. */
function onStep(at, distance, step, origin) {
  const below = origin + floor(at - origin, step) * step;
  return (at !== below && distance < 0n ? below + step : below) + distance;
}

/**
 * The step of a tweak without one: 1, 2 or 5 times a power of ten, at most a hundredth. The editor of
 * tweakctl uses the same rule.
 */
function hundredth(amount) {
  const unit = powerOfTen(Math.max(0, String(amount).length - 3));
  return [5n, 2n].map((digit) => digit * unit).find((step) => step * 100n <= amount) ?? unit;
}

/** Without a range, and on a logarithmic scale, a step is a hundredth of twice the value. */
function relativeStep({ kind }, grid, at, scale) {
  if (kind === 'int' && !grid.isLogarithmic) return 1n;
  // A logarithmic scale is nearly linear around 0.
  const largest = grid.low <= 0n && grid.high >= 0n ? clamp(-grid.low, grid.high) : 0n;
  const linear = grid.isLogarithmic ? largest * powerOfTen(scale - grid.scale) / 1000n : 0n;
  const size = clamp(at < 0n ? -at : at, linear);
  if (size === 0n) return kind === 'number' ? powerOfTen(scale - 1) : kind === 'int' ? 1n : 10000000n;
  return hundredth(2n * size);
}

/** The value at a stop of the slider, as text. */
export function atIndex(tweak, grid, index) {
  const { low, high, scale } = grid;
  if (!grid.isLogarithmic) {
    return formatValue(tweak.kind, clamp(low + grid.stride * BigInt(index), low, high), scale);
  }
  if (Number(index) <= 0) return formatValue(tweak.kind, low, scale);
  if (Number(index) >= Number(grid.count)) return formatValue(tweak.kind, high, scale);
  const value = valueAt(Number(index) / Number(grid.count), real(low, scale), real(high, scale));
  return rounded(tweak, grid, value);
}

/** Rounds to three digits, the precision of a slider, or to a declared step. */
function rounded(tweak, grid, value) {
  const { digits, scale } = measure('number', Number(value.toPrecision(3)));
  if (!grid.isStrict) {
    const isWhole = tweak.kind !== 'number' && scale > 0;
    return isWhole
      ? formatValue(tweak.kind, digits / powerOfTen(scale), 0)
      : formatValue(tweak.kind, digits, scale);
  }
  const common = Math.max(scale, grid.scale);
  const [low, high, step] = [grid.low, grid.high, grid.step].map((amount) =>
    amount * powerOfTen(common - grid.scale)
  );
  const count = floor(2n * (digits * powerOfTen(common - scale) - low) + step, 2n * step);
  return formatValue(tweak.kind, clamp(low + count * step, low, high), common);
}

const real = (digits, scale) => Number(digits) / 10 ** scale;

/** The nearest stop of the slider to a value. */
export function indexOf(tweak, grid, text) {
  const amount = measure(tweak.kind, text);
  if (!amount) return 0;
  if (grid.isLogarithmic) {
    const [low, high] = [real(grid.low, grid.scale), real(grid.high, grid.scale)];
    return Math.round(positionOf(real(amount.digits, amount.scale), low, high) * Number(grid.count));
  }
  const scale = Math.max(amount.scale, grid.scale);
  const step = grid.stride * powerOfTen(scale - grid.scale);
  const distance = rescale(amount, scale) - grid.low * powerOfTen(scale - grid.scale);
  const index = floor(2n * distance + step, 2n * step);
  return Number(clamp(index, 0n, grid.count));
}
