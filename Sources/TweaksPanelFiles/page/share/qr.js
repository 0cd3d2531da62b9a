// Encodes a text as a QR code of bytes (ISO/IEC 18004), of the smallest version that holds it.

import { drawFormat, frameOf, freeModules } from './qr-frame.js';
import { corrections } from './reed-solomon.js';

// By version: the number of blocks at level M, and how many codewords of each are for correction.
const blocks = [
  1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16,
  17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40, 43, 45, 47, 49,
];
const lengths = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26,
  26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
];
// Only what no version holds at level M has level L, with 30 such codewords in each block.
const lowBlocks = { 36: 20, 37: 21, 38: 22, 39: 24, 40: 25 };
const layouts = [
  ...blocks.map((count, at) => layoutOf('M', at + 1, count, lengths[at])),
  ...Object.entries(lowBlocks).map(([version, count]) => layoutOf('L', Number(version), count, 30)),
];

/** The most bytes that a code holds. */
export const mostBytes = 2953;

/** A mask inverts the modules where this is 0, by column and row. */
const masks = [
  (x, y) => (x + y) % 2,
  (x, y) => y % 2,
  (x) => x % 3,
  (x, y) => (x + y) % 3,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => x * y % 2 + x * y % 3,
  (x, y) => (x * y % 2 + x * y % 3) % 2,
  (x, y) => ((x + y) % 2 + x * y % 3) % 2,
];

/**
 * The code of a text that is easiest to read: `rows` of 0 and 1, which is dark, without the light margin of
 * four modules that it needs. Returns null for a text of more than `mostBytes`.
 */
export function qrCode(text) {
  const codes = qrCodes(text);
  return codes.length ? codes.reduce((best, one) => one.penalty < best.penalty ? one : best) : null;
}

/** The codes of a text with each of the eight masks; none if it is too long. */
export function qrCodes(text) {
  const bytes = new TextEncoder().encode(text);
  const layout = layouts.find(({ lengthBits, data }) => 4 + lengthBits + 8 * bytes.length <= 8 * data);
  return layout ? draw(bytes, layout) : [];
}

/** The sizes of a version at a level; `data` is the number of codewords that are not for correction. */
function layoutOf(level, version, blocks, corrections) {
  const alignments = version < 2 ? 0 : Math.floor(version / 7) + 2;
  // The modules that finders, timing, format, alignments and version leave.
  const free = (16 * version + 128) * version + 64 -
    (alignments && (25 * alignments - 10) * alignments - 55) - (version < 7 ? 0 : 36);
  const data = Math.floor(free / 8) - blocks * corrections;
  const lengthBits = version < 10 ? 8 : 16;
  return { level, version, size: 17 + 4 * version, alignments, blocks, corrections, data, lengthBits };
}

function draw(bytes, layout) {
  const frame = frameOf(layout);
  const free = freeModules(frame);
  const codewords = interleaved(dataOf(bytes, layout), layout);
  return masks.map((remainder, mask) => {
    const grid = frame.map((row) => [...row]);
    free.forEach(([x, y], at) => {
      const bit = codewords[at >> 3] >> 7 - (at & 7) & 1;
      grid[y][x] = bit ^ (remainder(x, y) === 0);
    });
    drawFormat(grid, layout.level, mask);
    const rows = grid.map((row) => row.join(''));
    return { version: layout.version, level: layout.level, mask, rows, penalty: penaltyOf(rows) };
  });
}

/** The data codewords: the mode, the number of bytes, the bytes, an end, and padding. */
function dataOf(bytes, { lengthBits, data }) {
  const spelled = Array.from(bytes, (byte) => binary(byte, 8)).join('');
  const bits = '0100' + binary(bytes.length, lengthBits) + spelled + '0000';
  const codewords = bits.slice(0, 8 * data).match(/.{8}/g).map((word) => parseInt(word, 2));
  for (let at = 0; codewords.length < data; at++) codewords.push(at % 2 ? 0x11 : 0xec);
  return codewords;
}

const binary = (value, digits) => value.toString(2).padStart(digits, '0');

/** The codewords of all blocks in turn, then their corrections: damage in one place hits many blocks. */
function interleaved(codewords, { blocks, corrections: count, data }) {
  const length = Math.floor(data / blocks);
  const firstLonger = blocks - data % blocks;
  const parts = [];
  for (let block = 0, start = 0; block < blocks; block++) {
    const end = start + length + (block >= firstLonger);
    parts.push(codewords.slice(start, end));
    start = end;
  }
  const ends = parts.map((part) => corrections(part, count));
  return [...inTurn(parts, length + 1), ...inTurn(ends, count)];
}

const inTurn = (parts, length) =>
  Array.from({ length }, (_, at) => parts.flatMap((part) => part.slice(at, at + 1))).flat();

/** How hard a code is to read: runs and squares of a color, what looks like a finder, too much of a color. */
function penaltyOf(rows) {
  const columns = rows.map((_, x) => rows.map((row) => row[x]).join(''));
  let penalty = 0;
  for (const line of [...rows, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
    // The margin is light.
    penalty += 40 * (`0000${line}0000`.match(/(?<=0000)1011101|1011101(?=0000)/g)?.length ?? 0);
  }
  for (let y = 1; y < rows.length; y++) {
    for (let x = 1; x < rows.length; x++) {
      const square = rows[y - 1].slice(x - 1, x + 1) + rows[y].slice(x - 1, x + 1);
      if (square === '0000' || square === '1111') penalty += 3;
    }
  }
  const dark = rows.join('').replaceAll('0', '').length;
  const all = rows.length ** 2;
  return penalty + 10 * Math.floor(Math.abs(20 * dark - 10 * all) / all);
}
