// Signs in without sending the token: both sides prove that they know it, and derive a shared key.

import { credentials, request } from './requests.js';

// SCRAM-SHA-256 (RFC 7677). The resulting key cannot be read by scripts.
const utf8 = (text) => new TextEncoder().encode(text);
const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const base64url = (bytes) => base64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
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
let cachedKey;
// Removes half of the token, which an earlier version stored.
try {
  localStorage.removeItem('tweaks.key');
} catch { /* forbidden */ }
const signInKey = async () => cachedKey ??= await keyStore('readonly', (keys) => keys.get('sign-in'));
/** Stores the key, or deletes it without one, and notifies other windows. */
export async function storeKey(key) {
  cachedKey = key;
  await keyStore('readwrite', (keys) => key ? keys.put(key, 'sign-in') : keys.delete('sign-in'));
  windows.postMessage(Boolean(key));
}

/** Proves knowledge of a token, which another program that listens at this address cannot learn from it. */
export async function prove(token) {
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
  credentials.headers = { 'Tweaks-Key': reply.key };
  await storeKey(await imported(await code(client, 'Session Key' + authMessage)));
}

/** Answers a challenge with the key of this browser; returns false without a key, or when signed out. */
async function answerChallenge() {
  const key = await signInKey();
  if (!key) return false;
  try {
    const { challenge } = await request('POST', '/login', {});
    credentials.headers = {
      'Tweaks-Key':
        (await request('POST', '/login', { challenge, answer: base64(await code(key, challenge)) })).key,
    };
    return true;
  } catch (error) {
    if (error.code === 'lost') throw error;
    if (['auth-required', 'denied'].includes(error.code) && cachedKey === key) {
      cachedKey = undefined;
      await keyStore('readwrite', (keys) => keys.delete('sign-in'));
    }
    return false;
  }
}

let renewing = null;
credentials.renew = () =>
  renewing ??= answerChallenge().finally(() => {
    renewing = null;
  });
/** The channel to other windows of this browser: they share a cookie and a key, and sign out together. */
export const windows = new BroadcastChannel('tweaks');
/** Drops the cached key after another window has signed in or out. */
export function forgetKey() {
  cachedKey = undefined;
  credentials.headers = null;
}
