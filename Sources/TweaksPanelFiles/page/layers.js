// Explains a value: its layers, as the process has them.

import { drawBadges } from './badges.js';
import { h, table } from './dom.js';
import { brief, left, shown, when } from './format.js';
import { nanoseconds } from './numbers/decimal.js';
import { refreshSoon } from './refresh.js';
import { has } from './tweaks.js';

/** Unfolds the layers of a row, or folds them. */
export function toggleLayers(row) {
  const isOpen = row.layers.hidden;
  row.layers.hidden = !isOpen;
  row.explain.setAttribute('aria-expanded', isOpen);
  if (!isOpen) return;
  row.layers.textContent = 'Loading…';
  refreshSoon(row.tweak.path);
}

/** Draws them from the answer of `explain`. */
export function drawLayers(row, { layers = [], source }) {
  const remarks = layers.filter((layer) => layer.remark).map((layer) => layer.remark);
  row.remark = remarks[0] ?? null;
  drawBadges(row);
  if (row.layers.hidden) return;
  const isSecret = has(row.tweak, 'secret');
  const lines = layers.filter((layer) => 'value' in layer).map((layer) => [
    (layer.current ? '→ ' : '') + layer.layer,
    isSecret ? '(secret)' : brief(layer.value, 400),
    layer.by,
    when(layer.time) + timeLeft(layer),
  ]);
  row.layers.replaceChildren(
    table(['Layer', 'Value', 'By', 'When'], lines, ([name]) => name.startsWith('→')),
    ...remarks.map((remark) => h('p.facts', remark)),
    h('p.facts', definition(row.tweak, source)),
  );
}

function timeLeft(layer) {
  if (!layer.timeLeft) return '';
  return `, ${left(Date.now() + Number(nanoseconds(layer.timeLeft) / 1000000n))} left`;
}

/** What the code says of the tweak, in one line. */
function definition(tweak, source) {
  const { kind, min, max, step, policy, flags = [] } = tweak;
  const hasRange = min != null || max != null;
  return [
    kind,
    hasRange && `${shown(min ?? '')}…${shown(max ?? '')}`,
    step != null && 'step ' + shown(step),
    policy && policy + 's what does not fit',
    ...flags,
    source && 'declared in ' + source,
  ].filter(Boolean).join(' · ');
}
