// Knows where the values of a tweak lie: bounds, steps, and the stops of its slider.

import { clamp, floor, measure, raise, ten, write } from './decimal.js';
import { positionOf, valueAt } from './scale.js';

/** More than a million stops are no use to a slider, so it goes several steps at once. */
const mostStops = 1000000n;
/** A logarithmic slider has as many as it has pixels, and more. */
const logarithmicStops = 1000n;

/** Where a tweak's values lie: bounds and step as whole counts of one unit, and the stops of a slider. */
export function gridOf(tweak) {
  const [low, high, step, standard] = ['min', 'max', 'step', 'default'].map((name) =>
    tweak[name] == null ? null : measure(tweak.kind, tweak[name])
  );
  const grid = {
    scale: Math.max(0, ...[low, high, step, step && standard].map((amount) => amount?.scale ?? 0)),
    isStrict: !!step,
    isLogarithmic: tweak.scale === 'logarithmic' && low != null && high != null,
  };
  const settle = () => {
    [grid.low, grid.high, grid.step] = [low, high, step].map((amount) => amount && raise(amount, grid.scale));
  };
  settle();
  // Steps count from the lower bound, or else from the default, which need not be on one.
  if (step) {
    grid.standard = standard && raise(standard, grid.scale);
    grid.origin = grid.low ?? grid.standard ?? 0n;
  }
  if (grid.isLogarithmic) return { ...grid, count: grid.high > grid.low ? logarithmicStops : 0n };
  if (!step && low && high) {
    let length = String(grid.high - grid.low).length;
    if (tweak.kind === 'number' && length < 3) {
      grid.scale += 3 - length;
      length = 3;
      settle();
    }
    grid.step = tweak.kind === 'int' ? 1n : ten(Math.max(0, length - 3));
    // A slider has finer stops than keys have steps.
    grid.keyStep = tweak.kind === 'int' ? 1n : hundredth(grid.high - grid.low);
  }
  // The last step may be a shorter one: the upper bound is always a value.
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
  const at = raise(from, scale);
  const raised = (amount) => amount == null ? null : amount * ten(scale - grid.scale);
  let step = raised(grid.isStrict ? grid.step : grid.keyStep) ?? relativeStep(tweak, grid, at, scale);
  if (power > 0) step *= 10n;
  if (isFiner) step = step / 10n || 1n;
  const next = grid.isStrict
    ? onStep(at, step * BigInt(count), raised(grid.step), raised(grid.origin))
    : at + step * BigInt(count);
  const standard = raised(grid.standard);
  const isPassed = (at < standard && standard < next) || (next < standard && standard < at);
  // The default need not be on a step: a single one that would pass it ends there.
  const isSingle = grid.isStrict && standard != null && power <= 0 && Math.abs(count) === 1;
  const wanted = isSingle && isPassed ? standard : next;
  return write(tweak.kind, clamp(wanted, raised(grid.low), raised(grid.high)), scale);
}

/** So much further, from the step that lies at or behind a value. */
function onStep(at, way, step, origin) {
  const below = origin + floor(at - origin, step) * step;
  return (at !== below && way < 0n ? below + step : below) + way;
}

/**
 * The step where none is declared: 1, 2 or 5 and zeros, no larger than a hundredth. The editor of tweakctl
 * goes by the same rule.
 */
function hundredth(amount) {
  const unit = ten(Math.max(0, String(amount).length - 3));
  return [5n, 2n].map((digit) => digit * unit).find((step) => step * 100n <= amount) ?? unit;
}

/** Without a range, and on a logarithmic scale, a step is a hundredth of twice the value. */
function relativeStep({ kind }, { isLogarithmic }, at, scale) {
  if (kind === 'int' && !isLogarithmic) return 1n;
  const size = at < 0n ? -at : at;
  if (size === 0n) return kind === 'number' ? ten(scale - 1) : kind === 'int' ? 1n : 10000000n;
  return hundredth(2n * size);
}

/** The value at a stop of the slider, as text. */
export function atIndex(tweak, grid, index) {
  const { low, high, scale } = grid;
  if (!grid.isLogarithmic) {
    return write(tweak.kind, clamp(low + grid.stride * BigInt(index), low, high), scale);
  }
  if (Number(index) <= 0) return write(tweak.kind, low, scale);
  if (Number(index) >= Number(grid.count)) return write(tweak.kind, high, scale);
  const value = valueAt(Number(index) / Number(grid.count), real(low, scale), real(high, scale));
  return rounded(tweak, grid, value);
}

/** Three digits are as exact as a slider is; a declared step is kept. */
function rounded(tweak, grid, value) {
  const { digits, scale } = measure('number', Number(value.toPrecision(3)));
  if (!grid.isStrict) {
    const isWhole = tweak.kind !== 'number' && scale > 0;
    return isWhole ? write(tweak.kind, digits / ten(scale), 0) : write(tweak.kind, digits, scale);
  }
  const common = Math.max(scale, grid.scale);
  const [low, high, step] = [grid.low, grid.high, grid.step].map((amount) =>
    amount * ten(common - grid.scale)
  );
  const count = floor(2n * (digits * ten(common - scale) - low) + step, 2n * step);
  return write(tweak.kind, clamp(low + count * step, low, high), common);
}

const real = (digits, scale) => Number(digits) / 10 ** scale;

/** The stop of the slider that is nearest to a value. */
export function indexOf(tweak, grid, text) {
  const amount = measure(tweak.kind, text);
  if (!amount) return 0;
  if (grid.isLogarithmic) {
    const [low, high] = [real(grid.low, grid.scale), real(grid.high, grid.scale)];
    return Math.round(positionOf(real(amount.digits, amount.scale), low, high) * Number(grid.count));
  }
  const scale = Math.max(amount.scale, grid.scale);
  const step = grid.stride * ten(scale - grid.scale);
  const index = floor(2n * (raise(amount, scale) - grid.low * ten(scale - grid.scale)) + step, 2n * step);
  return Number(clamp(index, 0n, grid.count));
}
