// Copies the modified tweaks of the list as new defaults, while the list shows those alone.

import { button, byId, h } from '../dom.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { session } from '../session.js';
import { listen } from '../signals.js';
import { has, tweaks } from '../tweaks.js';
import { count, counted, diffText, entryOf, swiftText } from './texts.js';

let listed = [];
const text = h('span');
const strip = h(
  'div.strip',
  { part: 'tuned', role: 'group', label: 'New defaults', hidden: true },
  text,
  button('Copy as Swift', () => copy(swiftText, 'Swift'), { part: 'copy-swift' }),
  button('Copy as diff', () => copy(diffText, 'a diff'), { part: 'copy-diff' }),
);
byId('strips').append(strip);

const tuned = () =>
  listed.filter((path) => tweaks.get(path)?.modified && !has(tweaks.get(path), 'secret'));

listen('listed', (paths, onlyModified) => {
  listed = onlyModified ? paths : [];
  draw();
});
listen('count', draw);

function draw() {
  const number = tuned().length;
  // While the list shows only modified tweaks, it moves no row that the last one is reset.
  strip.hidden = !number && !(listed.length && !strip.hidden);
  text.textContent = number === 1
    ? '1 value here differs from its default'
    : `${number} values here differ from their defaults`;
  for (const one of strip.querySelectorAll('button')) one.disabled = !number;
}

async function copy(form, name) {
  const { process } = session;
  const all = described(tuned());
  const copied = all.then((entries) => form(entries, process));
  const blob = copied.then((text) => new Blob([text], { type: 'text/plain' }));
  // Its error is that of the text, which is awaited below.
  blob.catch(() => {});
  try {
    // The promise itself: a browser forbids copying some time after the click.
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
    const number = count(await all);
    if (number) toast(`Copied ${counted(number, 'value')} as ${name}`);
    else toast('Copied why none of these values is a new default', { isBad: true });
  } catch {
    try {
      show(await copied, name);
    } catch (error) {
      toast(error.message, { isBad: true });
    }
  }
}

/** Asks the process where tweaks are declared, and what their values are; a few at a time. */
async function described(paths) {
  const entries = [];
  const rest = paths.entries();
  const ask = async () => {
    for (const [index, path] of rest) {
      try {
        entries[index] = entryOf(await request('GET', '/api/explain?path=' + encodeURIComponent(path)));
      } catch ({ message, code }) {
        if (code !== 'unknown-tweak') throw new Error(message);
        entries[index] = { path, left: 'the program no longer has it' };
      }
    }
  };
  await Promise.all([ask(), ask(), ask()]);
  return entries;
}

/** Shows a text, selected, for the user to copy. */
function show(copied, name) {
  const label = `The values as ${name}`;
  const area = h('textarea', { label, readonly: true, spellcheck: 'false', part: 'copied' });
  area.value = copied;
  const pane = h(
    'div',
    { id: 'copied', popover: 'auto', role: 'dialog', label },
    h('p.soft', 'The browser does not let this page copy: copy the selected text.'),
    area,
    h('p.cluster', button('Close', () => pane.hidePopover())),
  );
  pane.addEventListener('toggle', ({ newState }) => newState === 'closed' && pane.remove());
  document.body.append(pane);
  pane.showPopover();
  area.focus();
  area.select();
}
