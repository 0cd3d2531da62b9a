// The tab Import and export: lines of the configuration file, in and out.

import { route } from '../address.js';
import { change } from '../changes.js';
import { button, h, on, table } from '../dom.js';
import { told } from '../format.js';
import { toast } from '../notes.js';
import { request } from '../requests.js';
import { may, session } from '../session.js';
import { drawer, link, pane } from './pane.js';

const differences = (list) =>
  table(
    ['Tweak', 'Was', 'Becomes'],
    list.map((one) => [link(one.path), told(one.was, 'set' in one), told(one.value, 'set' in one)]),
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
  // What is applied is what was looked at, and nothing that was typed since.
  on(text, 'input', () => out.replaceChildren());
  const check = async () => {
    const looked = text.value;
    try {
      const { tweaks = [] } = await request('POST', '/api/import', { text: looked, dry: true });
      const moving = tweaks.filter((one) => 'set' in one || String(one.value) !== String(one.was));
      if (text.value !== looked) return;
      out.replaceChildren(
        h('h3', moving.length ? `${moving.length} would change` : 'Nothing would change'),
        ...moving.length
          ? [
            differences(moving),
            h('p', button('Apply', () => apply(looked), { class: 'button main', part: 'import-apply' })),
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
  const save = (text, pattern) =>
    button(text, async () => {
      try {
        download(
          name,
          await request(
            'GET',
            '/api/export' + (pattern ? '?pattern=' + encodeURIComponent(pattern) : ''),
            null,
            {},
            true,
          ),
        );
      } catch (error) {
        fail(error);
      }
    }, { part: 'export' });
  pane.replaceChildren(
    h('h2', 'Export'),
    h('p.soft', 'Lines of the configuration file, without secrets, figures and actions.'),
    h('p.cluster', save('Everything'), route.category ? save('Only ' + route.category, route.category) : ''),
    h('h2', 'Import'),
    ...may('write')
      ? [
        h('p.soft', 'Choose a file or paste exported lines; you preview changes first.'),
        h('p', file),
        h('div.box', text),
        h('p.cluster', button('See what would change', check, { part: 'import-check' })),
        out,
      ]
      : [h('p.soft', 'You may not change anything here.')],
  );
}

/** A file of a text, for the reader's disk. */
function download(name, text) {
  const link = h('a', {
    href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })),
    download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
