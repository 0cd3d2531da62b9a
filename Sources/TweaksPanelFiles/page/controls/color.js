// Creates the control of a color: a swatch that opens the picker, and a field.

import { h, setStyle } from '../dom.js';
import { bytes, inkOn } from './color-math.js';
import { picker } from './color-picker.js';
import { field } from './field.js';

export function color(row) {
  const swatch = h('button.swatch', {
    part: 'swatch',
    'aria-haspopup': 'dialog',
    label: 'Pick ' + row.label,
    onclick: () => picker.open(row, swatch),
  });
  const hex = field(row, { part: 'hex', class: 'hex', maxlength: 80, dir: 'ltr' });
  return {
    element: h('div.line', swatch, h('div.box.number', hex)),
    refused: (text) => picker.refused(row, text),
    show(value) {
      const numbers = bytes(value);
      const [, , , alpha] = numbers;
      hex.put(alpha === 255 ? value.slice(0, 7) : value);
      swatch.textContent = alpha === 255 ? 'Aa' : Math.round(alpha / 2.55) + '%';
      setStyle(swatch, '--color', value);
      setStyle(swatch, 'color', inkOn(numbers));
      picker.follow(row, value);
    },
  };
}
