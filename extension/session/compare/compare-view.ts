// What the page of "Compare Recordings" shows, and what it may ask for.
import type { Advice } from '../../protocol/advice';
import type { CompareRow, CompareView, FromCompare, PredictedRow } from '../../protocol/compare';
import type { Diff, DiffEntry, DiffKind, DiffMeasure, DiffSide } from '../../protocol/diff';
import { t } from '../../protocol/l10n';
import { actionText, factor, isBound } from '../advice/advice-words';
import { shortPlace } from '../lines/source-path';
import { percent } from '../../protocol/words';
import { printable } from '../text/terminal-text';
import type { Comparison, PlaceOnSide } from './comparison';
import { KINDS, LEGEND, measuresOf, remarks, sideText, STATUSES, sureText, unitMeasure } from './diff-text';
import { details, elapsedText, headline } from './headline';
import { valueOf } from './measure';
import { lastingName } from './sums';

/** @param shortPath how a file's path is shown: in the editor, below the workspace's folder */
export function compareView({ diff, places, advice, followed }: Comparison, shortPath = (path: string): string => path): CompareView {
  const [unit, measures] = [unitMeasure(diff), measuresOf(diff)];
  const most = Math.max(
    ...[diff.program, ...diff.entries].flatMap(({ before, after }) => [before, after]).map((of) => valueOf(diff.unit, of) ?? 0),
  );
  const bar = (of: DiffMeasure): number => (most === 0 ? 0 : (valueOf(diff.unit, of) ?? 0) / most);
  const row = (entry: DiffEntry, id: number): CompareRow => ({
    id,
    status: entry.status,
    statusText: STATUSES[entry.status],
    name: printable(entry.name),
    remark: remarks(entry),
    bar: { before: bar(entry.before), after: bar(entry.after) },
    waiting: { before: unit.text(entry.before), after: unit.text(entry.after) },
    sure: sureText(entry),
    numbers: measures.map(({ text }) => ({ before: text(entry.before), after: text(entry.after) })),
    ...placeTexts(places[id]),
  });
  const rows = diff.entries.map((entry, id) => ({ kind: entry.kind, row: row(entry, id) }));
  return {
    conclusion: headline(diff),
    details: details(diff),
    before: sideText(withShortPaths(diff.before, shortPath)),
    after: sideText(withShortPaths(diff.after, shortPath)),
    elapsed: elapsedText(diff),
    predicted: advice.flatMap((one, index) => (one.way === 'none' ? [] : [predictedRow(one, diff, followed[index])])),
    waiting: unit.meaning,
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

function predictedRow(advice: Advice, diff: Diff, isFollowed: boolean | undefined): PredictedRow {
  return {
    advice: actionText(advice),
    followed: isFollowed === undefined ? t('unknown') : isFollowed ? t('yes') : t('no'),
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

/** Of the waiting for this data, by the unit of the comparison. */
function measuredLeft({ subject: { object, type } }: Advice, { entries, comparable, unit }: Diff): string {
  const unknown = t('unknown');
  const [kind, name] = object === '' ? ['type', type] : ['object', lastingName(object)];
  const entry = entries.find((one) => one.kind === kind && (one.was ?? one.name) === name);
  const [before, after] = entry ? [valueOf(unit, entry.before), valueOf(unit, entry.after)] : [null, null];
  return !comparable || before === null || after === null || before === 0 ? unknown : percent(after / before);
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
