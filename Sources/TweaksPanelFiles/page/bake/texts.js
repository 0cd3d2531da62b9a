// Writes tuned values as new defaults: as Swift literals, or as a readable diff of them.

import { clean } from '../dom.js';
import { literal, NoLiteral } from './literals.js';

const noPlace = 'declared in no Swift file that the program names';

/** What a reply to `explain` says: the place, the old and the new literal; or why the default stays. */
export function entryOf(reply) {
  // A preview is no value to keep.
  const { layer } = reply.layers?.findLast((one) => !one.remark && one.layer !== 'preview') ?? {};
  const place = clean(reply.source ?? '');
  const [, file = '', line = 0] = /^(.+\.swift):(\d+)$/.exec(place) ?? [];
  const entry = { path: clean(reply.path), file, line: Number(line) };
  if (layer !== 'override') return { ...entry, left: `its value is of the ${clean(layer ?? 'default')}` };
  try {
    const [old, now] = [reply.default, reply.settled ?? reply.value].map((value) => literal(reply, value));
    return { ...entry, old, now };
  } catch (error) {
    if (!(error instanceof NoLiteral)) throw error;
    return { ...entry, left: error.message };
  }
}

/** The entries by file, each in the order of its lines; those without a file are last. */
function groups(entries) {
  const files = Map.groupBy(entries.filter((entry) => !entry.left), (entry) => entry.file);
  return [...files].sort(([one], [other]) => !one ? 1 : !other || one < other ? -1 : 1)
    .map(([file, all]) => [file, all.sort((one, other) => one.line - other.line)]);
}

/** The number of new defaults. */
export const count = (entries) => entries.filter((entry) => !entry.left).length;
export const counted = (number, word) => `${number} ${word}${number === 1 ? '' : 's'}`;
/** A name as a word of a shell. */
const word = (name) => /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`;
const left = (entries, mark) =>
  entries.filter((entry) => entry.left).map(({ path, left }) => `${mark} ${path} is left out: ${left}`);

/** Literals below comments that say where they belong. */
export function swiftText(entries, program) {
  const head = `// ${counted(count(entries), 'new default')} of ${program}; `
    + `tweakctl ${word(program)} bake --write puts them into the source`;
  const parts = groups(entries).map(([file, all]) => [
    ...file ? [] : [`// ${noPlace}:`],
    ...all.flatMap(({ path, line, old, now }) => [
      `// ${file ? `${file}:${line} · ` : ''}${path}, was ${old}`,
      now,
    ]),
  ].join('\n'));
  return [head, ...parts, left(entries, '//').join('\n')].filter(Boolean).join('\n\n') + '\n';
}

/** A diff of the literals alone: the page has no sources. */
export function diffText(entries, program) {
  const lines = groups(entries).flatMap(([file, all]) => [
    ...file ? [`--- ${file}`, `+++ ${file}`] : [`# ${noPlace}:`],
    ...all.flatMap(({ path, line, old, now }) => [
      file ? `@@ -${line} +${line} @@ ${path}` : `@@ ${path}`,
      '-' + old,
      '+' + now,
    ]),
  ]);
  const head = `# To read; tweakctl ${word(program)} bake prints the diff that git apply takes`;
  return [head, ...lines, ...left(entries, '#')].join('\n') + '\n';
}
