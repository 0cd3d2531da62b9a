// Edits a spring by the peak of its step response, and shows its overshoot and settling time.
//
// The response is that of the damped harmonic oscillator, at rest, one unit away from its target.

import { h } from '../dom.js';
import { clamp } from '../numbers/decimal.js';
import { graph } from './graph.js';
import { replay } from './replay.js';

/** A spring has settled where it stays this near to its target. */
const near = 0.02;
/** The least overshoot of a peak; with less, a spring counts as one without. */
const least = 0.0005;
/** The time of the peak of a spring with the least overshoot, in responses. */
const lastPeak = peakTime(dampingOf(least));

/** The damping that gives an overshoot. */
function dampingOf(overshoot) {
  const log = Math.log(overshoot);
  return -log / Math.hypot(Math.PI, log);
}

function peakTime(damping) {
  return 1 / (2 * Math.sqrt(1 - damping ** 2));
}

/** The progress after a time, in responses. */
export function response(damping, time) {
  const angle = 2 * Math.PI * time;
  const root = Math.sqrt(Math.abs(1 - damping ** 2));
  const fall = Math.exp(-damping * angle);
  if (root < 1e-4) return 1 - fall * (1 + angle);
  if (damping < 1) {
    return 1 - fall * (Math.cos(root * angle) + damping / root * Math.sin(root * angle));
  }
  const [slow, fast] = [root - damping, -root - damping];
  return 1 - (fast * Math.exp(slow * angle) - slow * Math.exp(fast * angle)) / (fast - slow);
}

export const overshoot = (damping) =>
  damping < 1 ? Math.exp(-Math.PI * damping / Math.sqrt(1 - damping ** 2)) : 0;

/** The time after which a spring stays near its target, in responses; infinite without damping. */
export function settling(damping) {
  if (damping <= 0) return Infinity;
  const rate = damping < 1 ? damping : damping - Math.sqrt(damping ** 2 - 1);
  const horizon = (Math.log(2 * Math.max(1, damping) / near) + 2) / (2 * Math.PI * rate);
  const steps = 4_000;
  for (let step = steps; step > 0; step--) {
    if (Math.abs(response(damping, horizon * step / steps) - 1) > near) return horizon * (step + 1) / steps;
  }
  return 0;
}

const percent = (part) => (100 * part).toFixed(part < 0.1 ? 1 : 0) + '%';
const seconds = (time) => time < 1_000 ? Math.round(time) + ' ms' : (time / 1_000).toFixed(2) + ' s';

/** Values are `response` in milliseconds and `damping fraction`; `limits` has the least and most of both. */
export function springPane({ set, end, limits }) {
  let spring = { response: 500, damping: 1 };
  let view = 2;
  const square = replay('square');
  const output = h('output');
  const place = graph({ end: finish });
  const responseOf = (time) => ({ 'response': clamp(Math.round(time), ...limits.response) });
  const dampingIn = (damping) => ({
    'damping fraction': clamp(Number(damping.toFixed(3)), ...limits['damping fraction']),
  });
  const peak = place.handle('peak', 'Peak: its time and overshoot', {
    move(x, y) {
      const damping = y - 1 > least ? dampingOf(Math.min(y - 1, 0.98)) : 1;
      const time = Math.max(x, 0.01) * view * spring.response;
      set({ ...responseOf(time / (damping < 1 ? peakTime(damping) : lastPeak)), ...dampingIn(damping) });
    },
    step: (x, y) => set(x ? responseOf(spring.response + 10 * x) : dampingIn(spring.damping - y / 100)),
  });
  const run = () => {
    const time = length();
    square.run((part) => response(spring.damping, part * time), time * spring.response);
  };
  /** The shown time, in responses. */
  const length = () => Math.min(Math.max(1.15 * settling(spring.damping), 1), 6);

  function finish() {
    if (end()) run();
    draw();
  }

  function show({ response, 'damping fraction': damping }) {
    // The scale of time stays while the peak is held.
    if (peak.isHeld) view *= spring.response / response;
    spring = { response, damping };
    draw();
  }

  function draw() {
    const { response: time, damping } = spring;
    if (!peak.isHeld) view = length();
    const points = Array.from({ length: 121 }, (_, index) => {
      const y = response(damping, view * index / 120);
      return `${(index / 120).toFixed(4)} ${(1 - y).toFixed(4)}`;
    });
    place.draw('M' + points.join('L'), [-0.1, 2.05], [0, 1]);
    const at = damping < 1 ? Math.min(peakTime(damping), lastPeak) : lastPeak;
    const over = overshoot(damping);
    const rest = settling(damping);
    const text = `overshoot ${percent(over)}, ` +
      (rest < Infinity ? `settles in ${seconds(rest * time)}` : 'never settles');
    peak.show(Math.min(1, at / view), response(damping, at), text);
    output.textContent = text;
  }

  return {
    element: h('div.pane', place.element, square.element, output),
    first: peak.element,
    show,
    run,
  };
}
