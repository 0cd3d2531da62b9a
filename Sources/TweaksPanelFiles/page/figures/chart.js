// Computes the lines of a chart: its scale, the line with its gaps, and the band between the extremes.

/** The lowest and the highest value of a chart: the declared bounds, or those of the samples. */
export function scaleOf(bounds, samples) {
  let low = bounds.low ?? Math.min(...samples.map(({ min }) => min));
  let high = bounds.high ?? Math.max(...samples.map(({ max }) => max));
  // A line that never moves is in the middle.
  if (!(low < high)) {
    const room = Math.abs(low) / 10 || 1;
    [low, high] = [Math.min(low, high) - room, Math.max(low, high) + room];
  }
  return { low, high };
}

/** Maps times and values to places in a box. */
export function projection({ left, top, right, bottom }, { start, end }, { low, high }) {
  return {
    x: (time) => left + (right - left) * (time - start) / (end - start),
    y: (value) => {
      const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
      return bottom - (bottom - top) * share;
    },
  };
}

/** The parts without a gap. Samples come a little late, and one may be missed. */
export function partsWithoutGap(samples, period) {
  const parts = [];
  let before = -Infinity;
  for (const sample of samples) {
    if (sample.time - before > 2500 * period) parts.push([]);
    parts.at(-1).push(sample);
    before = sample.time;
  }
  return parts;
}

const place = ({ x, y }, time, value) => `${x(time).toFixed(1)} ${y(value).toFixed(1)}`;

/** The path of the line; a value alone is a dot. */
export const linePath = (parts, map) =>
  parts.map((part) =>
    'M' + part.map(({ time, value }) => place(map, time, value)).join('L') + (part.length > 1 ? '' : 'h.01')
  ).join('');

/** The path around the lowest and the highest values. */
export const bandPath = (parts, map) =>
  parts.map((part) => {
    const upper = part.map(({ time, max }) => place(map, time, max));
    const lower = part.map(({ time, min }) => place(map, time, min)).reverse();
    return 'M' + [...upper, ...lower].join('L') + 'Z';
  }).join('');
