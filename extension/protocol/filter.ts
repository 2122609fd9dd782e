// Filters as text: their terms, and how a term is added. The engine alone says what they mean (docs/design/profile.md).

/** The terms of a filter: they are parted by spaces, but for those in quotation marks. */
export function termsOf(filter: string): string[] {
  return filter.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? [];
}

/**
 * A term whose value is exactly this name, as far as the grammar can say it: what it has no way to write is any one character.
 * @param key "function:"
 */
export function nameTerm(key: string, name: string): string {
  const value = name.replace(/["*\u0000-\u001f]/g, '?');
  return key + (/\s/.test(value) ? `"${value}"` : value);
}

/** The filter by which only what fits the term is left. Of several terms of one key any may fit: the term takes the place of the others. */
export function onlyTerm(filter: string, term: string): string {
  const key = keyOf(term);
  const others = termsOf(filter).filter((one) => keyOf(one) !== key && one !== `-${term}`);
  return [...others, term].join(' ');
}

/** The filter by which what fits the term is left out. */
export function withoutTerm(filter: string, term: string): string {
  const others = termsOf(filter).filter((one) => one !== term && one !== `-${term}`);
  return [...others, `-${term}`].join(' ');
}

/** "line:"; of a term that leaves out, "-line:". */
function keyOf(term: string): string {
  return /^-?[a-z]+:/.exec(term)?.[0] ?? term;
}
