// The edits of an answer of the engine: each advice with its own patch, and all of them as one.
import { t } from '../../protocol/l10n';
import type { Advice, AdviceList } from '../../protocol/advice';
import { noChangeReason, ownerText } from './advice-words';
import { editOf, type FileEdit, type Sources } from './edit';
import { fileEdit } from './edits';
import { patchOf } from './patch';
import { languageOf } from './spelling';

export interface EditedAdvice {
  advice: Advice;
  /** By their paths here. None: `edit.reason` says why. */
  files: readonly FileEdit[];
}

export interface LocatedSources extends Sources {
  /** Of a file that was read: where it is here, absolute. */
  pathOf(file: string): string;
}

/** A file that could not be read, in words: what `sources` reject with where there is one. */
export class UnreadableSource extends Error {}

/**
 * @param list as the engine gave it
 * @param folderOf the folder that the patches are for, absolute, by the paths of all files that are edited
 */
export async function editedAdvice(
  list: AdviceList,
  sources: LocatedSources,
  folderOf: (files: readonly string[]) => string,
): Promise<{ folder: string | null; edited: EditedAdvice[] }> {
  const found: { advice: Advice; files: readonly FileEdit[]; reason: string | null }[] = [];
  for (const advice of list.advice) found.push({ advice, ...(await filesOf(advice, sources)) });
  const all = [...new Set(found.flatMap(({ files }) => files.map(({ file }) => file)))];
  const folder = all.length === 0 ? null : folderOf(all);
  const edited = found.map(({ advice, files, reason }): EditedAdvice => {
    const patch = folder === null || files.length === 0 ? null : patchOf(files, folder);
    return { advice: { ...advice, edit: { patch, reason } }, files };
  });
  return { folder, edited };
}

async function filesOf(advice: Advice, sources: LocatedSources): Promise<{ files: readonly FileEdit[]; reason: string | null }> {
  const refused = noChangeReason(advice) || ownerText(advice);
  if (advice.change === null || refused !== '') return { files: [], reason: refused };
  const language = languageOf(advice);
  if (advice.definition === null && (language === 'rust' || language === 'go')) {
    const reason = t('{0} is not edited: make the change by hand, as cacheline advise describes it.', language === 'go' ? 'Go' : 'Rust');
    return { files: [], reason };
  }
  try {
    const answer = await editOf(advice.change, sources);
    if ('reason' in answer) return { files: [], reason: answer.reason };
    return { files: answer.files.map((file) => ({ ...file, file: sources.pathOf(file.file) })), reason: null };
  } catch (error) {
    if (error instanceof UnreadableSource) return { files: [], reason: error.message };
    throw error;
  }
}

/**
 * The edits of several advices as one. An advice whose edits change the same text as those of one before it, in another way, is left out.
 * @returns the files, and the advices that are left out
 */
export function mergedEdits(edited: readonly EditedAdvice[]): { files: FileEdit[]; leftOut: Advice[] } {
  const merged = new Map<string, FileEdit>();
  const leftOut: Advice[] = [];
  for (const { advice, files } of edited) {
    if (files.every((file) => isIn(file, merged.get(file.file)))) continue;
    if (files.some((file) => meets(file, merged.get(file.file)))) {
      leftOut.push(advice);
      continue;
    }
    for (const { file, before, edits } of files)
      merged.set(file, fileEdit({ file, text: before }, [...(merged.get(file)?.edits ?? []), ...edits]));
  }
  return { files: [...merged.values()], leftOut };
}

/** Whether all of these edits are made already: one definition can have several advices, of several binaries. */
function isIn({ edits }: FileEdit, other: FileEdit | undefined): boolean {
  return edits.every((one) => other?.edits.some(({ start, end, text }) => one.start === start && one.end === end && one.text === text));
}

/** Whether edits touch: at one place the order of two insertions would be a guess. */
function meets({ edits }: FileEdit, other: FileEdit | undefined): boolean {
  return edits.some((one) => other?.edits.some(({ start, end }) => one.start <= end && start <= one.end) ?? false);
}
