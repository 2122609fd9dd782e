// The text of a recording with data sources: what it is, what it means in plain words, then what `perf c2c report` prints. The tables
// of lines and rows, nearly all of it, are written by the engine (native/c2c/tables.h).
import { confirmationText } from '../../protocol/confirmation';
import type { Report } from '../../protocol/report';
import { EVIDENCE_MEANING, NO_EVIDENCE, percent } from '../../protocol/words';
import { c2cStatistics } from './c2c-stats';
import { watchedText } from './confirmation';
import { displayOf } from './c2c-facts';
import { LOAD_WORDS } from './c2c-words';
import { firstWords } from './first-words';
import { objectTable, spreadObjects, type Layout } from './report-lines';
import { typeTable } from './report-types';
import {
  binaryStates,
  collectorFields,
  headField,
  joinBlocks,
  leftOutByFilters,
  machineText,
  programText,
  shareText,
  titledList,
} from './report-blocks';
import { count, plural, printable, wrap } from '../text/terminal-text';

const MAX_OBJECTS = 10;

export interface C2cTextOptions extends Layout {
  /** The recording, as it was asked for. */
  path: string;
}

/** The statistics alone, without lines. */
export function c2cStatisticsText(report: Report, width: number): string {
  return joinBlocks(c2cStatistics(report, width));
}

/**
 * Parts of a text whose lines end with newlines and are not wider than `width` columns.
 * @param report its first two lines and those that were watched are enough
 * @param tables as the engine wrote them, in UTF-8
 */
export function c2cText(report: Report, tables: readonly Uint8Array[], options: C2cTextOptions): (string | Uint8Array)[] {
  const { width } = options;
  const before = joinBlocks([
    head(report, options),
    ...firstWords(report).map((paragraph) => wrap(paragraph, width)),
    ...c2cStatistics(report, width),
  ]);
  const after = [
    watched(report, options),
    objects(report, options),
    typeTable(report, options, false),
    leftOut(report, width),
    binaryStates(report, width),
    titledList('Warnings', report.warnings, width),
  ];
  const parts = tables.length === 0 ? [before] : [before, '\n', ...tables];
  return after.every((block) => block.length === 0) ? parts : [...parts, '\n', joinBlocks(after)];
}

function head(report: Report, options: C2cTextOptions): string[] {
  const { samples, recording, seconds } = report;
  const field = (name: string, text: string): string[] => headField(name, text, options);
  return [
    ...field('Recording', options.path),
    ...(recording === null
      ? []
      : [...field('Program', programText(recording)), ...field('Machine', machineText(recording.machine, report.lineSize))]),
    ...field(
      'Measured',
      `${recording === null ? '' : `${recording.startedAt}, `}${seconds.toFixed(2)} s from the first sample to the last`,
    ),
    ...field(
      'Samples',
      `${count(samples.total)}: ${count(samples.attributed)} attributed to a cache line (${shareText(samples.attributed, samples.total)}), ${count(samples.lost)} lost${leftOutByFilters(samples)}`,
    ),
    ...(recording === null ? [] : collectorFields(report, options)),
    ...field('Evidence', report.evidence.map((evidence) => `${evidence}: ${EVIDENCE_MEANING[evidence]}`).join('; ') || NO_EVIDENCE),
  ];
}

/** What watchpoints say to the verdicts. */
function watched(report: Report, { width }: C2cTextOptions): string[] {
  const sentences = report.lines
    .filter(({ confirmation }) => confirmation !== undefined)
    .map((line) => `${line.address}: ${confirmationText(line)}`);
  return [watchedText(report), ...sentences].filter((text) => text !== '').flatMap((text) => wrap(printable(text), width));
}

/** Contention on every line of an array ranks by its sum. */
function objects(report: Report, layout: Layout): string[] {
  const spread = spreadObjects(report);
  return spread.length === 0
    ? []
    : [layout.style.bold('Objects contended on several lines'), ...objectTable(report, spread.slice(0, MAX_OBJECTS), layout)];
}

function leftOut(report: Report, width: number): string[] {
  const { linesLeftOut, contendedLeftOut, samples } = report;
  if (linesLeftOut === 0) return [];
  const [, loads] = LOAD_WORDS[displayOf(report)];
  const what =
    contendedLeftOut === undefined
      ? 'with accesses but hardly any or no contended loads'
      : contendedLeftOut === 0
        ? `with accesses but no ${loads}`
        : `with ${percent(contendedLeftOut / samples.contended)} of the ${loads} in sum, each with less than 0.1% of them`;
  return wrap(`${plural(linesLeftOut, 'more line')} ${what} (--show-all lists them).`, width);
}
