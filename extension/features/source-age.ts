// Whether a source is newer than the binary that was built from it: what a card then says, and whether its lines can be followed.
import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Measured } from '../protocol/measure';

export interface SourceAge {
  /** Sentences for the card; none where binary and text agree as far as times tell. */
  notes: string[];
  /** The lines are those of another text, and nothing says where they went: names have to confirm them. */
  uncertain: boolean;
}

/**
 * @param built when the binary was built that the card is about, in ms since 1970; undefined: not known
 * @param followedFrom when the text was saved that lines are followed from, in ms since 1970; undefined: not known
 */
export async function ageOf(
  document: vscode.TextDocument,
  built: number | undefined,
  followedFrom: number | undefined,
): Promise<SourceAge> {
  const changed = await modified(document.uri.fsPath);
  if (changed !== undefined && built !== undefined && changed > built) {
    if (followedFrom !== undefined && followedFrom <= built) {
      return { notes: [vscode.l10n.t('The source is newer than the binary. Lines are tracked through the edits.')], uncertain: false };
    }
    const notes = [
      vscode.l10n.t(
        'The source is newer than the binary. Lines are matched by name; rebuild and record again for exact lines and members.',
      ),
    ];
    return { notes, uncertain: true };
  }
  const notes = document.isDirty ? [vscode.l10n.t('The text has edits that are not in the binary. Lines are tracked through them.')] : [];
  return { notes, uncertain: false };
}

/** In ms since 1970, as recorded where the binary was profiled; undefined: not known. */
export async function builtAt(binary: string, report: Measured | undefined): Promise<number | undefined> {
  const recorded = report?.recording?.binaries.find(({ path }) => path === binary)?.mtimeNs;
  return recorded === undefined ? modified(binary) : Number(recorded) / 1e6;
}

async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined; // of another machine: nothing can be said about its age
  }
}
