// Creates the control of a curve: a picture that opens its editor, and a field.

import { h } from '../dom.js';
import { longText, parseCurve, shortText, thumbnail, wayOf } from '../motion/curve.js';
import { emit } from '../signals.js';
import { field } from './field.js';

export function curve(row) {
  const picture = h('button.picture', {
    part: 'edit',
    'aria-haspopup': 'dialog',
    label: 'Edit ' + row.label,
    onclick: () => emit('edit', row, picture),
  });
  const input = field(row, { read: (text) => ({ value: longText(text) }), dir: 'ltr', maxlength: 80 });
  return {
    element: h('div.line.pair.curve', picture, h('div.box', input)),
    show(value) {
      input.put(shortText(value));
      picture.replaceChildren(thumbnail(wayOf(parseCurve(value))));
    },
  };
}
