// The text of a recording without data sources: what was measured and how, what it means in plain words, then the tables.
import type { UnattributedReason } from '../../protocol/blindness';
import { CONFIRMED_MARK, isConfirmed } from '../../protocol/confirmation';
import type { CacheLine, Report } from '../../protocol/report';
import { EVIDENCE_MEANING } from '../../protocol/words';
import { lowerBound, unseenPlaces } from './blindness';
import { watchedText } from './confirmation';
import { firstWords } from './first-words';
import { LINE_LEGEND, lineDetails, lineTable, objectTable, spreadObjects, type Layout } from './report-lines';
import {
  binaryStates,
  collectorFields,
  headField,
  joinBlocks,
  leftOutByFilters,
  machineText,
  programText,
  rateText,
  shareText,
  titledList,
} from './report-blocks';
import { typeTable } from './report-types';
import { contendedLines } from './sharing-facts';
import { count, enumerate, padStart, PLAIN, plural, wrap, type Style } from '../text/terminal-text';

export interface ReportTextOptions extends Omit<Layout, 'style'> {
  style?: Style;
  /** The recording, as it was asked for. */
  path: string;
  /** Every line and access instead of the first ones. */
  showAll?: boolean;
  /** Who called was asked for. */
  callers?: boolean;
}

const MAX_LINES = 20;
const MAX_DETAILS = 5;
const MAX_ACCESSES = 8;
const MAX_OBJECTS = 10;
/** Lines with less than this share of the contended samples get no details of their own. */
const DETAIL_SHARE = 0.01;

/** From this share of the contended samples on, heap blocks without an allocation are worth a word. */
const MUCH_UNKNOWN = 0.1;

const REASON_WORDS: Record<UnattributedReason, string> = {
  kernel: 'in the kernel, whose registers say nothing about the program’s data',
  noInstruction: 'the instruction could not be read or decoded',
  noMemoryOperand: 'no memory access at the sampled instruction or right before it',
  clobbered: 'the register that held the address was overwritten before the sample',
  threadLocal: 'thread-local data, whose address a register snapshot cannot give',
  unmapped: 'the address lies in no known mapping',
};

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function reportText(report: Report, options: ReportTextOptions): string {
  const { width, style = PLAIN, showAll = false } = options;
  const layout: Layout = { ...options, style };
  return joinBlocks([
    head(report, options.path, layout),
    ...firstWords(report).map((paragraph) => wrap(paragraph, width)),
    wrap(watchedText(report), width).filter((text) => text !== ''),
    ...lines(report, showAll, layout),
    options.callers === true ? noCallers(report, width) : [],
    objects(report, showAll, layout),
    typeTable(report, layout, showAll),
    unknownBlocks(report, width),
    unattributed(report, width),
    unseenPlaces(report, width),
    binaryStates(report, width),
    titledList('Warnings', report.warnings, width),
  ]);
}

function head(report: Report, path: string, layout: Layout): string[] {
  const { samples, recording } = report;
  const field = (name: string, text: string): string[] => headField(name, text, layout);
  return [
    ...field('Recording', path),
    ...(recording === null
      ? field('Program', 'unknown: there is no meta.json beside perf.data')
      : [...field('Program', programText(recording)), ...field('Machine', machineText(recording.machine, report.lineSize))]),
    ...field('Measured', measured(report)),
    ...field(
      'Samples',
      `${count(samples.total)}: ${count(samples.attributed)} attributed to a memory access (${shareText(samples.attributed, samples.total)}), ` +
        `${count(samples.contended)} contended, ${count(samples.lost)} lost${leftOutByFilters(samples)}`,
    ),
    ...collectorFields(report, layout),
    ...field(
      'Evidence',
      report.evidence
        .map((evidence) => `${evidence}: ${EVIDENCE_MEANING[evidence]}${evidence === 'clock' ? ', so there are no HITM numbers' : ''}`)
        .join('; '),
    ),
  ];
}

function measured({ recording, seconds }: Report): string {
  const span = `${seconds.toFixed(2)} s from the first sample to the last`;
  if (recording === null) return span;
  return `${recording.startedAt}, ${span}, ${rateText(recording)}`;
}

