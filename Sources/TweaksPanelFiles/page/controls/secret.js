// Creates the control of a secret: whether it is set, and a field for a new value.

import { h } from '../dom.js';
import { field } from './field.js';

export function secret(row) {
  const state = h('span.soft', { part: 'value' });
  const input = field(row, { type: 'password', autocomplete: 'off', placeholder: 'new value', dir: null });
  input.put('');
  return {
    element: h(
      'form.line.pair',
      { label: 'Set ' + row.label, onsubmit: (event) => event.preventDefault() },
      state,
      h('input', { hidden: true, autocomplete: 'username' }),
      h('div.box', input),
    ),
    show() {
      state.textContent = row.tweak.set ? 'set' : 'unset';
      input.put('');
    },
  };
}
