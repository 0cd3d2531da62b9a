// Converts colors between hex, RGB and HSV, and picks a readable text color.

export const bytes = (hex) => hex.slice(1).match(/../g).map((pair) => parseInt(pair, 16));
export const hexOf = (numbers) =>
  '#' + numbers.map((number) => Math.round(number).toString(16).padStart(2, '0')).join('').toUpperCase();
export function hsv([r, g, b]) {
  const high = Math.max(r, g, b);
  const span = high - Math.min(r, g, b);
  const hue = !span
    ? 0
    : high === r
    ? (g - b) / span % 6
    : high === g
    ? (b - r) / span + 2
    : (r - g) / span + 4;
  return [(hue * 60 + 360) % 360, high ? span / high : 0, high / 255];
}

export const rgb = ([hue, full, light]) =>
  [5, 3, 1].map((turn) => {
    const at = (turn + hue / 60) % 6;
    return 255 * (light - light * full * Math.max(0, Math.min(at, 4 - at, 1)));
  });
/** Black or white, by contrast with a color over a light checkerboard. */
export function inkOn([r, g, b, a]) {
  const [x, y, z] = [r, g, b].map((part) => ((part * a / 255 + 238 * (1 - a / 255)) / 255) ** 2.2);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z > 0.18 ? '#000' : '#fff';
}
