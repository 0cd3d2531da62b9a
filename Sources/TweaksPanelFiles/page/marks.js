// Finds the words of a search in texts, and marks them in the found rows without changing their elements.

const found = globalThis.Highlight && new Highlight();
if (found) CSS.highlights.set('found', found);
let words = [];

/** The words of a query, folded. */
export const wordsOf = (query) => fold(query ?? '').folded.split(/\s+/).filter(Boolean);

/** Folds a text as the process does; `at` gives the place of a folded character in the text. */
export function fold(text) {
  if (/^[\0-\x7f]*$/.test(text)) return { text, folded: text.toLowerCase(), at: (index) => index };
  let [folded, place] = ['', 0];
  const places = [];
  for (const letter of text) {
    const plain = letter.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
    folded += plain;
    for (let count = plain.length; count; count--) places.push(place);
    place += letter.length;
  }
  return { text, folded, at: (index) => places[index] ?? place };
}

/** Whether a word begins at a place of a text: `fontSize` and `HTTP2` have two words each. */
const begins = (text, place) =>
  !place || /^[^\p{L}]\p{L}|^\p{Ll}\p{Lu}|^\P{N}\p{N}/u.test(text.slice(place - 1, place + 1));
const ends = (text, place) => !/^[\p{L}\p{N}]/u.test(text.slice(place)) || begins(text, place);

/** The places of a word in a folded text. */
function places(word, { folded, at }) {
  const all = [];
  for (let start = folded.indexOf(word); start >= 0; start = folded.indexOf(word, start + 1)) {
    all.push([at(start), at(start + word.length)]);
  }
  return all;
}

/** The rank of a word in a folded text: 0 as a whole word, 1 as the beginning of one, 2 within, 3 if none. */
export const rankOf = (word, text) =>
  Math.min(
    3,
    ...places(word, text).map(([start, end]) => !begins(text.text, start) ? 2 : ends(text.text, end) ? 0 : 1),
  );

/** Begins to mark the words of a query; without one, ends it. */
export function markWords(query) {
  found?.clear();
  words = wordsOf(query).flatMap((word) => word.split('/')).filter(Boolean);
}

/** Marks the words in the paths and the help of new rows: where words begin so, or else within them. */
export function mark(rows) {
  if (!found || !words.length) return;
  for (const { firstChild: node } of rows.querySelectorAll('.name bdi, .help')) {
    if (!node?.data) continue;
    const text = fold(node.data);
    for (const word of words) {
      const all = places(word, text);
      const best = all.filter(([start]) => begins(node.data, start));
      for (const [start, end] of best.length ? best : all) found.add(rangeOf(node, start, end));
    }
  }
}

function rangeOf(node, start, end) {
  const range = new Range();
  range.setStart(node, start);
  range.setEnd(node, end);
  return range;
}
