// Converts colors between hex, RGB, HSV, HSL and OKLCH, and measures their contrast.
//
// Channels are 0…255, hues 0…360, opacity 0…255; other parts are 0…1. The formulas are those of W3C, “CSS
// Color Module Level 4” and “WCAG 2.2”, and of Björn Ottosson, “A perceptual color space for image
// processing”.

import { clamp } from '../numbers/decimal.js';

export const bytes = (hex) => hex.slice(1).match(/../g).map((pair) => parseInt(pair, 16));
export const hexOf = (numbers) =>
  '#' + numbers.map((number) => Math.round(number).toString(16).padStart(2, '0')).join('').toUpperCase();

function hueOf([r, g, b], high, span) {
  if (!span) return 0;
  const sixths = high === r ? (g - b) / span % 6 : high === g ? (b - r) / span + 2 : (r - g) / span + 4;
  return (sixths * 60 + 360) % 360;
}

export function hsv(color) {
  const high = Math.max(...color);
  const span = high - Math.min(...color);
  return [hueOf(color, high, span), high ? span / high : 0, high / 255];
}

export const rgb = ([hue, full, light]) =>
  [5, 3, 1].map((turn) => {
    const at = (turn + hue / 60) % 6;
    return 255 * (light - light * full * clamp(Math.min(at, 4 - at), 0, 1));
  });

// HSL ---------------------------------------------------------------------------------------------------

export function hsl(color) {
  const [hue, full, light] = hsv(color);
  const middle = light * (1 - full / 2);
  const room = Math.min(middle, 1 - middle);
  return [hue, room ? (light - middle) / room : 0, middle];
}

export function fromHSL([hue, full, middle]) {
  const light = middle + full * Math.min(middle, 1 - middle);
  return rgb([hue, light ? 2 * (1 - middle / light) : 0, light]);
}

// OKLCH -------------------------------------------------------------------------------------------------

/** The amount of light of a channel. */
const linear = (channel) => {
  const part = channel / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
};
const encoded = (light) =>
  255 * clamp(light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055, 0, 1);
const times = (rows, [x, y, z]) => rows.map(([a, b, c]) => a * x + b * y + c * z);

export function oklch(color) {
  const cones = times([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
  ], color.map(linear)).map(Math.cbrt);
  const [light, a, b] = times([
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
  ], cones);
  const chroma = Math.hypot(a, b);
  // A gray has no hue, but rounding leaves a little.
  return [light, chroma, chroma < 1e-4 ? 0 : (Math.atan2(b, a) * 180 / Math.PI + 360) % 360];
}

/** Channels that the screen does not have are limited. */
export function fromOKLCH([light, chroma, hue]) {
  const angle = hue * Math.PI / 180;
  const cones = times([
    [1, 0.3963377774, 0.2158037573],
    [1, -0.1055613458, -0.0638541728],
    [1, -0.0894841775, -1.291485548],
  ], [light, chroma * Math.cos(angle), chroma * Math.sin(angle)]).map((cone) => cone ** 3);
  return times([
    [4.0767416621, -3.3077115913, 0.2309699292],
    [-1.2684380046, 2.6097574011, -0.3413193965],
    [-0.0041960863, -0.7034186147, 1.707614701],
  ], cones).map(encoded);
}

// Contrast ----------------------------------------------------------------------------------------------

/** A color over an opaque one. */
export const over = ([r, g, b, a], below) =>
  [r, g, b].map((channel, index) => channel * a / 255 + below[index] * (1 - a / 255));
export const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
/** 1 to 21, for two luminances. */
export const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
/** Black or white, by contrast with a color over a light checkerboard. */
export const inkOn = (color) => luminance(over(color, [238, 238, 238])) > 0.18 ? '#000' : '#fff';
