// Creates the display of a figure: the newest value, beside a chart of the last sixty or the color itself.

import { clean, h, setStyle, svg } from '../dom.js';
import { shown } from '../format.js';

export function figure(row) {
  const value = h('output', { part: 'value', dir: 'auto', label: row.label, 'aria-live': 'off' });
  const line = svg('polyline', { 'vector-effect': 'non-scaling-stroke' });
  const chart = svg('svg', {
    viewBox: '0 0 59 20',
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
    part: 'sparkline',
  });
  chart.append(line);
  const swatch = h('span.swatch', { part: 'swatch', 'aria-hidden': 'true' });
  const picture = { color: swatch, int: chart, number: chart, duration: chart }[row.tweak.kind];
  return {
    element: h('div.line.figure' + (picture ? '' : '.words'), picture, value),
    show(now) {
      if (picture === swatch) setStyle(swatch, '--color', now);
      const { samples, tweak } = row;
      const low = Math.min(...samples);
      const span = Math.max(...samples) - low || 1;
      const text = typeof now === 'number' ? String(Number(now.toPrecision(7))) : clean(shown(now));
      value.textContent = (picture === swatch ? text.replace(/FF$/, '') : text) +
        (tweak.unit ? ' ' + clean(tweak.unit) : '');
      if (samples.length > 1) {
        line.setAttribute(
          'points',
          samples.map((sample, index) =>
            `${60 - samples.length + index},${(20 - 20 * (sample - low) / span).toFixed(1)}`
          ).join(' '),
        );
      }
    },
  };
}
