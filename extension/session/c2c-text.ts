// The text of a recording with data sources: what it is, what it means in plain words, then what `perf c2c report` prints.
import { confirmationText } from '../protocol/confirmation';
import type { Report } from '../protocol/report';
import { EVIDENCE_MEANING } from '../protocol/words';
import { c2cCallers } from './c2c-callers';
import { displayOf } from './c2c-facts';
import { c2cLineTable, dataOf } from './c2c-lines';
import { c2cPareto, type ParetoOptions } from './c2c-pareto';
import { c2cStatistics, c2cTitle } from './c2c-stats';
import { c2cWords } from './c2c-words';
import { watchedText } from './confirmation';
import { objectTable, spreadObjects } from './report-lines';
import { typeTable } from './report-types';
import { binaryStates, collectorFields, headField, joinBlocks, machineText, programText, shareText, titledList } from './report-blocks';
import { count, plural, printable, wrap } from './terminal-text';

const MAX_OBJECTS = 10;

export interface C2cTextOptions extends ParetoOptions {
  /** The recording, as it was asked for. */
  path: string;
  statsOnly: boolean;
  /** Whether callers were asked for. */
  callers: boolean;
}

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function c2cText(report: Report, options: C2cTextOptions): string {
  const { width } = options;
  if (options.statsOnly) return joinBlocks(c2cStatistics(report, width));
  return joinBlocks([
    head(report, options),
    ...c2cWords(report).map((paragraph) => wrap(paragraph, width)),
    ...c2cStatistics(report, width),
    ...tables(report, options),
    watched(report, options),
    callers(report, options),
    objects(report, options),
    typeTable(report, options, false),
    leftOut(report, width),
    binaryStates(report.binaries, width),
    titledList('Warnings', report.warnings, width),
  ]);
}

function head(report: Report, options: C2cTextOptions): string[] {
  const { samples, recording, seconds, c2c } = report;
  const filtered = c2c === undefined || c2c.filtered === 0 ? '' : `, ${count(c2c.filtered)} more left out by the filters`;
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
      `${count(samples.total)}: ${count(samples.attributed)} attributed to a cache line (${shareText(samples.attributed, samples.total)}), ${count(samples.lost)} lost${filtered}`,
    ),
    ...(recording === null ? [] : collectorFields(report, options)),
    ...field('Evidence', report.evidence.map((evidence) => `${evidence}: ${EVIDENCE_MEANING[evidence]}`).join('; ')),
  ];
}

function tables(report: Report, options: C2cTextOptions): string[][] {
  if (report.lines.length === 0) return [];
  const display = displayOf(report);
  const data = report.lines.map((line) => dataOf(line, display));
  return [
    c2cTitle('Shared Data Cache Line Table', options.width).concat(c2cLineTable(report, data, options)),
    c2cTitle('Shared Cache Line Distribution Pareto', options.width).concat(c2cPareto(report, data, options)),
  ];
}

/** What watchpoints say to the verdicts. */
function watched(report: Report, { width }: C2cTextOptions): string[] {
  const sentences = report.lines
    .filter(({ confirmation }) => confirmation !== undefined)
    .map((line) => `${line.address}: ${confirmationText(line)}`);
  return [watchedText(report), ...sentences].filter((text) => text !== '').flatMap((text) => wrap(printable(text), width));
}

function callers(report: Report, options: C2cTextOptions): string[] {
  const found = c2cCallers(report, options);
  if (found.length > 0 || !options.callers) return found;
  return wrap('No callers: the rows have no call chains. `perf c2c record -g` records them.', options.width);
}

/** Contention on every line of an array ranks by its sum. */
function objects(report: Report, layout: ParetoOptions): string[] {
  const spread = spreadObjects(report);
  return spread.length === 0
    ? []
    : [layout.style.bold('Objects contended on several lines'), ...objectTable(spread.slice(0, MAX_OBJECTS), layout)];
}

function leftOut({ linesLeftOut }: Report, width: number): string[] {
  if (linesLeftOut === 0) return [];
  return wrap(`${plural(linesLeftOut, 'more line')} with accesses but hardly any or no contended loads (--show-all lists them).`, width);
}
