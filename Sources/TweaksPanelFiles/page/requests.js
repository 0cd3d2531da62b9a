// Sends authenticated requests, and remembers the revisions that they made.

import { isIntercepted } from './interception.js';
import { parse } from './numbers/decimal.js';
import { personHeaders, windowHeader } from './person.js';
import { session } from './session.js';
import { emit } from './signals.js';
import { base, isMounted, isOfSite } from './site.js';

/** The revisions that this page has made. */
export const ownRevisions = new Set();
/**
 * The headers that authenticate requests: a key from the process, beside the cookie, or the token itself.
 * They are dropped when the event stream ends: then another program may have the port. `signIn` replaces the
 * cookie, which may be another program's by then. `renew` gets new headers from a process that proves to know
 * this sign-in.
 */
export const credentials = { headers: null, signIn: {}, renew: () => Promise.resolve(false) };
let underWay = new AbortController();
/** Drops the headers, and ends queries that have them: a browser may send those again, to another program. */
export function dropHeaders() {
  credentials.headers = null;
  underWay.abort();
  underWay = new AbortController();
}
/** Sends a request; without credentials, or after status 401, with a new key. */
export async function fetchAuthenticated(path, options = {}) {
  if (isIntercepted()) {
    emit('intercepted');
    throw new Error('another program has taken over this address');
  }
  const send = (headers) =>
    fetch(base + path, {
      redirect: isMounted ? 'manual' : 'follow',
      // The answer to a change matters even if it has ended the stream.
      signal: options.method === 'GET' ? underWay.signal : undefined,
      ...options,
      headers: { ...headers, ...options.headers, ...credentials.signIn },
    });
  if (isMounted) {
    const response = await send(personHeaders());
    return isOfSite(response) ? new Response('{}', { status: 401 }) : response;
  }
  // Before the process has proven itself, it gets neither the key nor the user's name.
  if (path === '/login') return send(windowHeader());
  const once = () => send({ ...personHeaders(), ...credentials.headers });
  const response = credentials.headers && await once();
  return response && response.status !== 401
    ? response
    : await credentials.renew()
    ? once()
    : response ?? new Response('{}', { status: 401 });
}

export async function request(method, path, content, headers = {}, asText = false) {
  const options = { method, headers: { ...headers } };
  if (content) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(content);
  }
  let response;
  let text;
  try {
    response = await fetchAuthenticated(path, options);
    text = await response.text();
  } catch {
    throw Object.assign(
      new Error(`not sent: no connection to ${session.process}; try again once it is connected`),
      { code: 'lost' },
    );
  }
  if (response.ok && asText) return text;
  let reply = {};
  try {
    reply = parse(text || '{}');
  } catch { /* not JSON: the error reports the status */ }
  if (response.ok && reply.ok !== false) {
    if (reply.rev != null && !reply.unchanged && method !== 'GET') remember(reply.rev);
    return reply;
  }
  if (response.status === 401 && path !== '/login') emit('signed-out');
  throw Object.assign(new Error(reply.error?.message ?? `${session.process} returned ${response.status}`), {
    code: reply.error?.code,
    reply,
  });
}

function remember(revision) {
  ownRevisions.add(String(revision));
  emit('committed');
  if (ownRevisions.size > 2000) ownRevisions.delete(ownRevisions.values().next().value);
}
