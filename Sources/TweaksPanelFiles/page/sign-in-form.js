// Handles the sign-in form, and signs out; where a site signs in its users, leads back to it.

import { connect, disconnect, reconnect, setState } from './connection.js';
import { button, byId, clean, h, on, replaceContent, root } from './dom.js';
import { isIntercepted, warning } from './interception.js';
import { credentials, request } from './requests.js';
import { forgetKey, prove, storeKey, windows } from './sign-in.js';
import { listen } from './signals.js';
import { isMounted } from './site.js';

export async function signOut() {
  try {
    await request('POST', '/logout', {});
  } finally {
    forgetKey();
    await storeKey();
    signedOut();
  }
}

function signedOut(message = '', canSend = false) {
  credentials.headers = null;
  byId('drawer').close();
  disconnect();
  setState('login', 'signed out');
  if (isMounted) return byId('login').querySelector('button').focus();
  const text = isIntercepted() ? warning : message;
  byId('login-error').hidden = !text;
  byId('login-error').textContent = text;
  byId('plain').hidden = !canSend;
  byId('token').focus();
}

on(windows, 'message', ({ data }) => {
  const { state } = root.dataset;
  if (isMounted) return;
  // Without a connection a page keeps its key: a message may be of another program that has had this address.
  if (data && state === 'lost') return;
  forgetKey();
  if (!data) signedOut();
  else if (state === 'login') enter();
  else reconnect();
});

function enter() {
  byId('token').value = '';
  setState('lost', 'connecting…');
  connect();
}

const usedCode = 'This code has been used, or is of an earlier start. A code signs in one browser, once: ' +
  'run tweakctl NAME panel, and open the address that it prints.';
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
        'This address is neither local nor secure, so the browser can only send a token itself, which ' +
          'others on the network can read. Use an ssh tunnel instead.',
      );
    }
    await prove(token);
  } catch (error) {
    if (!isLast()) return;
    const isCode = /^[\w-]{22}$/.test(token);
    const isUsed = isCode && error.code === 'denied';
    // The address may be one that this browser has used.
    if (isUsed && await credentials.renew().catch(() => false)) return enter();
    // Token lines of an older format support no other way; the process reports that, and the user decides.
    signedOut(
      isUsed ? usedCode : clean(error.message),
      !isCode && (!crypto.subtle || error.message.includes('sha256:')),
    );
    // The user may have typed another token meanwhile.
    if (!isUsed) byId('token').value ||= token;
    return;
  }
  if (isLast()) enter();
}

/** Sends the token itself with each request, as programs do, until this page is closed. */
async function signInPlainly(token) {
  forgetKey();
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
listen('intercepted', () => {
  if (root.dataset.state === 'login') return;
  forgetKey();
  storeKey();
  signedOut();
});
if (isMounted) {
  replaceContent(byId('login'), [
    h('h2', 'Signed out'),
    h('p.soft', 'The site does not let this page through. Sign in to the site again, then reload this page.'),
    h('p', button('Reload this page', () => location.reload(), { class: 'button main' })),
  ]);
  byId('login').ariaLabel = 'Signed out';
} else {
  on(byId('login'), 'submit', (event) => {
    event.preventDefault();
    const token = byId('token').value.trim();
    if (token) signIn(token);
  });

  on(byId('plain'), 'click', () => {
    const token = byId('token').value.trim();
    if (token) signInPlainly(token);
  });
}
