// Asks for the user's name at the first change in this browser, once.

import { button, byId, h } from './dom.js';
import { nameForm } from './drawer/name-form.js';
import { announce } from './notifications.js';
import { currentName } from './person.js';
import { isOwnAddress, store, stored } from './storage.js';
import { listen } from './signals.js';

listen('edited', () => {
  // Elsewhere no name is kept.
  if (!isOwnAddress || currentName() || stored('asked', false)) return;
  store('asked', true);
  const form = nameForm(close, 'own-name', button('Not now', close, { class: 'button plain' }));
  const question = h(
    'div.question',
    { role: 'group', label: 'Your name' },
    form,
  );
  function close() {
    const hadFocus = question.contains(document.activeElement);
    question.remove();
    if (hadFocus) byId('list').focus({ preventScroll: true });
  }
  byId('toasts').prepend(question);
  announce('Others see your changes without a name; there is a form for it');
});
