// Edits as a unified diff, as `git apply` takes it in the folder of the sources.
import { relative, sep } from 'node:path';
import { structuredPatch } from 'diff';
import type { FileEdit } from './edits';

const NO_NEWLINE = '\\ No newline at end of file';

/**
 * @param folder absolute, as are the files; names in the patch are relative to it
 * @throws RangeError where a file lies outside of the folder
 */
export function patchOf(files: readonly Pick<FileEdit, 'file' | 'before' | 'after'>[], folder: string): string {
  return files.map((file) => filePatch(file, folder)).join('');
}

function filePatch({ file, before, after }: Pick<FileEdit, 'file' | 'before' | 'after'>, folder: string): string {
  const name = relative(folder, file).split(sep).join('/');
  if (name === '' || name.startsWith('../') || name.startsWith('/')) throw new RangeError(`${file} lies outside of ${folder}.`);
  const { hunks } = structuredPatch(name, name, before, after, '', '', { context: 3 });
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines: changed }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...changed.map((line) => (line.startsWith('\\') ? NO_NEWLINE : line)),
  ]);
  if (lines.length === 0) return '';
  return [`--- ${quoted(`a/${name}`)}`, `+++ ${quoted(`b/${name}`)}`, ...lines, ''].join('\n');
}

/** As git writes and reads names: in C's quotes where a byte is not plain; a tab ends one with blanks. */
function quoted(name: string): string {
  if (/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) return name;
  if (/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) return `${name}\t`;
  const bytes = [...Buffer.from(name, 'utf8')].map((byte) => {
    if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
    return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`;
  });
  return `"${bytes.join('')}"`;
}
