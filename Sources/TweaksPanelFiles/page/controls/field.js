// Creates a text field that sends on Enter or when it is left; refused text stays until it is canceled.

import { h, on } from '../dom.js';

export function field(
  row,
  { part = 'field', read = (text) => ({ value: text }), multi = false, isDate = false, ...more },
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
    if (!row.fields.has(input) || !input.isEdited() || input.value === input.failed) return;
    row.send(read(input.value), { text: input.value.trim() });
  };
  row.fields.add(input);
  on(input, 'input', () => {
    input.failed = null;
  });
  // A field of dates changes with each digit; it sends when it is left.
  if (!isDate) on(input, 'change', commit);
  on(input, 'blur', () => {
    // The browser knows no change where the text is the one before an Enter. A window that loses the focus
    // leaves its field active.
    if (document.activeElement !== input) commit();
    setTimeout(() => row.release());
  });
  on(input, 'keydown', (event) => {
    if (event.key === 'Enter' && !event.isComposing && (!multi || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      input.failed = null;
      commit();
    }
    if (event.key === 'Escape') {
      if (input.isEdited()) event.preventDefault();
      row.showError('');
      input.put(input.shown);
      row.release();
    }
  });
  /** Whether it has typed text that was not sent; else the keys of undo are the panel's. */
  input.isEdited = () => input.value !== input.shown && input.value !== input.sent;
  input.put = (text) => {
    if (input.value !== text) input.value = text;
    // The browser may write a date in another way.
    input.shown = input.value;
    input.sent = null;
    if (multi) input.rows = Math.min(12, text.split('\n').length + 1);
  };
  /** Marks the sent text as refused: it is edited again, and sent again only by Enter. */
  input.refuse = () => {
    input.failed = input.value;
    input.sent = null;
  };
  return input;
}
