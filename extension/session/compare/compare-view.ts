// What the page of "Compare Recordings" shows, and what it may ask for.
import type { Advice } from '../../protocol/advice';
import type { CompareRow, CompareView, FromCompare, PredictedRow } from '../../protocol/compare';
import type { Diff, DiffEntry, DiffKind, DiffSide } from '../../protocol/diff';
import { t } from '../../protocol/l10n';
import { actionText, factor, isBound } from '../advice/advice-words';
import { shortPlace } from '../lines/source-path';
import { percent } from '../../protocol/words';
import { printable } from '../text/terminal-text';
import { duration } from '../threads/duration';
import type { Comparison, PlaceOnSide } from './comparison';
import { conclusion, KINDS, LEGEND, measuresOf, remarks, sideText, STATUSES, sureText } from './diff-text';
import { withoutAddress } from './sums';

/** @param shortPath how a file's path is shown: in the editor, below the workspace's folder */
export function compareView({ diff, places, advice, elapsed }: Comparison, shortPath = (path: string): string => path): CompareView {
  const measures = measuresOf(diff);
  const row = (entry: DiffEntry, id: number): CompareRow => ({
    id,
    status: entry.status,
    statusText: STATUSES[entry.status],
    name: printable(entry.name),
    remark: remarks(entry),
    share: { before: entry.before.programShare, after: entry.after.programShare },
    shareText: { before: percent(entry.before.programShare), after: percent(entry.after.programShare) },
    sure: sureText(entry),
    numbers: measures.map(({ text }) => ({ before: text(entry.before), after: text(entry.after) })),
    ...placeTexts(places[id]),
  });
  const rows = diff.entries.map((entry, id) => ({ kind: entry.kind, row: row(entry, id) }));
  return {
    conclusion: conclusion(diff),
    before: sideText(withShortPaths(diff.before, shortPath)),
    after: sideText(withShortPaths(diff.after, shortPath)),
    elapsed: elapsedText(elapsed),
    predicted: advice.filter(({ way }) => way !== 'none').map((one) => predictedRow(one, diff)),
    columns: measures.map(({ name, meaning }) => ({ name, meaning })),
    tables: (Object.keys(KINDS) as DiffKind[]).flatMap((kind) => {
      const own = rows.flatMap((one) => (one.kind === kind ? [one.row] : []));
      return own.length === 0 ? [] : [{ kind, title: KINDS[kind], rows: own }];
    }),
    notes: diff.notes.map(printable),
    legend: LEGEND,
  };
}

function withShortPaths(side: DiffSide, shortPath: (path: string) => string): DiffSide {
  const [program, ...args] = side.command;
  return { ...side, recording: shortPath(side.recording), command: program === undefined ? [] : [shortPath(program), ...args] };
}

function placeTexts(place: PlaceOnSide | undefined): Pick<CompareRow, 'place' | 'placeTitle'> {
  if (place === undefined) return { place: '', placeTitle: '' };
  return {
    place: printable(shortPlace(place)),
    placeTitle: printable(t('{0}:{1}, in the recording {2}', place.file, place.line, place.side === 'before' ? t('before') : t('after'))),
  };
}

function elapsedText(elapsed: Comparison['elapsed']): string {
  if (elapsed === null) return '';
  const { before, after } = elapsed;
  return t(
    'The recorded runs took {0} before, {1} after: {2} times as fast. One run of each does not show how much runs vary; "cacheline record --repeat" runs both in turn.',
    duration(before * 1e9),
    duration(after * 1e9),
    factor(before / after),
  );
}

function predictedRow(advice: Advice, diff: Diff): PredictedRow {
  return {
    advice: actionText(advice),
    speedup: speedupText(advice.predicted),
    predictedLeft: percent(advice.predicted.contendedLeft),
    measuredLeft: measuredLeft(advice, diff),
  };
}

function speedupText({ speedup, basis }: Advice['predicted']): string {
  if (speedup === null) return t('unknown');
  const bounds = t('{0} to {1}', factor(speedup.low), factor(speedup.high));
  return isBound(basis) ? t('{0} times as fast', bounds) : t('{0} times as fast ({1})', factor(speedup.mid), bounds);
}

/** Of the time that a run waits for this data. */
function measuredLeft({ subject: { object, type } }: Advice, { entries, comparable }: Diff): string {
  const unknown = t('unknown');
  const [kind, name] = object === '' ? ['type', type] : ['object', withoutAddress(object)];
  const entry = entries.find((one) => one.kind === kind && one.name === name);
  if (!comparable || !entry || entry.before.contendedNs === null || entry.after.contendedNs === null) return unknown;
  return entry.before.contendedNs === 0 ? unknown : percent(entry.after.contendedNs / entry.before.contendedNs);
}

/** The page is untrusted input: undefined where it sent none of its messages. */
export function parseCompareMessage(message: unknown): FromCompare | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, version, row, message: text } = message as Record<string, unknown>;
  switch (type) {
    case 'ready':
    case 'swap':
    case 'again':
    case 'copy':
      return { type };
    case 'open':
      return Number.isSafeInteger(version) && Number.isSafeInteger(row)
        ? { type, version: version as number, row: row as number }
        : undefined;
    case 'error':
      return typeof text === 'string' ? { type, message: text } : undefined;
    default:
      return undefined;
  }
}
