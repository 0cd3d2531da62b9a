// Loads the details that events omit: the time left, the layers, and pending restarts.

import { root } from './dom.js';
import { request } from './requests.js';
import { drawSoon, rows } from './rows.js';
import { session } from './session.js';
import { store, stored } from './storage.js';
import { has, isOverridden, received, tweaks, updateModified } from './tweaks.js';

/** Timers of pending refreshes, by path. */
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
        // The reply may be older than the last change.
        if (tweak.rev !== rev) return refreshSoon(path);
        if (reply.layers?.at(-1)?.layer === 'preview') return;
        const top = received({ ...reply, ...reply.layers?.find((layer) => layer.current) });
        for (const name of ['layer', 'overridden', 'by', 'until', 'set']) tweak[name] = top[name];
        updateModified(tweak);
        if (
          has(tweak, 'needs-restart') && isOverridden(tweak) && Date.parse(top.time) > await startOf()
        ) addPendingRestart(path);
        rows.get(path)?.showLayers(reply);
        drawSoon(path);
      } catch { /* the next event or snapshot updates the row */ }
    }, 60),
  );
}

export const refreshUnmoved = (reply) =>
  reply.tweaks?.filter((tweak) => String(tweak.value) === String(tweak.was)).slice(0, 20).forEach((tweak) =>
    refreshSoon(tweak.path)
  );

/** Paths of tweaks that were set since the process started, and take effect at its next start. */
export let restarts = new Set();
export function addPendingRestart(path) {
  restarts.add(path);
  store('due', [session.instance, ...restarts]);
}

/** Clears the pending restarts when the process has restarted; restores those stored for the same start. */
export function restarted(instance) {
  const [known, ...paths] = stored('due', []);
  restarts = new Set(known === instance ? paths : []);
  started = null;
}

/** The latest possible start time of the process; changes after it take effect at the next start. */
let started = null;
const startOf = () =>
  started ??= request('GET', '/api/stats').then(
    ({ uptimeSeconds }) => Date.now() - uptimeSeconds * 1000,
    () => {
      started = null;
      return Infinity;
    },
  );
// Conflicts with the config file and pending restarts are checked for a limited number of overrides, in turn.
const checkQueue = [];
let checkCount = 0;
export function queueCheck(row) {
  if (checkCount < 40 && !checkQueue.includes(row)) {
    checkCount++;
    row.remark = null;
    checkQueue.push(row);
  }
}

setInterval(() => {
  if (document.hidden || root.dataset.state !== 'connected') return;
  const row = checkQueue.shift();
  if (row?.element.isConnected) refreshSoon(row.tweak.path);
}, 400);
