// Sends authenticated requests, and remembers the revisions that they made.

import { parse } from './numbers/decimal.js';
import { personHeaders } from './person.js';
import { session } from './session.js';
import { emit } from './signals.js';

/** The revisions that this page has made. */
export const ownRevisions = new Set();
/**
 * The headers that authenticate requests while this page is open: a key from the process, beside the cookie,
 * or the token itself. `renew` gets a new key if the browser is signed in.
 */
export const credentials = { headers: null, renew: () => Promise.resolve(false) };
/** Sends a request; without credentials, or after status 401, with a new key. */
export async function fetchAuthenticated(path, options = {}) {
  const once = () =>
    fetch(path, { ...options, headers: { ...personHeaders(), ...options.headers, ...credentials.headers } });
  if (path === '/login') return once();
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
