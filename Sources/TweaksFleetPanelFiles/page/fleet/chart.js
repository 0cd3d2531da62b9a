// Draws a figure of a rollout over time: the median of its members against that of the other processes.

import { clean, h, svg } from '../dom.js';
import { linePath, partsWithoutGap, projection, scaleOf } from '../figures/chart.js';

const size = { width: 320, height: 120 };
const box = { left: 44, top: 8, right: size.width - 6, bottom: size.height - 18 };
const short = (number) => String(Number(number.toPrecision(4)));

/** A chart with its legend; `violators` is null where another program drives the rollout. */
export function chartOf({ text, path, limit, relative, samples }, violators) {
  const points = samples.map(([at, members, others]) => ({
    time: Number(at),
    members: members == null ? null : Number(members),
    others: others == null ? null : Number(others),
  }));
  const members = lineOf(points, 'members');
  const others = lineOf(points, 'others');
  const bound = relative ? null : Number(limit);
  const limits = relative
    ? others.map((point) => ({ ...point, value: point.value * Number(limit) }))
    : points.map(({ time }) => ({ time, value: bound }));
  const last = (line) => line.length ? short(line.at(-1).value) : 'none yet';
  const state = violators == null ? '' : ` · ${violators} of the members meet it`;
  return h(
    'figure.fleet-chart',
    { part: 'figure' },
    h('figcaption', h('span', { dir: 'auto' }, `Reverts if ${text}`), h('span.soft', state)),
    members.length + others.length
      ? picture(points, { members, others, limits }, path)
      : h('p.soft', 'No process has sent the figure yet.'),
    h(
      'div.legend',
      h('span.of-members', 'members ', h('b', { part: 'members' }, last(members))),
      h('span.of-others', 'others ', h('b', { part: 'others' }, last(others))),
      h('span.of-limit', 'limit'),
    ),
  );
}

const lineOf = (points, name) =>
  points.filter((point) => point[name] != null).map((point) => ({ time: point.time, value: point[name] }));

function picture(points, lines, path) {
  const values = Object.values(lines).flat().map(({ value }) => value);
  const scale = scaleOf({ low: null, high: null }, values.map((value) => ({ min: value, max: value })));
  const end = points.at(-1).time;
  const start = Math.min(points[0].time, end - 60000);
  const map = projection(box, { start, end }, scale);
  const image = svg('svg', {
    viewBox: `0 0 ${size.width} ${size.height}`,
    role: 'img',
    'aria-label': clean(`${path} over time: members ${lines.members.at(-1)?.value ?? 'none'}, others ${
      lines.others.at(-1)?.value ?? 'none'
    }`),
  });
  for (const value of [scale.high, scale.low]) {
    image.append(
      svg('path', { class: 'grid', d: `M${box.left} ${map.y(value)}H${box.right}` }),
      label(short(value), box.left - 5, map.y(value) + 4, 'end'),
    );
  }
  const minutes = Math.max(1, Math.round((end - start) / 60000));
  image.append(
    label(`−${minutes} min`, box.left, size.height - 4, 'start'),
    label('now', box.right, size.height - 4, 'end'),
  );
  // Samples are the farther apart the longer a rollout takes.
  const gaps = points.slice(1).map((point, index) => point.time - points[index].time).sort((a, b) => a - b);
  const period = Math.max(2000, gaps[Math.floor(gaps.length / 2)] ?? 0) / 1000;
  for (const [name, line] of Object.entries(lines)) {
    image.append(svg('path', { class: name, d: linePath(partsWithoutGap(line, period), map) }));
  }
  return image;
}

function label(text, x, y, anchor) {
  const element = svg('text', { x, y, 'text-anchor': anchor });
  element.textContent = text;
  return element;
}
