// Maps values to slider positions; TweakScale.swift has the same formula.

/**
 * The position of a value on the logarithmic scale: 0 at the lower bound, 1 at the upper one, and in between
 * (f(v) - f(low)) / (f(high) - f(low)). If 0 lies outside the range, f(v) = sign(v) ln |v|, otherwise
 * f(v) = sign(v) ln(1 + |v| / c) with c = max(|low|, |high|) / 1000.
 */
export function positionOf(value, low, high) {
  const { place } = curve(low, high);
  const [start, end] = [place(low), place(high)];
  return start < end ? Math.min(1, Math.max(0, (place(value) - start) / (end - start))) : 0;
}

/** The value at a position, without rounding to steps or digits. */
export function valueAt(position, low, high) {
  const { place, value } = curve(low, high);
  const [start, end] = [place(low), place(high)];
  return Math.min(high, Math.max(low, value(start + (end - start) * position)));
}

/** The function f of a range, and its inverse. */
function curve(low, high) {
  if (low > 0) return { place: Math.log, value: Math.exp };
  if (high < 0) return { place: (value) => -Math.log(-value), value: (place) => -Math.exp(-place) };
  const linear = Math.max(-low, high) / 1000;
  return {
    place: (value) => Math.sign(value) * Math.log1p(Math.abs(value) / linear),
    value: (place) => Math.sign(place) * Math.expm1(Math.abs(place)) * linear,
  };
}
