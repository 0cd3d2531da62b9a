// Asks for a token when the process wants one, and signs out.

import { connect, disconnect, reconnect, state } from './connection.js';
import { byId, clean, on, root } from './dom.js';
import { credentials, request } from './requests.js';
import { forgetKey, hold, prove, windows } from './sign-in.js';
import { listen } from './signals.js';

export async function signOut() {
  try {
    await request('POST', '/logout', {});
  } finally {
    credentials.headers = null;
    await hold();
    signedOut();
  }
}

function signedOut(message = '', canSend = false) {
  credentials.headers = null;
  byId('drawer').close();
  disconnect();
  state('login', 'signed out');
  byId('login-error').hidden = !message;
  byId('login-error').textContent = message;
  byId('plain').hidden = !canSend;
  byId('token').focus();
}

on(windows, 'message', ({ data }) => {
  forgetKey();
  if (!data) signedOut();
  else if (root.dataset.state === 'login') enter();
  else reconnect();
});

function enter() {
  byId('token').value = '';
  state('lost', 'connecting…');
  connect();
}

let signing = 0;
let signed = Promise.resolve();
/** One after the other, so that key and cookie are of the same token: the last one. */
export function signIn(token) {
  const own = ++signing;
  return signed = signed.then(() => own === signing && become(token, () => own === signing));
}

async function become(token, isLast) {
  try {
    if (!crypto.subtle) {
      throw new Error(
        'This address is neither on this machine nor secure, so the browser can only send the token ' +
          'itself, for everybody on the way to read. A tunnel by ssh is better.',
      );
    }
    await prove(token);
  } catch (error) {
    if (!isLast()) return;
    // Lines of an older kind know no other way; that is said by the process, and decided by a person.
    signedOut(clean(error.message), !crypto.subtle || error.message.includes('sha256:'));
    // Another one may be typed meanwhile.
    byId('token').value ||= token;
    return;
  }
  if (isLast()) enter();
}

/** Shows the token itself, as programs do, until this page is closed. */
async function signInPlainly(token) {
  await hold();
  credentials.headers = { Authorization: 'Bearer ' + token };
  try {
    await request('GET', '/api/whoami');
    enter();
  } catch (error) {
    signedOut(clean(error.message));
  }
}

listen('signed-out', () => signedOut());
on(byId('login'), 'submit', (event) => {
  event.preventDefault();
  const token = byId('token').value.trim();
  if (token) signIn(token);
});

on(byId('plain'), 'click', () => {
  const token = byId('token').value.trim();
  if (token) signInPlainly(token);
});
