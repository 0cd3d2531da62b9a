// Shows the form for the user's name, which the server does not verify.

import { reconnect } from '../connection.js';
import { button, clean, h } from '../dom.js';
import { currentName, keepName, nameHeader } from '../person.js';
import { request } from '../requests.js';
import { session } from '../session.js';

/** A form that calls `action` once the process has accepted a name; `more` is beside its button. */
export function nameForm(action, id = 'name', ...more) {
  const field = h('input', {
    id,
    autocomplete: 'nickname',
    spellcheck: 'false',
    placeholder: 'such as Ada',
    'aria-describedby': id + '-error',
  });
  const error = h('p.error', { id: id + '-error', role: 'alert', hidden: true });
  const submit = async (event) => {
    event.preventDefault();
    const name = field.value.trim();
    error.hidden = true;
    try {
      const { identity, person = '' } = await request('GET', '/api/whoami', null, nameHeader(name));
      keepName(person);
      session.identity = identity;
      field.value = person;
      // The stream sends the identity when it begins.
      reconnect();
      action();
    } catch ({ message }) {
      error.textContent = clean(message.replace(/^Tweaks-Name: /, ''));
      error.hidden = false;
    }
  };
  field.value = currentName();
  return h(
    'form',
    { onsubmit: submit, part: 'name-form' },
    h('label', { for: id }, 'Your name, as others see it'),
    h('div.cluster', h('div.box', field), h('button.button', { type: 'submit' }, 'Use this name'), ...more),
    error,
  );
}
