// The report's first paragraphs in plain words: what is contended, what it costs, and what to look at first.
import { isMostlyBlind } from '../../protocol/blindness';
import { t } from '../../protocol/l10n';
import type { Finding } from '../../protocol/finding';
import type { TextPart } from '../../protocol/panel';
import type { Access, CacheLine, Report, Verdict } from '../../protocol/report';
import { lowerBound, seenSamples, withBlindness } from './blindness';
import { codePart, codeText, joinParts } from './code-text';
import { accessesOfFinding, leadOf, leadText, mostlyOf, waitsFalsely } from './lead';
import { addressOf, dataText, quoted as name } from './data-text';
import { joinArguments } from '../record/launch';
import { meaningOf } from './remedies';
import { contendedLines, objectsOf, rolesText, threadRoles } from './sharing-facts';
import { cannotTell, recordLonger, verdictText } from './verdict-text';
import { ownCallers, shortPlace } from '../lines/source-path';
import { turnsWords } from './turns-words';
import { percent, VERDICT_WORDS } from '../../protocol/words';
import { count, enumerate, plural, printable } from '../text/terminal-text';

export { meaningOf, name };

/** Below this share of the samples, ending the contention would hardly change the run time. */
const SMALL_COST = 0.01;
/** An estimate from n samples does not see what takes less than about 10 / n of the time: too few samples to interleave. */
const SAMPLES_TO_SEE = 10;

/** Instead of more, where verdicts by threads are of Go's code. */
export const GO_MEANING = t(
  'Threads are those of the operating system: Go moves goroutines from one to another, so bytes that only one goroutine at a time uses look shared. Where each goroutine has its own element or member here, it is false sharing, and a cache line for each ends it.',
);

/** A line that threads only read in the samples is worth a word from this share of the samples on. */
const MUCH_READ = 0.05;

/** Samples without an access are worth a word from this share on. */
const MUCH_WITHOUT = 0.1;

/** What a report says first: printable text, not wrapped. */
export interface FirstWords {
  /** The first one sums up, the second one says what it means; may be empty. */
  paragraphs: string[];
  /** Ends the second paragraph; empty where there is no code to look at. */
  lookFirst: TextPart[];
}

/** Of clock samples. Paragraphs of printable text, not wrapped. */
export function plainWords(report: Report, contendedLineCount?: number): string[] {
  return withBlindness(report, joinWords(plainParts(report, contendedLineCount)));
}

/**
 * The same in parts, without what could not be seen.
 * @param contendedLineCount where not all lines are at hand
 */
export function plainParts(report: Report, contendedLineCount?: number): FirstWords {
  const lines = contendedLines(report);
  if (lines.length === 0) return { paragraphs: nothingFound(report), lookFirst: [] };
  const { paragraphs, lookFirst } = found(report, lines, contendedLineCount ?? lines.length);
  const [first = '', ...others] = paragraphs;
  return { paragraphs: [`${first} ${lowerBound(report, lines)}`.trim(), ...others], lookFirst };
}

/** Paragraphs without the empty ones. */
export function joinWords({ paragraphs, lookFirst }: FirstWords): string[] {
  return paragraphs.map((text, index) => (index === 1 ? `${text} ${joinParts(lookFirst)}`.trim() : text)).filter((text) => text !== '');
}

/** Empty where nothing was seen at all. */
function nothingFound(report: Report): string[] {
  const turns = turnsWords(report);
  if (turns.length > 0) return turns;
  const { total, attributed, filtered = 0 } = report.samples;
  const seen = seenSamples(report);
  if (isMostlyBlind(report) && seen === 0) return [];
  const paragraphs = [
    isMostlyBlind(report)
      ? t('In the other {0} no contended cache line was seen.', plural(seen, 'sample'))
      : t(
          'No contended cache line was seen in {0}{1}{2}.',
          filtered > 0 ? t('the ') : '',
          plural(total, 'sample'),
          filtered > 0 ? t(' that the filters left') : '',
        ),
    t(
      'It means that no two threads were caught taking turns on a cache line that one of them writes. It does not mean that no line is contended: {0}',
      attributed <= SAMPLES_TO_SEE
        ? t('there are too few samples to see any.')
        : t(
            'code that did not run was not measured, and contention at any one line that takes less than about {0} of {1} time can go unseen in this many samples.',
            percent(SAMPLES_TO_SEE / attributed),
            whose(report),
          ),
    ),
  ];
  const waited = muchRead(report);
  if (waited !== '') paragraphs.push(waited);
  const without = withoutAccess(report);
  if (without !== '') paragraphs.push(without);
  return paragraphs;
}

