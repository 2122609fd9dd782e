// Tables that a benchmark writes into a document, between two marker comments.
import { readFile, writeFile } from 'node:fs/promises';
import { ScriptError } from './run.mjs';

/** Cells hold names from recordings. */
const cellText = (text) => text.replaceAll('\n', ' ').replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;');

function markdownTable([head, ...rows]) {
  const line = (cells) => `| ${cells.map(cellText).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/**
 * Replaces what is between `<!-- NAME begin -->` and `<!-- NAME end -->`, which have to be there.
 * @param name of the benchmark
 * @param measured where and how, without the date
 * @param tables rows of cells, each with a head
 */
export async function writeTables(file, name, measured, tables) {
  const [begin, end] = [`<!-- ${name} begin -->`, `<!-- ${name} end -->`];
  const text = await readFile(file, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new ScriptError(`${file} has no lines "${begin}" and "${end}": put them where the result is to stand`);
  const date = new Date().toISOString().slice(0, 10);
  const generated = [begin, `${date}; ${measured}.`, ...tables.map(markdownTable), end].join('\n\n');
  await writeFile(file, text.slice(0, from) + generated + text.slice(to + end.length));
}
