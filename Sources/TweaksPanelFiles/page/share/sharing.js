// Shows the part Export: the lines as a file, as a link, and as a QR code of that link.

import { route } from '../address.js';
import { bdi, button, h, on } from '../dom.js';
import { toast } from '../notifications.js';
import { request } from '../requests.js';
import { session } from '../session.js';
import { linkOf } from './look.js';
import { mostBytes, qrCode } from './qr.js';
import { qrImage } from './qr-image.js';

export function exportPart() {
  const { category } = route;
  const out = h('div', { role: 'status' });
  const onlyModified = h('input', { type: 'checkbox', part: 'export-modified', checked: true });
  const onlyHere = h('input', { type: 'checkbox', part: 'export-category' });
  let last = 0;
  /** Loads what belongs to the current choice, and uses it: an answer to an earlier click is dropped. */
  const show = async (load, use) => {
    const own = ++last;
    out.replaceChildren();
    try {
      const content = await load();
      if (own === last) out.replaceChildren(...await use(content) ?? []);
    } catch ({ message }) {
      if (own === last) out.replaceChildren(h('p.error', message));
    }
  };
  const forget = () => {
    last++;
    out.replaceChildren();
  };
  for (const box of [onlyModified, onlyHere]) on(box, 'change', forget);
  const lines = async () => {
    const query = new URLSearchParams(onlyHere.checked ? { pattern: category } : {});
    if (onlyModified.checked) query.set('modified', 'true');
    const text = await request('GET', '/api/export?' + query, null, {}, true);
    if (!text) throw new Error('There is nothing to share: nothing here differs from its default');
    return text;
  };
  const link = async () => linkOf(await lines());
  return [
    h('h2', 'Export'),
    h(
      'p.soft',
      'Lines without secrets, figures and actions. A link with them opens here; elsewhere, paste it into ' +
        'Import.',
    ),
    h('p', h('label', onlyModified, ' Only what differs from its default')),
    category ? h('p', h('label', onlyHere, ' Only ', bdi(category))) : null,
    h(
      'p.cluster',
      button('Save as file', () => show(lines, saveAsFile), { part: 'export' }),
      button('Copy link', () => show(link, copy), { part: 'look-copy' }),
      button('QR code', () => show(link, (link) => codeOf(link, out)), { part: 'look-qr' }),
    ),
    out,
  ];
}

/** Saves a text as a file on the user's disk. */
function saveAsFile(text) {
  const link = h('a', {
    href: URL.createObjectURL(new Blob([text], { type: 'text/plain' })),
    download: session.process.replace(/[^\w.-]/g, '_') + '.conf',
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** Copies the link, or else shows it for the user to copy. */
async function copy(link) {
  try {
    await navigator.clipboard.writeText(link);
    toast('Link copied');
    return [];
  } catch {
    const field = h('input', { type: 'text', label: 'Link to this look', readonly: true, part: 'look-link' });
    field.value = link;
    // Once it is in the page.
    setTimeout(() => {
      field.focus();
      field.select();
    });
    return [h('p', 'The browser does not let this page copy; copy the link here.'), h('div.box', field)];
  }
}

function codeOf(link, out) {
  const code = qrCode(link);
  if (code) return [qrImage(code, out.clientWidth, 'QR code of the link to this look')];
  throw new Error(
    `This look is too long for a QR code: its link has ${link.length} letters, and a code holds ` +
      `${mostBytes}; copy the link, or share less`,
  );
}
