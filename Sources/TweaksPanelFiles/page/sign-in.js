// Signs in without sending the token: both sides prove that they know it, and share a key then.

import { credentials, request } from './requests.js';

// Both sides show that they know the token (RFC 7677), and have a key then that no script can read.
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
/** Where this origin keeps its key. Without it, as in a private window, one signs in again with each page. */
const vault = (mode, body) =>
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
let held;
// Half of the token, which an earlier version kept here.
try {
  localStorage.removeItem('tweaks.key');
} catch { /* forbidden */ }
const signInKey = async () => held ??= await vault('readonly', (keys) => keys.get('sign-in'));
export async function hold(key) {
  held = key;
  await vault('readwrite', (keys) => key ? keys.put(key, 'sign-in') : keys.delete('sign-in'));
  windows.postMessage(Boolean(key));
}

/** Shows that this page knows a token. Another program that listens here would learn nothing by it. */
export async function prove(token) {
  const id = base64url((await code(utf8(token), 'Key ID')).slice(0, 16));
  const nonce = base64url(crypto.getRandomValues(new Uint8Array(18)));
  const first = `n=${id},r=${nonce}`;
  const { scram } = await request('POST', '/login', { scram: 'n,,' + first });
  const [, both, salt] = /^r=([^,]+),s=([^,]+),i=1$/.exec(scram) ?? [];
  if (!both?.startsWith(nonce)) throw new Error('this process answers as no program of tweaks does');
  const salted = await code(utf8(token), new Uint8Array([...bytesOf(salt), 0, 0, 0, 1]));
  const client = await code(salted, 'Client Key');
  const last = 'c=biws,r=' + both;
  const said = `${first},${scram},${last}`;
  const signature = await code(new Uint8Array(await crypto.subtle.digest('SHA-256', client)), said);
  const reply = await request('POST', '/login', {
    scram: `${last},p=${base64(client.map((byte, at) => byte ^ signature[at]))}`,
  });
  if (reply.scram !== 'v=' + base64(await code(await code(salted, 'Server Key'), said))) {
    throw new Error(
      'this process does not know that token: it may not be the one that you mean; ' +
        'the token was not shown to it',
    );
  }
  credentials.headers = { 'Tweaks-Key': reply.key };
  await hold(await imported(await code(client, 'Session Key' + said)));
}

/** Asks for a challenge and answers it by the key of this browser. False: it has no key, or is signed out. */
async function answered() {
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
    if (['auth-required', 'denied'].includes(error.code) && held === key) {
      held = undefined;
      await vault('readwrite', (keys) => keys.delete('sign-in'));
    }
    return false;
  }
}

let renewing = null;
credentials.renew = () =>
  renewing ??= answered().finally(() => {
    renewing = null;
  });
/** The windows of one browser share a cookie and a key, so they go and come together. */
export const windows = new BroadcastChannel('tweaks');
/** Another window has signed in or out. */
export function forgetKey() {
  held = undefined;
  credentials.headers = null;
}