/** What several threads read much without any write in the samples. Whether they wait for it in a loop, samples do not say. */
function muchRead(report: Report): string {
  const { total } = report.samples;
  const lines = report.lines.filter(
    ({ verdict, records, stores }) => verdict === 'read-shared' && stores.total === 0 && records >= total * MUCH_READ,
  );
  const top = lines.reduce<CacheLine | undefined>((best, line) => (line.records > (best?.records ?? 0) ? line : best), undefined);
  const most = top?.accesses.reduce<Access | undefined>(
    (best, access) => (access.records > (best?.records ?? 0) ? access : best),
    undefined,
  );
  if (top === undefined || most === undefined) return '';
  const data = dataText(most.data, () => addressOf(top, most));
  const watch = most.data.how === 'global' ? joinArguments(['--watch', oneMember(data)]) : t('watchpoints (--watch ADDRESS with -p)');
  const read = t(
    '{0} of the samples are reads of {1} by several threads, and no write was sampled there.',
    percent(top.records / total),
    name(data),
  );
  const told = top.accesses.some(({ storesLater }) => storesLater !== undefined)
    ? t('The code that reads it can also write it: how often it did, a recording with {0} tells.', watch)
    : t(
        'Nobody waits for another thread at data that is only read; a recording with {0} tells whether anyone writes it now and then.',
        watch,
      );
  return `${read} ${told}`;
}

/** "flags.ready" of "flags.ready | closed": what can be watched of members on the same bytes. */
function oneMember(data: string): string {
  return data.replace(/ \| .*$/s, '');
}