function lines(report: Report, showAll: boolean, layout: Layout): string[][] {
  const { width, style } = layout;
  const listed = showAll ? report.lines : report.lines.filter(isWorthListing);
  const onlyRead = report.lines.length - listed.length;
  if (listed.length === 0) return leftOut(report, onlyRead, width);
  const shown = showAll ? listed : listed.slice(0, MAX_LINES);
  const more = listed.length - shown.length;
  const contended = contendedLines(report);
  const numbers = new Map(listed.map((line, i) => [line, i + 1]));
  const detailed = showAll
    ? contended
    : contended.slice(0, MAX_DETAILS).filter((line, i) => i === 0 || line.contendedShare >= DETAIL_SHARE);
  const watched = listed.filter((line) => line.confirmation !== undefined && !detailed.includes(line)).slice(0, MAX_DETAILS);
  const legend = report.lines.some(isConfirmed) ? `${LINE_LEGEND}; ${CONFIRMED_MARK}: confirmed by watchpoints` : LINE_LEGEND;
  return [
    [
      style.bold(showAll || contended.length === 0 ? 'Cache lines' : 'Contended cache lines'),
      ...wrap(legend, width).map((text) => style.dim(text)),
      ...lineTable(shown, layout),
      ...(more > 0 ? wrap(`${plural(more, 'more line')} (--show-all or --format json lists them)`, width) : []),
    ],
    ...[...detailed, ...watched].map((line) => [
      ...lineDetails(line, numbers.get(line) ?? 0, showAll ? Infinity : MAX_ACCESSES, layout),
      ...wrap(lowerBound(report, [line]), width, '  ').filter((text) => text.trim() !== ''),
    ]),
    ...(showAll ? [] : withoutDetails(shown.filter((line) => !detailed.includes(line) && !watched.includes(line)).length, width)),
    ...leftOut(report, onlyRead, width),
  ];
}

function withoutDetails(lines: number, width: number): string[][] {
  return lines === 0 ? [] : [wrap(`Details of ${plural(lines, 'more line')} are left out (--show-all shows them).`, width)];
}

/** What threads compete for, and what was watched. What several threads only read is harmless. */
function isWorthListing({ contended, confirmation }: CacheLine): boolean {
  return contended > 0 || confirmation !== undefined;
}

function leftOut({ linesLeftOut }: Report, onlyRead: number, width: number): string[][] {
  const left = [
    onlyRead > 0 ? `${plural(onlyRead, 'line')} that several threads only read` : '',
    linesLeftOut > 0 ? `${plural(linesLeftOut, 'line')} that no two threads use at a time` : '',
  ].filter((text) => text !== '');
  return left.length === 0 ? [] : [wrap(`${enumerate(left)} left out (--show-all lists them).`, width)];
}

function noCallers({ lines, collector }: Report, width: number): string[] {
  if (lines.length === 0 || lines.some(({ accesses }) => accesses.some(({ callers = [] }) => callers.length > 0))) return [];
  const advice = collector === 'agent' ? 'The agent records none.' : '`cacheline record --call-graph dwarf` records them.';
  return wrap(`No callers: the accesses have no call chains. ${advice}`, width);
}

/** Why no allocation is named although blocks were recorded. */
function unknownBlocks(report: Report, width: number): string[] {
  const lost = report.recording?.heap?.lost ?? 0;
  if (lost === 0) return [];
  const contended = contendedLines(report).flatMap(({ accesses }) => accesses);
  const unknown = contended.filter(({ data }) => data.object === '[heap]' && (data.allocation ?? null) === null);
  const samples = unknown.reduce((sum, access) => sum + access.contended, 0);
  if (samples < report.samples.contended * MUCH_UNKNOWN || samples === 0) return [];
  const sentence =
    `${shareText(samples, report.samples.contended)} of the contended samples are in heap blocks whose allocation was not recorded: ` +
    `\`--heap\` missed ${plural(lost, 'block')}, first those below 64 bytes, because a thread allocated faster than it records.`;
  return wrap(sentence, width);
}

function objects(report: Report, showAll: boolean, layout: Layout): string[] {
  const spread = spreadObjects(report);
  if (spread.length === 0) return [];
  const shown = showAll ? spread : spread.slice(0, MAX_OBJECTS);
  return [
    layout.style.bold('Objects contended on several lines'),
    ...objectTable(report, shown, layout),
    ...(spread.length > shown.length ? [plural(spread.length - shown.length, 'more object')] : []),
  ];
}

function unattributed({ samples }: Report, width: number): string[] {
  const reasons = (Object.keys(REASON_WORDS) as UnattributedReason[])
    .map((reason) => ({ reason, value: samples.unattributed[reason] }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value);
  if (reasons.length === 0) return [];
  const sum = reasons.reduce((total, { value }) => total + value, 0);
  const digits = Math.max(...reasons.map(({ value }) => count(value).length));
  return [
    `Not attributed: ${plural(sum, 'sample')} (${shareText(sum, samples.total)})`,
    ...reasons.flatMap(({ reason, value }) => wrap(REASON_WORDS[reason], width, `  ${padStart(count(value), digits)}  `)),
  ];
}
