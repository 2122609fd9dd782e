// Markdown (GitHub's) of untrusted names.
import { printable } from './terminal-text';

const MARKUP = /[&<>`|@*_[\]\\~#]/g;

/** A name as code, also within a table. Nothing in it is markup, a mention or a link. */
export function codeSpan(name: string): string {
  const text = printable(name);
  if (text === '') return '';
  // Of what a span of code does not take as it is, and what would end a cell.
  return /[`|]/.test(text) ? `<code>${prose(text)}</code>` : `\`${text}\``;
}

/** Prose that may hold names. */
export function prose(text: string): string {
  return printable(text).replace(MARKUP, (character) => `&#${character.charCodeAt(0)};`);
}

/** @param columns titles; those that end with a colon are right-aligned, and shown without it */
export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    row(columns.map((title) => title.replace(/:$/, ''))),
    row(columns.map((title) => (title.endsWith(':') ? '---:' : '---'))),
    ...rows.map(row),
  ];
}
