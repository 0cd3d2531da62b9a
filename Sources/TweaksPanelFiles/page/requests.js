// Sends requests, and knows which revisions came of them.

import { parse } from './numbers/decimal.js';
import { personHeaders } from './person.js';
import { session } from './session.js';
import { emit } from './signals.js';

/** Revisions that this page has made. */
export const mine = new Set();
/**
 * What requests show, for as long as this page is open: a key that the process gave it, beside the cookie; or
 * the token itself. `renew` gets a new key, where there is a sign-in.
 */
export const credentials = { headers: null, renew: () => Promise.resolve(false) };
/** Asks; where nothing is shown yet, or what is shown is not taken any more, once again with a new key. */
export async function ask(path, options = {}) {
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
    response = await ask(path, options);
    text = await response.text();
  } catch {
    throw Object.assign(
      new Error(`not sent: no connection to ${session.process}; try again when it is back`),
      { code: 'lost' },
    );
  }
  if (response.ok && asText) return text;
  let reply = {};
  try {
    reply = parse(text || '{}');
  } catch { /* not ours, so the status has to do */ }
  if (response.ok && reply.ok !== false) {
    if (reply.rev != null && !reply.unchanged && method !== 'GET') remember(reply.rev);
    return reply;
  }
  if (response.status === 401 && path !== '/login') emit('signed-out');
  throw Object.assign(new Error(reply.error?.message ?? `${session.process} answered ${response.status}`), {
    code: reply.error?.code,
    reply,
  });
}

function remember(revision) {
  mine.add(String(revision));
  emit('committed');
  if (mine.size > 2000) mine.delete(mine.values().next().value);
}
