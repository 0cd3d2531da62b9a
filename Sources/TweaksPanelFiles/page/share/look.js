// Packs a look, the lines of an export, into a link, and reads links of others.

import { base64url, bytesOfURL } from '../base64.js';

/** The most bytes of lines; a small link could hold a thousand times its length. */
const mostBytes = 65536;
/** The most letters of a packed look: chats and browsers shorten or refuse longer links. */
const mostLetters = 16000;

/** The packed look of a fragment, or null; what a chat puts after a link is left out. */
export const lookIn = (hash) => /^#look=([\w-]*)/.exec(hash)?.[1] ?? null;

/** The packed look of a text that is nothing but a link, or null. */
export function lookOf(text) {
  const link = text.trim();
  const at = link.indexOf('#look=');
  if (at < 0 || link.length > 20000 || /\s/.test(link)) return null;
  return at === 0 || /^https?:/.test(link) ? lookIn(link.slice(at)) : null;
}

/** The link to this page that has the lines. */
export async function linkOf(lines) {
  const bytes = new TextEncoder().encode(lines);
  const data = bytes.length <= mostBytes ? await pack(bytes) : null;
  // Four letters for three bytes.
  const packed = data?.byteLength < mostLetters ? base64url(data) : '';
  if (!packed || packed.length > mostLetters) {
    throw new Error('This look is too long for a link; save it as a file, or share less: one category alone');
  }
  return location.origin + location.pathname + '#look=' + packed;
}

// Deflated data as of zlib end with a checksum, which finds links that were cut off or changed.
const pack = (bytes) =>
  new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'))).arrayBuffer();

/** The lines of a packed look. */
export async function linesOf(look) {
  if (look.length > mostLetters) throw tooLong();
  if (!globalThis.DecompressionStream) throw new Error('This browser cannot read looks; use a newer one');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let lines = '';
  let length = 0;
  try {
    for await (const bytes of unpacked(look)) {
      length += bytes.length;
      // Leaving the loop ends the unpacking.
      if (length > mostBytes) break;
      lines += decoder.decode(bytes, { stream: true });
    }
    if (length <= mostBytes) return lines + decoder.decode();
  } catch {
    throw new Error('This link is cut off, or not a look; ask for it again');
  }
  throw tooLong();
}

const tooLong = () => new Error('This look is too long to be of this page; ask for it as a file');

async function* unpacked(look) {
  const unpacking = new DecompressionStream('deflate');
  const reader = new Blob([bytesOfURL(look)]).stream().pipeThrough(unpacking).getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}
