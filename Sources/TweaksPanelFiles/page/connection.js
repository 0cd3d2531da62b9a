// Holds the stream of events: its loss is seen and said, and it comes back by itself.

import { changed } from './changes.js';
import { byId, clean, root } from './dom.js';
import { events } from './event-stream.js';
import { say, toast } from './notes.js';
import { parse } from './numbers/decimal.js';
import { keepName } from './person.js';
import { restarted } from './refresh.js';
import { ask, credentials, mine, request } from './requests.js';
import { countSoon, rows } from './rows.js';
import { may, mayAll, scopeOf, session } from './session.js';
import { emit } from './signals.js';
import { take } from './tweaks.js';

let lastID = '';
let attempt = 0;
let stream = null;
let retry = 0;
let watchdog = 0;
let countdown = 0;
/** When anything was heard last: the process says something every second. */
let heard = 0;
let isFirst = true;
export function state(name, text) {
  const was = root.dataset.state;
  root.dataset.state = name;
  byId('state').lastElementChild.textContent = text;
  if (was !== name && !isFirst) {
    say(
      { connected: 'Connected', silent: 'Not responding', lost: 'Disconnected', login: 'Signed out' }[name],
    );
  }
}

/** Something has come. */
function alive() {
  heard = Date.now();
  if (root.dataset.state === 'silent') {
    state('connected', 'connected');
    // What could be undone was not known meanwhile.
    countSoon();
  }
  clearTimeout(watchdog);
  watchdog = setTimeout(() => stream?.abort(), 16000);
}

/** A process that is stopped keeps its connections, and says nothing. */
setInterval(() => {
  if (root.dataset.state !== 'connected' || !stream || document.hidden || Date.now() - heard < 2400) return;
  state('silent', 'Not responding');
}, 200);

export async function connect() {
  clearTimeout(retry);
  clearInterval(countdown);
  stream?.abort();
  const own = stream = new AbortController();
  if (root.dataset.state === 'lost') state('lost', 'connecting…');
  alive();
  let reason = 'the stream ended';
  try {
    const response = await ask('/api/events' + (lastID ? '?since=' + encodeURIComponent(lastID) : ''), {
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

/** Why the stream is refused. A name that was good for another version of the program is given up. */
function refusal({ message }) {
  if (message.startsWith('Tweaks-Name')) keepName('');
  return new Error(message);
}

function lost(reason) {
  clearTimeout(watchdog);
  // It may be another process that comes back, which has not given this page a key.
  if (credentials.headers?.['Tweaks-Key']) credentials.headers = null;
  awaken();
  const wait = Math.min(8000, 250 * 2 ** attempt++);
  const until = Date.now() + wait;
  const tell = () =>
    state(
      'lost',
      wait < 900
        ? 'Disconnected – retrying'
        : `Disconnected – retrying in ${Math.max(1, Math.ceil((until - Date.now()) / 1000))} s`,
    );
  byId('state').title = reason;
  tell();
  clearInterval(countdown);
  if (wait >= 900) countdown = setInterval(tell, 1000);
  retry = setTimeout(connect, wait);
}

// A browser has six connections to a process, and every window's stream takes one: a window that nobody looks
// at gives it back after a while, or the seventh would stay empty.
let resting = 0;
let isResting = false;
function restUnseen() {
  clearTimeout(resting);
  if (document.hidden && ['connected', 'silent'].includes(root.dataset.state)) {
    resting = setTimeout(() => {
      isResting = true;
      clearTimeout(watchdog);
      stream?.abort();
      stream = null;
    }, 20000);
  }
}

function awaken() {
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
    byId('state').title = `${data.count} changes came too fast and were folded into the newest values`;
  }
}

function hello(data) {
  greeting = {
    isRestart: session.instance && session.instance !== data.instance,
    isBack: !isFirst && !isResting,
  };
  isResting = false;
  if (session.instance !== data.instance) {
    restarted(data.instance);
    mine.clear();
  }
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
  const { moved, isNew } = take(data.tweaks, !data.resumed);
  attempt = 0;
  byId('state').title = `${session.identity || 'somebody'}, who may ${
    session.scopes.map((scope) => scope.text).join(', ') || 'nothing'
  }`;
  state('connected', 'connected');
  restUnseen();
  if (greeting.isRestart) {
    toast(
      `${session.process} restarted${
        moved ? `; ${moved} ${moved === 1 ? 'value differs' : 'values differ'}` : ''
      }`,
    );
  } else if (greeting.isBack && moved) {
    toast(`Connected again: ${moved} ${moved === 1 ? 'value' : 'values'} changed meanwhile`);
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
/** Other tweaks are there. What is told of them before the list comes waits for it. */
async function relist() {
  const own = ++relisting;
  try {
    const reply = await request('GET', '/api/tweaks');
    const rev = Number(reply.rev);
    if (own !== relisting) return;
    if (take(reply.tweaks, true, rev).isNew) {
      emit('list', true);
      countSoon();
    }
    for (const event of early) if (Number(event.rev) > rev) changed(event);
  } catch { /* the stream says why */ }
  if (own === relisting) {
    relisting = 0;
    early = [];
  }
}

/** Ends the stream, and tries no more. */
export function disconnect() {
  clearTimeout(watchdog);
  clearTimeout(retry);
  clearInterval(countdown);
  awaken();
  stream?.abort();
}

/** Connects again, unless the window rests or is signed out. */
export function reconnect() {
  if (!isResting) connect();
}

/** The window is looked at again, or the network is back. */
export function connectNow() {
  restUnseen();
  if (document.hidden || !isResting && root.dataset.state !== 'lost') return;
  if (isResting) byId('state').lastElementChild.textContent = 'connecting…';
  attempt = 0;
  connect();
}
