// Draws the parts of a QR code that do not depend on its text, and finds the modules between them.

/** The grid of a version: 0, 1, which is dark, and null for the modules that the text takes. */
export function frameOf({ level, version, size, alignments }) {
  const grid = Array.from({ length: size }, () => new Array(size).fill(null));
  // The timing patterns.
  for (let at = 0; at < size; at++) grid[6][at] = grid[at][6] = 1 - at % 2;
  const places = alignmentPlaces(size, version, alignments);
  const last = size - 7;
  for (const y of places) {
    for (const x of places) {
      // Three corners have a finder.
      if (x + y > 12 && Math.abs(x - y) !== last - 6) square(grid, x, y, 2, [1]);
    }
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(grid, x, y, 4, [2, 4]);
  // Taken now; the mask is known later.
  drawFormat(grid, level, 0);
  if (version >= 7) drawVersion(grid, version);
  return grid;
}

/** Draws a dark square with light rings at some distances from its center. */
function square(grid, centerX, centerY, radius, light) {
  for (let y = centerY - radius; y <= centerY + radius; y++) {
    for (let x = centerX - radius; x <= centerX + radius; x++) {
      const distance = Math.max(Math.abs(x - centerX), Math.abs(y - centerY));
      if (grid[y]?.[x] !== undefined) grid[y][x] = light.includes(distance) ? 0 : 1;
    }
  }
}

/** The rows and columns of alignment patterns: at even distances from the last one, except for the first. */
function alignmentPlaces(size, version, count) {
  if (!count) return [];
  // Version 32 is an exception of the standard.
  const step = version === 32 ? 26 : 2 * Math.ceil((size - 13) / (2 * count - 2));
  return [6, ...Array.from({ length: count - 1 }, (_, at) => size - 7 - at * step)];
}

/** Appends the remainder of a division by a polynomial over bits. */
function withRemainder(value, divisor) {
  const degree = 31 - Math.clz32(divisor);
  let rest = value << degree;
  while (rest >> degree) rest ^= divisor << 31 - Math.clz32(rest) - degree;
  return value << degree | rest;
}

/** Draws level and mask twice: at the first corner, and divided between the two others. */
export function drawFormat(grid, level, mask) {
  const size = grid.length;
  const bits = withRemainder((level === 'L' ? 8 : 0) | mask, 0x537) ^ 0x5412;
  for (let at = 0; at < 15; at++) {
    const bit = bits >> at & 1;
    // At the first corner they leave out the timing patterns.
    if (at < 8) grid[at + (at > 5)][8] = grid[8][size - 1 - at] = bit;
    else grid[8][14 - at + (at === 8)] = grid[size - 15 + at][8] = bit;
  }
  grid[size - 8][8] = 1;
}

/** Draws the version twice, in lines of three beside the second and third corner. */
function drawVersion(grid, version) {
  const bits = withRemainder(version, 0x1f25);
  for (let at = 0; at < 18; at++) {
    const [along, across] = [Math.floor(at / 3), grid.length - 11 + at % 3];
    grid[along][across] = grid[across][along] = bits >> at & 1;
  }
}

/** The free modules of a frame in the order of the text: in columns of two from the right, up and down. */
export function freeModules(frame) {
  const size = frame.length;
  const found = [];
  for (let right = size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
    // A timing pattern takes a whole column.
    if (right === 6) right = 5;
    for (let at = 0; at < size; at++) {
      const y = isUp ? size - 1 - at : at;
      for (const x of [right, right - 1]) if (frame[y][x] == null) found.push([x, y]);
    }
  }
  return found;
}
