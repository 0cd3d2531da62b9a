// Draws a QR code as one path, black on white in every scheme, since cameras expect that.

import { svg } from '../dom.js';

/** An image of a code, of at most `room` pixels. */
export function qrImage({ rows }, room, label) {
  const margin = 4;
  const whole = rows.length + 2 * margin;
  // Whole pixels for each module, at least three, if there is room.
  const scale = room < 3 * whole ? room / whole : Math.min(6, Math.floor(room / whole));
  const image = svg('svg', {
    class: 'qr',
    role: 'img',
    'aria-label': label,
    'data-part': 'qr',
    width: scale * whole,
    height: scale * whole,
    viewBox: `${-margin} ${-margin} ${whole} ${whole}`,
  });
  image.append(
    svg('rect', { x: -margin, y: -margin, width: whole, height: whole, fill: '#fff' }),
    svg('path', { d: pathOf(rows), fill: '#000', 'shape-rendering': 'crispEdges' }),
  );
  return image;
}

/** A rectangle for each run of dark modules in a row. */
const pathOf = (rows) =>
  rows.flatMap((row, y) =>
    Array.from(row.matchAll(/1+/g), ({ 0: run, index }) => `M${index} ${y}h${run.length}v1h-${run.length}z`)
  ).join('');
