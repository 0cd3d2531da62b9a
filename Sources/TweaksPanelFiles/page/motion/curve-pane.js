// Edits an easing curve: two handles, named curves, and a dot that shows it.

import { h, setStyle } from '../dom.js';
import { clamp } from '../numbers/decimal.js';
import { curves, curveText, progress, thumbnail, wayOf } from './curve.js';
import { graph } from './graph.js';
import { replay } from './replay.js';

/** The time of one run, in milliseconds. */
const time = 1_000;

/** `set(points)` and `end()` change the curve; y is within `bounds`. */
export function curvePane({ set, end, bounds: [least, most] }) {
  let curve = [0, 0, 1, 1];
  let range = [-0.2, 1.2];
  const dot = replay('dot');
  const output = h('output', { dir: 'ltr' });
  const run = () => dot.run((part) => progress(curve, part), time);
  const place = graph({ end: finish });
  /** Sets coordinates by their position. One that was typed may be beyond the bounds, and comes back. */
  const put = (coordinates) => {
    if (!Array.isArray(curve)) return;
    set(curve.map((number, index) => {
      if (!(index in coordinates)) return number;
      const [low, high] = index % 2 ? [Math.min(least, number), Math.max(most, number)] : [0, 1];
      return clamp(hundredth(coordinates[index]), low, high);
    }));
  };
  const handles = [0, 2].map((first) =>
    place.handle(`handle-${first / 2 + 1}`, `Control point ${first / 2 + 1}`, {
      move: (x, y) => put({ [first]: x, [first + 1]: y }),
      step: (x, y) =>
        put(x ? { [first]: curve[first] + x / 100 } : { [first + 1]: curve[first + 1] + y / 100 }),
    })
  );
  const chips = Object.entries(curves).map(([name, points]) => {
    const chip = h('button', {
      label: name,
      title: name,
      onclick: () => {
        set(points);
        finish();
      },
    }, thumbnail(wayOf(points)), h('i'));
    setStyle(chip, '--ease', curveText(points));
    return chip;
  });

  function finish() {
    if (end()) run();
    draw();
  }

  function show(next) {
    curve = next;
    draw();
  }

  function draw() {
    const isBezier = Array.isArray(curve);
    const heights = isBezier ? [curve[1], curve[3]] : [];
    // The scale stays while a handle is held.
    if (!handles.some((handle) => handle.isHeld)) {
      range = [Math.min(-0.2, ...heights) - 0.05, Math.max(1.2, ...heights) + 0.05];
    }
    const links = isBezier
      ? `M0 1L${curve[0]} ${1 - curve[1]}M1 0L${curve[2]} ${1 - curve[3]}`
      : '';
    place.draw(wayOf(curve), range, [0, 1], links);
    handles.forEach(({ element, show }, index) => {
      element.hidden = !isBezier;
      if (!isBezier) return;
      const [x, y] = curve.slice(2 * index);
      show(x, clamp(y, ...range), `time ${x}, progress ${y}`);
    });
    output.textContent = isBezier ? curveText(curve) : `steps(${curve.count},${curve.position})`;
  }

  return {
    element: h('div.pane', place.element, dot.element, output, h('div.curves', ...chips)),
    first: handles[0].element,
    show,
    run,
  };
}

const hundredth = (number) => Math.round(number * 100) / 100;
