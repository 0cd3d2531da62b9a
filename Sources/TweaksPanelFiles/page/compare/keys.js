// Compares while the key left of 1 is held: with what a reset gives, or, with Shift, with a chosen preset.

import { byId, on } from '../dom.js';
import { partsOf } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { may } from '../session.js';
import { store, stored } from '../storage.js';
import { isOverridden, tree, tweaks } from '../tweaks.js';
import { hold, mayCompare, release } from './hold.js';

/** The preset that is compared with while Shift is held; null without one. */
export const chosen = { preset: stored('compared', null) };
export function choose(preset) {
  chosen.preset = preset;
  store('compared', preset);
}

/** Counts the presses; 0 while the key is up. */
let held = 0;
let presses = 0;

/** The tweaks of all collections of which a row is on the screen. */
export function onScreen() {
  const isSeen = (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && bottom > 0 && top < innerHeight;
  };
  const seen = [...byId('list').querySelectorAll('.row')].filter(isSeen);
  const collections = new Set(seen.map(({ row }) => partsOf(row.tweak.path).slice(0, 2).join('/')));
  return [...collections].flatMap((name) => {
    const [category, collection] = name.split('/');
    return (tree.get(category)?.get(collection) ?? []).map((path) => tweaks.get(path)).filter(mayCompare);
  });
}

const resets = () => onScreen().filter(isOverridden).map(({ path }) => ({ path, reset: true }));

const quoted = ['string', 'optional', 'choice'];
/** A value of a difference is written as in a file: texts in quotes. */
function written(tweak, text) {
  try {
    if (text.startsWith('"') && quoted.includes(tweak.kind)) return JSON.parse(text);
  } catch { /* it is no text in quotes */ }
  return text;
}

/** What loading a preset would change on the screen. */
async function loads(preset) {
  const { differences } = await request('GET', `/api/presets/${encodeURIComponent(preset)}/diff`);
  const paths = new Set(onScreen().map(({ path }) => path));
  const here = differences.filter(({ path, right }) => right != null && paths.has(path));
  return here.map(({ path, right }) => ({ path, value: written(tweaks.get(path), right) }));
}

async function compare(isPreset) {
  const own = held = ++presses;
  if (!isPreset) return hold(resets(), 'Without overrides');
  if (!chosen.preset) return toast('Choose a preset to compare with, in Presets', { isBad: true });
  try {
    const changes = await loads(chosen.preset);
    if (held === own) hold(changes, `Preset ${chosen.preset}`);
  } catch (error) {
    toast(error.message, { isBad: true });
  }
}

function letGo() {
  if (!held) return;
  held = 0;
  release();
}

const isTyping = (element) =>
  element?.matches?.('textarea, select, input:not([type=range], [type=radio], [type=checkbox])');

addEventListener('keydown', (event) => {
  const { code, ctrlKey, metaKey, altKey, target } = event;
  if (code !== 'Backquote' || ctrlKey || metaKey || altKey || isTyping(target)) return;
  event.preventDefault();
  if (event.repeat || held || !may('write')) return;
  compare(event.shiftKey);
});
addEventListener('keyup', ({ code }) => {
  if (code === 'Backquote') letGo();
});
// A window that loses the keyboard misses the end of the key.
addEventListener('blur', letGo);
on(document, 'visibilitychange', letGo);
