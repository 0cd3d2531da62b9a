// Maintains the event stream: detects and reports a lost connection, and reconnects.

import { changed } from './changes.js';
import { byId, clean, root } from './dom.js';
import { events } from './event-stream.js';
import { announce, toast } from './notifications.js';
import { parse } from './numbers/decimal.js';
import { keepName } from './person.js';
import { restarted } from './refresh.js';
import { credentials, dropHeaders, fetchAuthenticated, ownRevisions, request } from './requests.js';
import { countSoon, rows } from './rows.js';
import { isConnected, may, mayAll, scopeOf, session } from './session.js';
import { emit } from './signals.js';
import { applySnapshot } from './tweaks.js';

let lastID = '';
let attempt = 0;
let stream = null;
let retry = 0;
let watchdog = 0;
let countdown = 0;
/** The time of the last received data; the process sends a heartbeat every second. */
let lastReceived = 0;
let isFirst = true;
export function setState(name, text) {
  const was = root.dataset.state;
  root.dataset.state = name;
  byId('state').lastElementChild.textContent = text;
  if (was !== name && !isFirst) {
    announce(
      { connected: 'Connected', silent: 'Not responding', lost: 'Disconnected', login: 'Signed out' }[name],
    );
  }
}

/** Records that data was received. */
function alive() {
  lastReceived = Date.now();
  if (root.dataset.state === 'silent') {
    setState('connected', 'connected');
    // The history may have changed meanwhile, so undo and redo are updated.
    countSoon();
  }
  clearTimeout(watchdog);
  watchdog = setTimeout(() => stream?.abort(), 16000);
}

/** A suspended process keeps its connections open, and sends nothing. */
setInterval(() => {
  if (root.dataset.state !== 'connected' || !stream || document.hidden) return;
  if (Date.now() - lastReceived >= 2400) setState('silent', 'Not responding');
}, 200);

export async function connect() {
  clearTimeout(retry);
  clearInterval(countdown);
  stream?.abort();
  const own = stream = new AbortController();
  if (root.dataset.state === 'lost') setState('lost', 'connecting…');
  alive();
  let reason = 'the stream ended';
  try {
    const since = lastID ? '?since=' + encodeURIComponent(lastID) : '';
    const response = await fetchAuthenticated('/api/events' + since, {
      headers: { Accept: 'text/event-stream' },
      signal: own.signal,
    });
    if (response.status === 401) return emit('signed-out');
    if (!response.ok) throw refusal(parse(await response.text()).error);
    for await (const event of events(response.body, alive)) {
      if (stream !== own) return;
      receive(event);
    }
  } catch (error) {
    reason = error.message;
  }
  if (stream === own && root.dataset.state !== 'login') lost(reason);
}

/** The error of a refused stream. A name that this version of the program refuses is dropped. */
function refusal({ message }) {
  if (message.startsWith('Tweaks-Name')) keepName('');
  return new Error(message);
}

function lost(reason) {
  clearTimeout(watchdog);
  // Another program may have the port now, and a restarted process does not know this key.
  dropHeaders();
  cancelRest();
  const wait = Math.min(8000, 250 * 2 ** attempt++);
  const until = Date.now() + wait;
  const showCountdown = () =>
    setState(
      'lost',
      wait < 900
        ? 'Disconnected – retrying'
        : `Disconnected – retrying in ${Math.max(1, Math.ceil((until - Date.now()) / 1000))} s`,
    );
  byId('state').title = reason;
  showCountdown();
  clearInterval(countdown);
  if (wait >= 900) countdown = setInterval(showCountdown, 1000);
  retry = setTimeout(connect, wait);
}

// A browser allows six connections to a server, and the stream of each window uses one. A hidden window
// closes its stream after a while, since a seventh window could not load otherwise.
let resting = 0;
let isResting = false;
function restIfHidden() {
  clearTimeout(resting);
  // A page that sends the token itself would have to ask for it again.
  const isPlain = Boolean(credentials.headers?.Authorization);
  if (document.hidden && !isPlain && isConnected()) {
    resting = setTimeout(() => {
      isResting = true;
      clearTimeout(watchdog);
      stream?.abort();
      stream = null;
      credentials.headers = null;
    }, 20000);
  }
}

