// Lets a field be scrubbed: a drag on it steps through its values, while the pointer is locked in place.

import { on } from '../dom.js';
import { stepped } from '../numbers/grid.js';

/** The way that is one step, and beyond which a press is a drag, in pixels. */
const stepWidth = 3;
/** The current press on a field. */
let press = null;
const isLocked = () => press && document.pointerLockElement === press.element;

/**
 * Calls `begin()` when a press becomes a drag, `move(count, power)` for further steps, with power 1 by Shift
 * and -1 by Alt, `cancel()` if the pointer is freed, as by Escape, and `end()` at the release. A press that
 * does not move focuses the field; in a focused one a drag selects text.
 */
export function scrub(element, actions) {
  on(element, 'pointerdown', ({ button, pointerId: id, pointerType: type, clientX: x, clientY: y }) => {
    // A release may have been lost, as that of a field that was removed.
    if (press && press.id !== id && press.element.isConnected || button || element.disabled) return;
    if (document.activeElement === element) return;
    press = { element, actions, id, type, x, y, way: 0, done: 0 };
    element.setPointerCapture(id);
  });
  on(element, 'mousedown', (event) => {
    if (press?.element === element && press.type !== 'touch') event.preventDefault();
  });
  on(element, 'pointermove', (event) => {
    if (event.pointerId !== press?.id) return;
    if (event.buttons) follow(event);
    else release(false);
  });
  for (const name of ['pointerup', 'pointercancel']) {
    on(element, name, ({ pointerId }) => {
      if (pointerId === press?.id) release(name === 'pointerup');
    });
  }
}

function follow(event) {
  press.way += isLocked() ? event.movementX : event.clientX - press.x;
  press.x = event.clientX;
  // A finger that goes up or down scrolls.
  const least = press.type === 'touch' ? Math.abs(event.clientY - press.y) : 0;
  if (!press.isDrag && Math.abs(press.way) < Math.max(stepWidth, least)) return;
  if (!press.isDrag) start();
  const count = Math.trunc(press.way / stepWidth) - press.done;
  press.done += count;
  if (count && !press.isCanceled) press.actions.move(count, event.shiftKey ? 1 : event.altKey ? -1 : 0);
}

function start() {
  press.isDrag = true;
  press.actions.begin();
  // A finger has no lock; elsewhere it may be refused, and the drag ends at the edge of the screen.
  if (press.type === 'mouse') press.element.requestPointerLock?.()?.catch(() => {});
}

function release(isUp) {
  const { element, isDrag, type, actions } = press;
  if (isLocked()) document.exitPointerLock();
  press = null;
  if (isDrag && !isUp) actions.cancel();
  if (isDrag) return actions.end();
  if (!isUp || type === 'touch') return;
  element.focus();
  element.select();
}

on(document, 'pointerlockchange', () => {
  // It may come after the release.
  if (!press) return document.exitPointerLock();
  if (press.isLocked && !isLocked()) {
    press.isCanceled = true;
    press.actions.cancel();
  }
  press.isLocked = isLocked();
});

/** Steps through the values of a number by drags on its field. */
export function scrubbing(row, input, grid, current) {
  let text = '';
  scrub(input, {
    begin() {
      text = current();
      row.isDown = true;
      row.begin();
    },
    move(count, power) {
      text = stepped(row.tweak, grid, text, count, power) ?? text;
      row.move(text);
    },
    end() {
      row.isDown = false;
      row.end();
    },
    cancel: () => row.cancel(),
  });
}
