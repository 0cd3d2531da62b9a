// Shows the tab Import and export, for assignments in the format of the config file.

import { change } from '../changes.js';
import { button, clean, h, on, table } from '../dom.js';
import { valueText } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { may } from '../session.js';
import { linesOf, lookOf } from '../share/look.js';
import { exportPart } from '../share/sharing.js';
import { drawer, link, pane } from './pane.js';

/** The whole value, which may come from a stranger. */
const text = (value, one) => valueText(value, 'set' in one, 65536);
const differences = (list) =>
  table(
    ['Tweak', 'Was', 'Becomes'],
    list.map((one) => [link(one.path), text(one.was, one), text(one.value, one)]),
  );

/** Shows the tab; `look` is what a link had, whose lines are previewed. */
export function showImport(look) {
  const title = h('h2', 'Import');
  const text = h('textarea', {
    label: 'Lines to import',
    placeholder: 'Label/Text/Size = 72',
    spellcheck: 'false',
    part: 'import-text',
  });
  const out = h('div', { role: 'status' });
  const file = h('input', {
    type: 'file',
    label: 'File to import',
    onchange: async () => {
      text.value = await file.files[0].text();
      check();
    },
  });
  const fail = (error) => out.replaceChildren(h('p.error', error.message));
  // Only previewed lines can be applied, so typing removes the preview.
  on(text, 'input', () => {
    text.isTyped = true;
    out.replaceChildren();
    const look = lookOf(text.value);
    if (look != null) read(look);
  });
  const check = async () => {
    const previewed = text.value;
    try {
      const { tweaks = [] } = await request('POST', '/api/import', { text: previewed, dry: true });
      const moving = tweaks.filter((one) => 'set' in one || String(one.value) !== String(one.was));
      if (text.value !== previewed) return;
      out.replaceChildren(
        h('h3', moving.length ? `${moving.length} would change` : 'Nothing would change'),
        clean(previewed) === previewed
          ? ''
          : h('p.error', 'These lines have invisible characters; the table shows them as \ufffd.'),
        ...moving.length
          ? [
            differences(moving),
            h('p', button('Apply', () => apply(previewed), { class: 'button main', part: 'import-apply' })),
          ]
          : [],
      );
    } catch (error) {
      fail(error);
    }
  };
  const apply = async (text) => {
    try {
      await change('POST', '/api/import', { text });
      toast('Imported');
      drawer.close();
    } catch (error) {
      fail(error);
    }
  };
  const read = async (look) => {
    const before = text.value;
    try {
      const lines = await linesOf(look);
      if (text.value !== before) return;
      text.value = lines;
      await check();
    } catch (error) {
      fail(error);
    }
  };
  pane.replaceChildren(
    ...exportPart().filter(Boolean),
    title,
    ...may('write')
      ? [
        h('p.soft', 'Choose a file, or paste exported lines or a link; you preview changes first.'),
        h('p', file),
        h('div.box', text),
        h('p.cluster', button('Preview changes', check, { part: 'import-check' })),
        out,
      ]
      : look == null
      ? [h('p.soft', 'You may not change anything here.')]
      : [h('p.error', 'The link has a look, but you may not change anything here; ask for the scope write.')],
  );
  // Once there is a preview to scroll to.
  if (look != null && may('write')) read(look).then(() => title.scrollIntoView());
}
