// Shows the tab Import and export, for assignments in the format of the config file.

import { route } from '../address.js';
import { change } from '../changes.js';
import { button, h, on, table } from '../dom.js';
import { valueText } from '../format.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { may, session } from '../session.js';
import { drawer, link, pane } from './pane.js';

const differences = (list) =>
  table(
    ['Tweak', 'Was', 'Becomes'],
    list.map((one) => [link(one.path), valueText(one.was, 'set' in one), valueText(one.value, 'set' in one)]),
  );
export function showImport() {
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
  on(text, 'input', () => out.replaceChildren());
  const check = async () => {
    const previewed = text.value;
    try {
      const { tweaks = [] } = await request('POST', '/api/import', { text: previewed, dry: true });
      const moving = tweaks.filter((one) => 'set' in one || String(one.value) !== String(one.was));
      if (text.value !== previewed) return;
      out.replaceChildren(
        h('h3', moving.length ? `${moving.length} would change` : 'Nothing would change'),
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
  const name = session.process.replace(/[^\w.-]/g, '_') + '.conf';
  const onlyModified = h('input', { type: 'checkbox', part: 'export-modified' });
  const save = (text, pattern) =>
    button(text, async () => {
      const query = new URLSearchParams(pattern ? { pattern } : {});
      if (onlyModified.checked) query.set('modified', 'true');
      try {
        download(name, await request('GET', '/api/export?' + query, null, {}, true));
      } catch (error) {
        fail(error);
      }
    }, { part: 'export' });
  pane.replaceChildren(
    h('h2', 'Export'),
    h('p.soft', 'Lines for the config file, without secrets, figures and actions.'),
    h('p', h('label', onlyModified, ' Only what differs from its default')),
    h('p.cluster', save('Everything'), route.category ? save('Only ' + route.category, route.category) : ''),
    h('h2', 'Import'),
    ...may('write')
      ? [
        h('p.soft', 'Choose a file or paste exported lines; you preview changes first.'),
        h('p', file),
        h('div.box', text),
        h('p.cluster', button('Preview changes', check, { part: 'import-check' })),
        out,
      ]
      : [h('p.soft', 'You may not change anything here.')],
  );
}

/** Saves a text as a file on the user's disk. */
function download(name, text) {
  const link = h('a', {
    href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