/** What samples without an access say: that nothing is shared there. */
function withoutAccess({ samples }: Report): string {
  const { noMemoryOperand, threadLocal } = samples.unattributed;
  const text = (part: number, where: string): string =>
    part < samples.total * MUCH_WITHOUT ? '' : t('{0} of the samples were taken at {1}.', percent(part / samples.total), where);
  return [
    text(noMemoryOperand, t('code that computes, without a memory access nearby')),
    text(threadLocal, t('thread-local data, which is not shared')),
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** What the lines that threads compete for cost together. */
export function costText(report: Pick<Report, 'samples' | 'recording'>, lines: number): string {
  const { total, contended } = report.samples;
  const cost = contended / total;
  return t(
    '{0} of {1} samples ({2} of {3}) were taken at {4}.{5}',
    percent(cost),
    whose(report),
    count(contended),
    count(total),
    lines === 1 ? t('a cache line that threads compete for') : t('{0} cache lines that threads compete for', count(lines)),
    cost < SMALL_COST
      ? t(' That is little: fixing it would hardly change {0}.', isWholeMachine(report) ? t('what the machine does') : t('the run time'))
      : '',
  );
}

/** The samples of a finding at one access. */
export interface Pair {
  access: Access;
  samples: number;
}

/** @param number of contended lines; not all are in the report that is shown in the panel */
function found(report: Report, lines: readonly CacheLine[], number: number): FirstWords {
  const { contended } = report.samples;
  const head = costText(report, number);
  const lead = leadOf(report, contended);
  if (lead === undefined) return { paragraphs: [head], lookFirst: [] };
  const [first] = lead.findings as [Finding];
  const accesses = accessesOfFinding(report, first);
  const own = [...new Set(accesses.map(({ line }) => line))];
  const [only, ...others] = new Set(lead.findings.flatMap(({ lineCount, lines: [address] }) => (lineCount === 1 ? address : undefined)));
  const isOne = (line: CacheLine): boolean => line.address === only && lead.findings.every(({ verdict }) => verdict === line.verdict);
  const top = others.length === 0 && only !== undefined ? lines.find(isOne) : undefined;
  const mostly = mostlyOf(report, first);
  const what =
    top === undefined
      ? leadText(report, lead, contended, t('of these'), (finding) => processText(report, linesOf(report, finding)))
      : `${holds(top, processText(report, [top]), number === 1 ? '' : percent(top.contendedShare))}: ${verdictText(top)}.`;
  const go = accesses.some(isGo);
  const unknown = first.falseShare !== null && cannotTell(first);
  return {
    paragraphs: [
      `${head} ${what}`,
      unknown && first.falseShare !== null
        ? recordLonger(report, first.falseShare)
        : meaningText(mostly ?? { verdict: first.verdict, lines: own, counts: '' }, go),
      ...(first.verdict !== 'false sharing' && go && !own.every(isByGoroutines) ? [GO_MEANING] : []),
    ],
    lookFirst: lookFirst(
      lead.findings.filter((one) => one === first || waitsFalsely(one)).flatMap((one) => accessesOfFinding(report, one)),
    ),
  };
}

function meaningText({ verdict, lines, counts }: { verdict: Verdict; lines: CacheLine[]; counts: string }, go: boolean): string {
  const most = counts === '' ? [] : [t('Most of it is {0}.', VERDICT_WORDS[verdict])];
  return [...most, ...meaningOf(verdict, lines, go)].join(' ');
}

function linesOf(report: Report, finding: Finding): CacheLine[] {
  return [...new Set(accessesOfFinding(report, finding).map(({ line }) => line))];
}

function isWholeMachine({ recording }: Pick<Report, 'recording'>): boolean {
  return recording?.target?.kind === 'system';
}

function whose(report: Pick<Report, 'recording'>): string {
  return isWholeMachine(report) ? t("the machine's") : t("the program's");
}

/** " of process 4711 ('nginx')", where processes that have nothing to do with one another were sampled and all lines are of one. */
function processText(report: Report, lines: readonly CacheLine[]): string {
  const { kind = 'command', ids = [] } = report.recording?.target ?? {};
  if (kind !== 'system' && (kind !== 'processes' || ids.length < 2)) return '';
  const [space = '', ...others] = new Set(lines.map((line) => line.space));
  const pid = /^pid (\d+)$/.exec(space)?.[1];
  if (pid === undefined || others.length > 0) return '';
  const threads = lines.flatMap((line) => line.threads.filter((thread) => String(thread.pid) === pid && thread.comm !== ''));
  const main = threads.find(({ tid }) => String(tid) === pid);
  const [any] = threads.sort((a, b) => b.loads + b.stores - a.loads - a.stores);
  const called = main !== undefined ? ` (${name(main.comm)})` : any !== undefined ? t(' (thread {0})', name(any.comm)) : '';
  return t(' of process {0}{1}', pid, called);
}

function isGo({ access, samples }: Pair): boolean {
  return samples > 0 && access.file.endsWith('.go');
}

/** Whether goroutines decided the verdict, not threads alone (docs/outputs.md). */
function isByGoroutines({ goroutines }: CacheLine): boolean {
  return goroutines !== undefined && goroutines > 0;
}

/**
 * "It holds 'a' and 'b'; 2 threads write and 1 reads".
 * @param share of the contended samples that are on the line; empty: all
 */
function holds(line: CacheLine, process: string, share: string): string {
  const used = objectsOf(line).filter(({ weight: samples }) => samples > 0);
  const shown = used.slice(0, 3).map(({ object }) => name(object));
  if (used.length > shown.length) shown.push(plural(used.length - shown.length, 'other object'));
  const [data, who] = [enumerate(shown), rolesText(threadRoles(line))];
  return share === ''
    ? t('It holds {0}{1}; {2}', data, process, who)
    : t('{0} of these are on one line. It holds {1}{2}; {3}', share, data, process, who);
}

/** The functions where most of the samples are, with their lines. */
function lookFirst(accesses: readonly Pair[]): TextPart[] {
  const places = new Map<string, { part: TextPart; samples: number }>();
  const add = (part: TextPart, samples: number): void => {
    const text = joinParts([part]);
    places.set(text, { part, samples: (places.get(text)?.samples ?? 0) + samples });
  };
  for (const { access, samples } of accesses) {
    const code = codeText(access);
    let left = samples;
    for (const { caller, records } of ownCallers(access)) {
      const called = (samples * records) / access.records;
      left -= called;
      const { file, line } = caller;
      add(
        { text: t('{0} ({1}, which calls {2})', name(caller.function), printable(shortPlace(caller)), code), place: { file, line } },
        called,
      );
    }
    add(codePart(access), Math.round(left));
  }
  const [best, next] = [...places.values()].filter(({ samples }) => samples > 0).sort((a, b) => b.samples - a.samples);
  return best === undefined ? [] : [t('Look first at '), best.part, ...(next === undefined ? [] : [t(' and '), next.part]), '.'];
}
