// Reads, writes, evaluates and draws easing curves, as defined by W3C, “CSS Easing Functions Level 2”.

import { svg } from '../dom.js';

/** Named curves, as control points x1, y1, x2, y2. */
export const curves = {
  'linear': [0, 0, 1, 1],
  'ease': [0.25, 0.1, 0.25, 1],
  'ease-in': [0.42, 0, 1, 1],
  'ease-out': [0, 0, 0.58, 1],
  'ease-in-out': [0.42, 0, 0.58, 1],
  'emphasized': [0.2, 0, 0, 1],
  'in cubic': [0.32, 0, 0.67, 0],
  'out cubic': [0.33, 1, 0.68, 1],
  'in out cubic': [0.65, 0, 0.35, 1],
  'in back': [0.36, 0, 0.66, -0.56],
  'out back': [0.34, 1.56, 0.64, 1],
  'in out back': [0.68, -0.6, 0.32, 1.6],
};

/** The control points of `cubic-bezier(…)`, or `{ count, position }` of `steps(…)`. */
export function parseCurve(text) {
  const [name, rest] = String(text).replace(')', '').split('(');
  if (name === 'cubic-bezier') return rest.split(',').map(Number);
  const [count, position] = (rest ?? '1').split(',');
  return { count: Number(count), position: position?.trim() ?? 'end' };
}

export const curveText = (points) => `cubic-bezier(${points.join(',')})`;
/** The same as in the field of a row, where the name of the function has no room. */
export const shortText = (text) => text.replace(/^cubic-bezier\((.*)\)$/, '$1');
/** Four numbers alone are a curve. */
export const longText = (text) =>
  /^\s*[-+.\d][^a-z]*$/i.test(text) ? `cubic-bezier(${text.trim()})` : text.trim();

/** One coordinate of a curve with control coordinates `a` and `b`. */
const coordinate = (a, b, at) => ((1 - 3 * b + 3 * a) * at + 3 * b - 6 * a) * at * at + 3 * a * at;

/** The progress at a time, both from 0 to 1. */
export function progress(curve, time) {
  if (!Array.isArray(curve)) return stepped(curve, time);
  const [x1, y1, x2, y2] = curve;
  let [low, high] = [0, 1];
  for (let round = 0; round < 30; round++) {
    const middle = (low + high) / 2;
    if (coordinate(x1, x2, middle) < time) low = middle;
    else high = middle;
  }
  return coordinate(y1, y2, (low + high) / 2);
}

/** How many steps there are from 0 to 1, and how many are done at the beginning. */
function stepsOf({ count, position }) {
  const jumps = { 'jump-none': [-1, 0], 'jump-both': [1, 1], 'start': [0, 1], 'jump-start': [0, 1] };
  const [more, first] = jumps[position] ?? [0, 0];
  return { total: Math.max(1, count + more), first };
}

function stepped(curve, time) {
  const { total, first } = stepsOf(curve);
  const done = Math.floor(Math.min(time, 1) * curve.count) + first;
  return Math.min(done, total) / total;
}

/** The way of a curve, in whole times and distances, y downwards. */
export function wayOf(curve) {
  if (Array.isArray(curve)) {
    const [x1, y1, x2, y2] = curve;
    return `M0 1C${x1} ${1 - y1} ${x2} ${1 - y2} 1 0`;
  }
  const count = Math.min(curve.count, 200);
  const { total, first } = stepsOf({ ...curve, count });
  let way = `M0 ${1 - first / total}`;
  for (let step = 1; step <= count; step++) {
    way += `H${step / count}V${1 - Math.min(1, (step + first) / total)}`;
  }
  return way;
}

/** A small picture of a way. */
export function thumbnail(way) {
  const picture = svg('svg', { viewBox: '-.08 -.3 1.16 1.6', 'aria-hidden': 'true', class: 'way' });
  picture.append(svg('path', { d: way }));
  return picture;
}
