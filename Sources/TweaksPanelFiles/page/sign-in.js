// Signs in without sending the token: both sides prove that they know it, and derive a shared key.

import { base64, base64url, bytesOf } from './base64.js';
import { isIntercepted, warning } from './interception.js';
import { credentials, request } from './requests.js';
import { isOwnAddress } from './storage.js';

// SCRAM-SHA-256 (RFC 7677). The resulting key cannot be read by scripts.
const utf8 = (text) => new TextEncoder().encode(text);
const imported = (bytes) =>
  crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
const code = async (key, message) =>
  new Uint8Array(
    await crypto.subtle.sign(
      'HMAC',
      key instanceof CryptoKey ? key : await imported(key),
      typeof message === 'string' ? utf8(message) : message,
    ),
  );
const isSame = (left, right) => base64(left) === base64(right);
/** Accesses this origin's key store. Without one, as in a private window, each page has to sign in again. */
const keyStore = (mode, body) =>
  new Promise((done, fail) => {
    const open = indexedDB.open('tweaks', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('keys');
    open.onerror = () => fail(open.error);
    open.onsuccess = () => {
      const work = open.result.transaction('keys', mode);
      const result = body(work.objectStore('keys'));
      work.oncomplete = () => {
        open.result.close();
        done(result.result);
      };
      work.onabort = () => fail(work.error);
    };
  }).catch(() => undefined);

// The key of open pages. It is only in memory: what another program stores or reads here has no effect on it.
let openKey;
/** Deciphers the key of open pages, by the key of the browser and a text that only this page has. */
async function unseal(browserKey, exchange, reply) {
  const mask = await code(browserKey, 'Open Key,' + exchange);
  openKey = await imported(bytesOf(reply.openKey).map((byte, at) => byte ^ mask[at]));
  credentials.signIn = { 'Tweaks-Sign-In': reply.signIn };
  credentials.headers = { 'Tweaks-Key': reply.key };
}

const storedKey = async () =>
  isOwnAddress ? await keyStore('readonly', (keys) => keys.get('sign-in')) : undefined;
/** Stores the key of the browser, or deletes it without one, and notifies other windows. */
export async function storeKey(key) {
  if (!isOwnAddress) return;
  await keyStore('readwrite', (keys) => key ? keys.put(key, 'sign-in') : keys.delete('sign-in'));
  windows.postMessage(Boolean(key));
}

/** Proves knowledge of a token or a code, which another program at this address cannot learn from it. */
export async function prove(token) {
  if (isIntercepted()) throw new Error(warning);
  const id = base64url((await code(utf8(token), 'Key ID')).slice(0, 16));
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(18)));
  const first = `n=${id},r=${nonce}`;
  const { scram } = await request('POST', '/login', { scram: 'n,,' + first });
  const [, both, salt] = /^r=([^,]+),s=([^,]+),i=1$/.exec(scram) ?? [];
  if (!both?.startsWith(nonce)) throw new Error('this server is not a tweaks server: its reply is invalid');
  const salted = await code(utf8(token), new Uint8Array([...bytesOf(salt), 0, 0, 0, 1]));
  const client = await code(salted, 'Client Key');
  const last = 'c=biws,r=' + both;
  const authMessage = `${first},${scram},${last}`;
  const signature = await code(new Uint8Array(await crypto.subtle.digest('SHA-256', client)), authMessage);
  const reply = await request('POST', '/login', {
    scram: `${last},p=${base64(client.map((byte, at) => byte ^ signature[at]))}`,
  });
  if (reply.scram !== 'v=' + base64(await code(await code(salted, 'Server Key'), authMessage))) {
    throw new Error(
      'this process does not know the token, and may not be the intended one; ' +
        'the token was not sent to it',
    );
  }
  const browserKey = await imported(await code(client, 'Session Key' + authMessage));
  await unseal(browserKey, both, reply);
  await storeKey(browserKey);
}

/**
 * Gets headers from a process that proves to know this sign-in: by the key of this page, or by the one that
 * the browser stores if the page was just loaded. Returns false without a key, or when signed out.
 */
async function renewHeaders() {
  const by = openKey ? 'page' : 'browser';
  const key = openKey ?? await storedKey();
  if (!key) return false;
  try {
    const nonce = base64url(crypto.getRandomValues(new Uint8Array(18)));
    const { challenge, proof } = await request('POST', '/login', { nonce, by });
    if (!isSame(await code(key, `Server Proof,${nonce},${challenge}`), bytesOf(proof))) throw strange();
    const answer = base64(await code(key, `Client Proof,${nonce},${challenge}`));
    const reply = await request('POST', '/login', { challenge, answer });
    if (by === 'browser') await unseal(key, challenge, reply);
    else credentials.headers = { 'Tweaks-Key': reply.key };
    return true;
  } catch (error) {
    // The keys stay: the process may be back later.
    if (!['auth-required', 'denied'].includes(error.code)) throw error.code ? error : strange();
    forgetKey();
    if (by === 'browser') await keyStore('readwrite', (keys) => keys.delete('sign-in'));
    return false;
  }
}

/** The error about a program that answers in place of the process. */
const strange = () =>
  Object.assign(new Error('another program answers at this address; nothing was sent to it'), {
    code: 'lost',
  });

let renewing = null;
credentials.renew = () =>
  renewing ??= renewHeaders().finally(() => {
    renewing = null;
  });
/** The channel to other windows of this browser: they share a cookie and a key, and sign out together. */
export const windows = new BroadcastChannel('tweaks');
/** Drops the keys of this page, after another window has signed in or out, or the address was taken over. */
export function forgetKey() {
  openKey = undefined;
  credentials.headers = null;
  credentials.signIn = {};
}
