// Creates the display of a figure: its value, beside a chart of the last minute or the color itself.

import { clean, h, setStyle } from '../dom.js';
import { hasSamples } from '../figures/samples.js';
import { Sparkline } from '../figures/sparkline.js';
import { shown } from '../format.js';

export function figure(row) {
  const value = h('output', { part: 'value', dir: 'auto', label: row.label, 'aria-live': 'off' });
  const isColor = row.tweak.kind === 'color';
  const swatch = isColor ? h('span.swatch', { part: 'swatch', 'aria-hidden': 'true' }) : null;
  const sparkline = hasSamples(row.tweak) ? new Sparkline(row) : null;
  const picture = swatch ?? sparkline?.element;
  return {
    element: h('div.line.figure' + (picture ? '' : '.words'), picture, value),
    sparkline,
    show(now) {
      const { unit } = row.tweak;
      if (isColor) setStyle(swatch, '--color', now);
      const text = typeof now === 'number' ? String(Number(now.toPrecision(7))) : clean(shown(now));
      value.textContent = (isColor ? text.replace(/FF$/, '') : text) + (unit ? ' ' + clean(unit) : '');
      sparkline?.draw();
    },
  };
}
