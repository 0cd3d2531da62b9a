// Asks for what events do not say: time left, and layers that changed without the value.

import { root } from './dom.js';
import { request } from './requests.js';
import { drawSoon, rows } from './rows.js';
import { session } from './session.js';
import { store, stored } from './storage.js';
import { has, isOverridden, judge, received, tweaks } from './tweaks.js';

/** What the events do not say: time left, and layers that changed without the value. */
const refreshing = new Map();
export function refreshSoon(path) {
  if (refreshing.has(path)) return;
  refreshing.set(
    path,
    setTimeout(async () => {
      refreshing.delete(path);
      try {
        const { rev } = tweaks.get(path) ?? {};
        const reply = await request('GET', '/api/explain?path=' + encodeURIComponent(path));
        const tweak = tweaks.get(path);
        if (!tweak) return;
        // The answer may be older than the change.
        if (tweak.rev !== rev) return refreshSoon(path);
        const top = received({ ...reply, ...reply.layers?.find((layer) => layer.current) });
        for (const name of ['layer', 'by', 'until', 'set']) tweak[name] = top[name];
        judge(tweak);
        if (
          has(tweak, 'needs-restart') && isOverridden(tweak) && Date.parse(top.time) > await startOf()
        ) due(path);
        rows.get(path)?.explained(reply);
        drawSoon(path);
      } catch { /* the next event or snapshot says it */ }
    }, 60),
  );
}

export const refreshUnmoved = (reply) =>
  reply.tweaks?.filter((tweak) => String(tweak.value) === String(tweak.was)).slice(0, 20).forEach((tweak) =>
    refreshSoon(tweak.path)
  );

/** Paths of what was set since the process started, and waits for the next start. */
export let restarts = new Set();
export function due(path) {
  restarts.add(path);
  store('due', [session.instance, ...restarts]);
}

/** Another start of the process: what was due is done, unless this browser knows of this start. */
export function restarted(instance) {
  const [known, ...paths] = stored('due', []);
  restarts = new Set(known === instance ? paths : []);
  started = null;
}

/** When the process started, at the latest: what was set after that waits for the next start. */
let started = null;
const startOf = () =>
  started ??= request('GET', '/api/stats').then(
    ({ uptimeSeconds }) => Date.now() - uptimeSeconds * 1000,
    () => {
      started = null;
      return Infinity;
    },
  );
// Whether a file says otherwise, or a restart is due, is asked for a few overrides, one by one.
const doubts = [];
let doubted = 0;
export function doubt(row) {
  if (doubted < 40 && !doubts.includes(row)) {
    doubted++;
    row.remark = null;
    doubts.push(row);
  }
}

setInterval(() => {
  if (document.hidden || root.dataset.state !== 'connected') return;
  const row = doubts.shift();
  if (row?.element.isConnected) refreshSoon(row.tweak.path);
}, 400);
