// `cacheline advise`: what to change, as text, JSON or a patch.
import type { NativeEngine } from '../engine/native';
import type { AdviceDocument } from '../protocol/advice';
import { editedAdvice, mergedEdits, type EditedAdvice } from '../session/advice/advice-edits';
import { adviceText } from '../session/advice/advice-text';
import { subjectName } from '../session/advice/advice-names';
import { builtAtOf, DiskSources, patchFolder } from '../session/advice/disk-sources';
import { lostGains, needsReport } from '../session/advice/lost-gains';
import { patchOf } from '../session/advice/patch';
import { DONE } from '../session/record/exit-status';
import { enumerate } from '../session/text/terminal-text';
import type { AdviseArguments } from './advise-arguments';
import { page } from './pager';
import { recordingPath, showingProgress } from './recording-input';
import { outputStyle, outputWidth, print, printAll, say, tell } from './terminal';

export async function advise(engine: NativeEngine, args: AdviseArguments): Promise<number> {
  const path = await recordingPath('advise', args.path, args.analysis);
  const params = { ...args.analysis, path, showAll: false };
  const answer = await showingProgress(path, (onProgress) => engine.call('advise', params, { onProgress }));
  const lost = needsReport(answer) ? lostGains(answer, await engine.call('analyze', params)) : [];
  const list = { ...answer, warnings: [...answer.warnings, ...lost] };
  const reader = process.cwd();
  const { folder, edited } = await editedAdvice(list, new DiskSources(await builtAtOf(path)), (files) => patchFolder(files, reader));
  if (args.patch) {
    printPatch(edited, lost, folder, reader);
    return DONE;
  }
  const advised: AdviceDocument = { ...list, folder, advice: edited.map(({ advice }) => advice) };
  if (args.format === 'json') {
    await printAll([JSON.stringify(advised), '\n']);
    return DONE;
  }
  const text = [adviceText(advised, { width: args.width ?? outputWidth(), style: outputStyle(), path, folder: reader })];
  if (args.pager) await page(text);
  else await printAll(text);
  return DONE;
}

/** @param lost sentences of lostGains() */
function printPatch(edited: readonly EditedAdvice[], lost: readonly string[], folder: string | null, reader: string): void {
  const { files, leftOut } = mergedEdits(edited);
  const without = edited.flatMap(({ advice: { way, subject, edit } }) =>
    way !== 'none' && edit.reason !== null ? [`no edit for ${subjectName(subject)}: ${edit.reason}`] : [],
  );
  if (folder === null) {
    const [only] = without;
    say(only !== undefined && without.length === 1 ? only : 'There is nothing to patch; "cacheline advise" without --patch says why.');
    for (const sentence of lost) say(sentence);
    return;
  }
  for (const sentence of [...without, ...lost]) say(sentence);
  if (leftOut.length > 0) {
    const which = enumerate(leftOut.map(({ subject }) => subjectName(subject)));
    say(`The edits for ${which} are left out, since they change the same text: apply these, build and record again.`);
  }
  if (folder !== reader) tell(`The patch is for the folder ${folder}.`);
  print(patchOf(files, folder));
}
