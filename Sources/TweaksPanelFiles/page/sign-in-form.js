// Handles the sign-in form, and signs out.

import { connect, disconnect, reconnect, setState } from './connection.js';
import { byId, clean, on, root } from './dom.js';
import { credentials, request } from './requests.js';
import { forgetKey, prove, storeKey, windows } from './sign-in.js';
import { listen } from './signals.js';

export async function signOut() {
  try {
    await request('POST', '/logout', {});
  } finally {
    credentials.headers = null;
    await storeKey();
    signedOut();
  }
}

function signedOut(message = '', canSend = false) {
  credentials.headers = null;
  byId('drawer').close();
  disconnect();
  setState('login', 'signed out');
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
  setState('lost', 'connecting…');
  connect();
}

let signing = 0;
let signed = Promise.resolve();
/** Signs in; sign-ins run one after the other, so that the key and the cookie belong to the same token. */
export function signIn(token) {
  const own = ++signing;
  return signed = signed.then(() => own === signing && trySignIn(token, () => own === signing));
}

async function trySignIn(token, isLast) {
  try {
    if (!crypto.subtle) {
      throw new Error(
        'This address is neither local nor secure, so the browser can only send the token itself, which ' +
          'others on the network can read. Use an ssh tunnel instead.',
      );
    }
    await prove(token);
  } catch (error) {
    if (!isLast()) return;
    // Token lines of an older format support no other way; the process reports that, and the user decides.
    signedOut(clean(error.message), !crypto.subtle || error.message.includes('sha256:'));
    // The user may have typed another token meanwhile.
    byId('token').value ||= token;
    return;
  }
  if (isLast()) enter();
}

/** Sends the token itself with each request, as programs do, until this page is closed. */
async function signInPlainly(token) {
  await storeKey();
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
