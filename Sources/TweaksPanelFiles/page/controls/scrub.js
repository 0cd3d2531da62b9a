// Steps through the values of a number while a handle is dragged sideways.

import { on } from '../dom.js';
import { stepped } from '../numbers/grid.js';

export function scrubbing(row, handle, grid, current) {
  let from = 0;
  let done = 0;
  let text = '';
  on(handle, 'pointerdown', (event) => {
    handle.setPointerCapture(event.pointerId);
    from = event.clientX;
    done = 0;
    text = current();
    row.isDown = true;
    row.begin();
    event.preventDefault();
  });
  on(handle, 'pointermove', (event) => {
    if (!row.isDown) return;
    const count = Math.trunc((event.clientX - from) / 3) - done;
    if (!count || row.drag?.isCanceled) return;
    done += count;
    text = stepped(row.tweak, grid, text, count, event.shiftKey ? 1 : event.altKey ? -1 : 0) ?? text;
    row.move(text);
  });
  for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) {
    on(handle, name, () => {
      if (!row.isDown) return;
      row.isDown = false;
      row.end();
    });
  }
}
