// Draws the badges of a row: the time left, a pending restart, a conflict with the config file.

import { h } from './dom.js';
import { timeUntil } from './format.js';
import { restarts } from './refresh.js';
import { has, isOverridden } from './tweaks.js';

/** Functions that give further badges of a row, of modules that this one does not know. */
export const badgeSources = [];
/** Rows that show the time left of a temporary value. */
const timed = new Set();

export function drawBadges(row) {
  const badges = badgesOf(row);
  timed[row.tweak.until ? 'add' : 'delete'](row);
  const text = JSON.stringify(badges);
  if (row.badgeText === text) return;
  row.badgeText = text;
  row.badges.replaceChildren(
    ...badges.map(({ kind, words, isDue, title }) =>
      h('span.badge', { part: 'badge', 'data-badge': kind, 'data-due': isDue, title }, words)
    ),
  );
}

function badgesOf(row) {
  const { tweak } = row;
  const badges = [];
  if (has(tweak, 'needs-restart')) {
    const isDue = restarts.has(tweak.path);
    badges.push({ kind: 'restart', words: isDue ? 'needs restart' : 'applies after restart', isDue });
  }
  if (tweak.until) {
    badges.push({ kind: 'temporary', words: 'temporary · ' + timeUntil(tweak.until) });
  } else if (row.isArmed) {
    const title = 'The next change here is temporary; press Escape to cancel';
    badges.push({ kind: 'next', words: 'for ' + row.nextDuration + ' only', title });
  }
  if (row.remark && isOverridden(tweak)) {
    badges.push({ kind: 'conflict', words: 'conflict with file', title: row.remark });
  }
  return [...badges, ...badgeSources.flatMap((source) => source(row))];
}

setInterval(() => {
  if (document.hidden) return;
  for (const row of timed) drawBadges(row);
}, 1000);