function cancelRest() {
  clearTimeout(resting);
  isResting = false;
}

let greeting = null;
function receive({ id, event, data }) {
  if (id) lastID = id;
  if (event === 'hello') return hello(data);
  if (event === 'snapshot') return snapshot(data);
  if (event === 'change') {
    if (!changed(data) && relisting) early.push(data);
    return;
  }
  if (event === 'listing') return relist();
  if (event === 'lagged') {
    byId('state').title = `${data.count} changes were too frequent; only the newest values are shown`;
  }
}

function hello(data) {
  greeting = {
    isRestart: session.instance && session.instance !== data.instance,
    isReconnect: !isFirst && !isResting,
  };
  isResting = false;
  if (session.instance !== data.instance) {
    restarted(data.instance);
    ownRevisions.clear();
  }
  emit('preview-ended', Infinity);
  session.stream = Number(data.stream);
  session.previews = data.features?.includes('preview') === true;
  Object.assign(session, { instance: data.instance, identity: data.identity, process: clean(data.name) });
  byId('process').textContent = session.process;
  byId('pid').textContent = 'pid ' + data.pid;
  const text = String(data.scopes);
  if (text !== String(session.scopes.map((scope) => scope.text))) {
    session.scopes = data.scopes.map((text) => ({ ...scopeOf(text), text }));
    for (const row of rows.values()) row.element.remove();
    rows.clear();
    greeting.isOther = true;
  }
  for (const id of ['undo', 'redo']) if (!may('write')) byId(id).disabled = true;
  byId('people').lastElementChild.hidden = !mayAll('admin');
}

function snapshot(data) {
  const { moved, isNew } = applySnapshot(data.tweaks, !data.resumed);
  attempt = 0;
  const scopes = session.scopes.map((scope) => scope.text).join(', ');
  byId('state').title = `${session.identity || 'unknown client'}, scopes: ${scopes || 'none'}`;
  setState('connected', 'connected');
  restIfHidden();
  if (greeting.isRestart) {
    toast(
      `${session.process} restarted${
        moved ? `; ${moved} ${moved === 1 ? 'value differs' : 'values differ'}` : ''
      }`,
    );
  } else if (greeting.isReconnect && moved) {
    toast(`Reconnected: ${moved} ${moved === 1 ? 'value' : 'values'} changed meanwhile`);
  }
  if (isFirst) emit('list');
  else if (isNew || greeting.isOther) emit('list', true);
  countSoon();
  if (!isFirst) return;
  isFirst = false;
  requestAnimationFrame(() => performance.mark('tweaks-shown'));
  emit('shown');
}

let relisting = 0;
let early = [];
/** Loads the list again after tweaks were added or removed. Events of unknown tweaks wait for it. */
async function relist() {
  const own = ++relisting;
  try {
    const reply = await request('GET', '/api/tweaks');
    const rev = Number(reply.rev);
    if (own !== relisting) return;
    if (applySnapshot(reply.tweaks, true, rev).isNew) {
      emit('list', true);
      countSoon();
    }
    for (const event of early) if (Number(event.rev) > rev) changed(event);
  } catch { /* the stream reports the error */ }
  if (own === relisting) {
    relisting = 0;
    early = [];
  }
}

/** Ends the stream, without retries. */
export function disconnect() {
  clearTimeout(watchdog);
  clearTimeout(retry);
  clearInterval(countdown);
  cancelRest();
  stream?.abort();
}

/** Connects again, unless the window has paused its stream. */
export function reconnect() {
  if (!isResting) connect();
}

/** Connects at once, when the window is visible again or the network is back. */
export function connectNow() {
  restIfHidden();
  if (document.hidden || !isResting && root.dataset.state !== 'lost') return;
  if (isResting) byId('state').lastElementChild.textContent = 'connecting…';
  attempt = 0;
  connect();
}
