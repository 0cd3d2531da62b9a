// Draws a graph with handles that are dragged, or moved by arrow keys.

import { h, on, setStyle, svg } from '../dom.js';

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * `draw(way, range, marks)` draws a path in whole widths and `range`, the lowest and highest y, with lines at
 * the y of `marks`. A handle calls `move(x, y)` for a place, `step(x, y)` for arrow keys, and `end()`.
 */
export function graph({ end }) {
  const picture = svg('svg', { preserveAspectRatio: 'none', 'aria-hidden': 'true', class: 'way' });
  const element = h('div.graph', picture);
  let [low, high] = [0, 1];

  function draw(way, range, marks, links = '') {
    [low, high] = range;
    picture.setAttribute('viewBox', `0 ${1 - high} 1 ${high - low}`);
    picture.replaceChildren(
      ...marks.map((y) => svg('path', { d: `M0 ${1 - y}H1`, class: 'mark' })),
      ...links ? [svg('path', { d: links, class: 'link' })] : [],
      svg('path', { d: way }),
    );
  }

  function handle(part, label, { move, step }) {
    const knob = h('button.handle', { part, label, role: 'slider', 'aria-valuenow': 0 });
    const at = ({ clientX, clientY }) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      move((clientX - left) / width, high - (high - low) * (clientY - top) / height);
    };
    let isHeld = false;
    on(knob, 'pointerdown', (event) => {
      knob.setPointerCapture(event.pointerId);
      knob.focus();
      isHeld = true;
    });
    on(knob, 'lostpointercapture', () => {
      isHeld = false;
    });
    on(knob, 'pointermove', (event) => {
      if (knob.hasPointerCapture(event.pointerId) && event.buttons) at(event);
    });
    for (const name of ['lostpointercapture', 'keyup', 'blur']) on(knob, name, end);
    on(knob, 'keydown', (event) => {
      if (!(event.key in arrows)) return;
      event.preventDefault();
      const size = event.shiftKey ? 10 : 1;
      step(...arrows[event.key].map((way) => way * size));
    });
    element.append(knob);
    return {
      element: knob,
      show(x, y, text) {
        setStyle(knob, 'left', `${100 * x}%`);
        setStyle(knob, 'top', `${100 * (high - y) / (high - low)}%`);
        knob.setAttribute('aria-valuetext', text);
      },
      get isHeld() {
        return isHeld;
      },
    };
  }

  return { element, draw, handle };
}
