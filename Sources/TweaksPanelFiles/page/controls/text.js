// Creates the control of a text: a field of one line, or of several.

import { clean, h, on } from '../dom.js';
import { shown } from '../format.js';
import { field } from './field.js';

export function text(row) {
  const element = h('div.box');
  let input = null;
  const make = (multi) => {
    row.fields.clear();
    input = field(row, { multi });
    // Shift-Enter turns the field into one of several lines.
    if (!multi) {
      on(input, 'keydown', (event) => {
        if (event.key === 'Enter' && event.shiftKey) {
          event.preventDefault();
          event.stopImmediatePropagation();
          const text = input.value + '\n';
          make(true);
          input.put(shown(row.tweak.value));
          input.value = text;
          input.focus();
        }
      }, true);
    }
    input.disabled = !!row.reason;
    element.replaceChildren(input);
  };
  make(false);
  return {
    element,
    show(value) {
      const text = clean(value ?? '');
      const multi = text.includes('\n');
      if (multi !== (input.localName === 'textarea')) {
        const hadFocus = document.activeElement === input;
        make(multi);
        if (hadFocus) input.focus();
      }
      input.put(text);
    },
  };
}
