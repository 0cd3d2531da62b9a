// Shows a card with a shadow, which is moved by dragging it.

import { h, on, setStyle } from '../dom.js';
import { clamp } from '../numbers/decimal.js';

const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Values are those of the parts; `limits` has the least and most of `x` and `y`. */
export function shadowPane({ set, end, limits }) {
  let shadow = { x: 0, y: 0, radius: 0, opacity: 1, color: '#000000FF' };
  let from = null;
  const at = (axis, value) => ({ [axis]: clamp(half(value), ...limits[axis]) });
  const card = h('button.shadowed', {
    part: 'card',
    label: 'Offset of the shadow',
    role: 'slider',
    'aria-valuenow': 0,
  }, 'Aa');
  on(card, 'pointerdown', (event) => {
    card.setPointerCapture(event.pointerId);
    card.focus();
    from = [shadow.x - event.clientX, shadow.y - event.clientY];
  });
  on(card, 'pointermove', (event) => {
    if (card.hasPointerCapture(event.pointerId) && event.buttons) {
      set({ ...at('x', from[0] + event.clientX), ...at('y', from[1] + event.clientY) });
    }
  });
  for (const name of ['pointerup', 'pointercancel', 'keyup', 'blur']) on(card, name, () => end());
  on(card, 'keydown', (event) => {
    if (!(event.key in ways)) return;
    event.preventDefault();
    const [x, y] = ways[event.key].map((way) => way * (event.shiftKey ? 10 : 1));
    set(x ? at('x', shadow.x + x) : at('y', shadow.y + y));
  });
  const output = h('output');

  function show(next) {
    shadow = next;
    const { x, y, radius, opacity, color } = shadow;
    const alpha = Math.round(parseInt(color.slice(7), 16) * opacity).toString(16).padStart(2, '0');
    setStyle(card, 'box-shadow', `${x}px ${y}px ${radius}px ${color.slice(0, 7)}${alpha}`);
    output.textContent = `${x}, ${y}, blurred by ${radius}`;
    card.setAttribute('aria-valuetext', `x ${x}, y ${y}`);
  }

  return { element: h('div.pane', h('div.stage', card), output), first: card, show, run() {} };
}

const half = (number) => Math.round(number * 2) / 2;
