// Knows where the values of a tweak lie: bounds, steps, and the stops of its slider.

import { clamp, floor, measure, raise, ten, write } from './decimal.js';

/** Where a tweak's values lie: bounds and step as whole counts of one unit. */
export function gridOf(tweak) {
  const [low, high, step] = ['min', 'max', 'step'].map((name) =>
    tweak[name] == null ? null : measure(tweak.kind, tweak[name])
  );
  const grid = {
    scale: Math.max(0, ...[low, high, step].map((amount) => amount?.scale ?? 0)),
    isStrict: !!step,
  };
  const settle = () => {
    [grid.low, grid.high, grid.step] = [low, high, step].map((amount) => amount && raise(amount, grid.scale));
  };
  settle();
  if (!step && low && high) {
    let length = String(grid.high - grid.low).length;
    if (tweak.kind === 'number' && length < 3) {
      grid.scale += 3 - length;
      length = 3;
      settle();
    }
    grid.step = tweak.kind === 'int' ? 1n : ten(Math.max(0, length - 3));
  }
  // The last step may be a shorter one: the upper bound is always a value.
  if (low && high && grid.step > 0n) {
    const count = -floor(grid.low - grid.high, grid.step);
    // More than a million stops are no use to a slider, so it goes several steps at once.
    grid.stride = grid.step * (count > 0n ? (count - 1n) / 1000000n + 1n : 1n);
    grid.count = -floor(grid.low - grid.high, grid.stride);
  }
  return grid;
}

/** The value `count` steps further, as text; `power` 1 or -1 makes the steps ten times coarser or finer. */
export function stepped(tweak, grid, text, count, power = 0) {
  const from = measure(tweak.kind, text);
  if (!from) return null;
  const isReal = tweak.kind === 'number';
  const isFiner = power < 0 && !grid.isStrict;
  const size = String(from.digits).replace('-', '').length;
  const scale = Math.max(grid.scale, from.scale) + (isReal && isFiner ? 1 : 0) +
    (isReal && !grid.step ? 1 : 0);
  const at = raise(from, scale);
  const raised = (amount) => amount == null ? null : amount * ten(scale - grid.scale);
  // Without a range, a step is about a hundredth of the value.
  let step = raised(grid.step) ??
    (isReal
      ? ten(scale - from.scale + size - 2)
      : tweak.kind === 'int'
      ? 1n
      : from.digits
      ? ten(Math.max(0, size - 3))
      : 1000000n);
  if (power > 0) step *= 10n;
  if (isFiner) step = step / 10n || 1n;
  let next = at + step * BigInt(count);
  if (grid.isStrict) {
    const fine = raised(grid.step);
    const origin = raised(grid.low) ?? 0n;
    const below = origin + floor(at - origin, fine) * fine;
    next = (at !== below && count < 0 ? below + fine : below) + step * BigInt(count);
  }
  return write(tweak.kind, clamp(next, raised(grid.low), raised(grid.high)), scale);
}

export const atIndex = (tweak, grid, index) =>
  write(tweak.kind, clamp(grid.low + grid.stride * BigInt(index), grid.low, grid.high), grid.scale);
export function indexOf(tweak, grid, text) {
  const amount = measure(tweak.kind, text);
  if (!amount) return 0;
  const scale = Math.max(amount.scale, grid.scale);
  const step = grid.stride * ten(scale - grid.scale);
  const index = floor(2n * (raise(amount, scale) - grid.low * ten(scale - grid.scale)) + step, 2n * step);
  return Number(clamp(index, 0n, grid.count));
}

/** A value as people read it: doubles without dust, the rest as it is. */
