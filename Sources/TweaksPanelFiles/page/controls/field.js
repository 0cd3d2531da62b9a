// Creates a text field that sends on Enter or blur; typed text stays until it is accepted or canceled.

import { h, on } from '../dom.js';

export function field(
  row,
  { part = 'field', read = (text) => ({ value: text }), multi = false, sendsOn = 'change', ...more },
) {
  const input = h(multi ? 'textarea' : 'input', {
    part: part,
    label: row.label,
    autocomplete: 'off',
    spellcheck: 'false',
    dir: 'auto',
    ...(multi ? {} : { type: 'text' }),
    ...more,
  });
  const commit = () => {
    if (!row.isEdited || input.value === input.failed) return;
    row.send(read(input.value), { text: input.value.trim() });
  };
  on(input, 'input', () => {
    row.isEdited = true;
    input.failed = null;
  });
  // A field of dates changes with each digit; it sends when it is left.
  on(input, sendsOn, commit);
  on(input, 'blur', () =>
    setTimeout(() => {
      // Another field of the same row may have the focus now, with typed text.
      const isElsewhere = !row.control.element.contains(document.activeElement);
      if (isElsewhere && input.shown === input.value) row.isEdited = false;
      row.release();
    }));
  on(input, 'keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing && (!multi || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      input.failed = null;
      commit();
    }
    if (event.key === 'Escape') {
      if (row.isEdited) event.preventDefault();
      row.isEdited = false;
      row.showError('');
      input.put(input.shown);
      row.release();
    }
  });
  input.put = (text) => {
    input.shown = text;
    if (input.value !== text) input.value = text;
    if (multi) input.rows = Math.min(12, text.split('\n').length + 1);
  };
  input.restore = () => {
    input.failed = input.value;
    return input.value !== input.shown;
  };
  return input;
}
