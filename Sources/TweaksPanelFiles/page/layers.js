// Shows the layers of a tweak, loaded from the process.

import { drawBadges } from './badges.js';
import { h, table } from './dom.js';
import { brief, nameOfLayer, shown, timeUntil, when } from './format.js';
import { nanoseconds } from './numbers/decimal.js';
import { refreshSoon } from './refresh.js';
import { has } from './tweaks.js';

/** Shows or hides the layers of a row. */
export function toggleLayers(row) {
  const isOpen = row.layers.hidden;
  row.layers.hidden = !isOpen;
  row.explain.setAttribute('aria-expanded', isOpen);
  if (!isOpen) return;
  row.layers.textContent = 'Loading…';
  refreshSoon(row.tweak.path);
}

/** Draws the layers from the reply to `explain`. */
export function drawLayers(row, { layers = [], source }) {
  const remarks = layers.filter((layer) => layer.remark).map((layer) => layer.remark);
  row.remark = remarks[0] ?? null;
  drawBadges(row);
  if (row.layers.hidden) return;
  const isSecret = has(row.tweak, 'secret');
  const lines = layers.filter((layer) => 'value' in layer).map((layer) => [
    (layer.current ? '→ ' : '') + nameOfLayer(layer.layer),
    isSecret ? '(secret)' : brief(layer.value, 400),
    layer.by,
    when(layer.time) + remainingText(layer),
  ]);
  row.layers.replaceChildren(
    table(['Layer', 'Value', 'By', 'When'], lines, ([name]) => name.startsWith('→')),
    ...remarks.map((remark) => h('p.facts', remark)),
    h('p.facts', definition(row.tweak, source)),
  );
}

function remainingText(layer) {
  if (!layer.timeLeft) return '';
  return `, ${timeUntil(Date.now() + Number(nanoseconds(layer.timeLeft) / 1000000n))} left`;
}

/** The declaration of the tweak in one line. */
function definition(tweak, source) {
  const { kind, min, max, step, policy, flags = [] } = tweak;
  const hasRange = min != null || max != null;
  return [
    kind,
    hasRange && `${shown(min ?? '')}…${shown(max ?? '')}`,
    step != null && 'step ' + shown(step),
    policy && policy + 's invalid values',
    ...flags,
    source && 'declared in ' + source,
  ].filter(Boolean).join(' · ');
}
