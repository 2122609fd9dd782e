// The report's first paragraphs in plain words: what is contended, what it costs, and what to look at first.
import type { Access, CacheLine, ObjectSum, Report, UnattributedReason, Verdict } from '../protocol/report';
import { VERDICT_MEANING } from '../protocol/words';
import { addressOf, dataText, objectName } from './data-text';
import { joinArguments } from './launch';
import { contendedLines, contendedLinesOf, isOnePthreadLock, objectsOf, pthreadLock, threadRoles, weight } from './sharing-facts';
import { ownCallers, ownFunction, ownPlace, shortPlace } from './source-path';
import { count, enumerate, percent, plural, printable, shortenMiddle } from './terminal-text';

const LONGEST_NAME = 60;
/** Below this share of the samples, ending the contention would hardly change the run time. */
const SMALL_COST = 0.01;
/** An estimate from n samples does not see what takes less than about 10 / n of the time: too few samples to interleave. */
const SAMPLES_TO_SEE = 10;

/** What helps against each pattern; empty where nothing has to. */
const REMEDY: Record<Verdict, string> = {
  'false sharing': 'Giving the data of each thread a cache line of its own (alignas, padding, one struct a thread) ends it.',
  'true sharing': 'Moving data apart does not help here; sharing less often does (a copy for each thread, merged later; fewer updates).',
  mixed: 'Moving the bytes that only one thread uses to another cache line helps in part; the shared bytes stay contended.',
  'read-shared': '',
  private: '',
};

/** Instead of what the pattern of a line says, where all that threads compete for there is one lock. */
const LOCK_MEANING =
  'Threads take turns at a lock of pthreads: its bytes belong together, and the line moves with the lock. Moving data apart does not help here; ' +
  'taking the lock less often or for a shorter time, or a lock for each part of the data, does.';

const GO_MEANING =
  'Threads are those of the operating system: Go moves goroutines from one to another, so bytes that only one goroutine at a time uses look shared. ' +
  'Where each goroutine has its own element or member here, it is false sharing, and a cache line for each ends it.';

/** Instead of the remedy, where one instruction uses several elements, each by several threads. */
const ELEMENTS_MEANING =
  'The same code uses several elements of an array here, and several threads use each. Where each element belongs to a task (a coroutine, a job of a ' +
  'thread pool) that moves from thread to thread, it is false sharing, and a cache line for each element ends it. Otherwise sharing less often helps ' +
  '(a copy for each thread, merged later; fewer updates).';

/** A line that threads only read in the samples is worth a word from this share of the samples on. */
const MUCH_READ = 0.05;

/** Where the samples were that no access could be charged with, by what most of them have in common. */
const ELSEWHERE: Record<UnattributedReason, string> = {
  kernel: 'in the kernel, whose accesses this recording does not know',
  noInstruction: 'at code that could not be read',
  noMemoryOperand: 'at code without a memory access near by, where the program computes',
  clobbered: 'behind an access whose address register was overwritten',
  threadLocal: 'at thread-local data, which is not shared',
  unmapped: 'at an address in no known mapping',
};

/** Of clock samples. Paragraphs of printable text, not wrapped. */
export function plainWords(report: Report): string[] {
  const lines = contendedLines(report);
  const [top] = lines;
  return top === undefined ? nothingFound(report) : found(report, lines, top);
}

function nothingFound(report: Report): string[] {
  const { total, attributed } = report.samples;
  const paragraphs = [
    `No contended cache line was seen in ${plural(total, 'sample')}.`,
    `It means that no two threads were caught taking turns on a cache line that one of them writes. It does not mean that there is none: ` +
      `code that did not run was not measured, and contention that takes less than about ${percent(Math.min(1, SAMPLES_TO_SEE / Math.max(1, attributed)))} ` +
      `of the program's time can go unseen in this many samples.`,
  ];
  const waited = muchRead(report);
  if (waited !== '') paragraphs.push(waited);
  if (attributed < total * 0.9) {
    paragraphs.push(`Only ${percent(attributed / total)} of the samples could be attributed to a memory access; ${elsewhere(report)}`);
  }
  return paragraphs;
}

/** What several threads read much without any write in the samples: a flag that they wait for looks like this. */
function muchRead(report: Report): string {
  const { total } = report.samples;
  const lines = report.lines.filter(
    ({ verdict, records, stores }) => verdict === 'read-shared' && stores.total === 0 && records >= total * MUCH_READ,
  );
  const top = lines.reduce<CacheLine | undefined>((best, line) => (line.records > (best?.records ?? 0) ? line : best), undefined);
  const most = top?.accesses.reduce((best, access) => (access.records > best.records ? access : best));
  if (top === undefined || most === undefined) return '';
  const data = dataText(most.data, () => addressOf(top, most));
  const watch = most.data.how === 'global' ? joinArguments(['--watch', data]) : 'watchpoints (--watch ADDRESS with -p)';
  return (
    `${percent(top.records / total)} of the samples are reads of ${name(data)} by several threads, and no write was sampled there. A flag that threads wait for ` +
    `in a loop looks like this: its writes are too rare for samples. A recording with ${watch} tells whether anyone writes it.`
  );
}

function elsewhere({ samples }: Report): string {
  const [most] = (Object.keys(ELSEWHERE) as UnattributedReason[]).sort((a, b) => samples.unattributed[b] - samples.unattributed[a]);
  const others = samples.total - samples.attributed;
  if (most === undefined || samples.unattributed[most] * 2 < others) return 'what the others were waiting for is not known.';
  return `of the others ${percent(samples.unattributed[most] / others)} were taken ${ELSEWHERE[most]}.`;
}

function found(report: Report, lines: readonly CacheLine[], top: CacheLine): string[] {
  const { total, contended } = report.samples;
  const cost = contended / total;
  const object = topObject(report);
  const spreadOver = object === undefined ? 0 : contendedLinesOf(report)(object);
  const spread = object !== undefined && spreadOver > 1;
  const head =
    `${percent(cost)} of the program's samples (${count(contended)} of ${count(total)}) were taken at ` +
    `${lines.length === 1 ? 'a cache line that threads compete' : `${count(lines.length)} cache lines that threads compete`} for.` +
    (cost < SMALL_COST ? ' That is little: ending it would hardly change the run time.' : '');
  const what = spread
    ? `${percent(object.contendedShare)} of these are on ${name(object.object)}, spread over ${count(spreadOver)} lines: ${object.verdict}.`
    : `${lines.length === 1 ? 'It' : `${percent(top.contendedShare)} of these are on one line. It`} ${holds(top)}: ${top.verdict}.`;
  const verdict = spread ? object.verdict : top.verdict;
  const accesses = spread
    ? lines.flatMap((line) => pairs(line).filter(({ access }) => objectName(access.data) === object.object))
    : pairs(top);
  const own = spread ? lines.filter((line) => line.accesses.some(({ data }) => objectName(data) === object.object)) : [top];
  const go = accesses.some(isGo);
  const meaning = meaningOf(verdict, own, go);
  return [
    `${head} ${what}`,
    [...meaning, lookFirst(accesses)].filter((text) => text !== '').join(' '),
    ...(verdict !== 'false sharing' && go && !own.every(isByGoroutines) ? [GO_MEANING] : []),
  ];
}

/** What a pattern means, and what helps. `go`: told otherwise. */
export function meaningOf(verdict: Verdict, lines: readonly CacheLine[], go = false): string[] {
  if (lines.every(isOnePthreadLock)) return [LOCK_MEANING];
  return [VERDICT_MEANING[verdict], verdict !== 'false sharing' && !go && areElements(lines) ? ELEMENTS_MEANING : REMEDY[verdict]];
}

/** Most of what threads compete for is several elements on a line, used by one instruction, and each by several threads. */
function areElements(lines: readonly CacheLine[]): boolean {
  let all = 0;
  let elements = 0;
  for (const { accesses } of lines) {
    const byCode = new Map<string, { indexes: Set<number>; contended: number }>();
    for (const access of accesses) {
      const { codeAddress, contended, threads, data } = access;
      all += contended;
      const index = data.index ?? null;
      if (index === null || threads.length < 2 || pthreadLock(access) !== undefined) continue;
      const use = byCode.get(codeAddress) ?? { indexes: new Set<number>(), contended: 0 };
      byCode.set(codeAddress, use);
      use.indexes.add(index);
      use.contended += contended;
    }
    for (const use of byCode.values()) if (use.indexes.size > 1) elements += use.contended;
  }
  return elements * 2 > all;
}

function isGo({ access, samples }: Pair): boolean {
  return samples > 0 && access.file.endsWith('.go');
}

/** Whether goroutines decided the verdict, not threads alone (docs/outputs.md). */
function isByGoroutines({ goroutines, records }: CacheLine): boolean {
  return goroutines !== undefined && goroutines <= 1024 && records >= goroutines * 8;
}

function topObject(report: Report): ObjectSum | undefined {
  return report.objects.reduce<ObjectSum | undefined>(
    (best, object) => (object.contended > (best?.contended ?? 0) ? object : best),
    undefined,
  );
}

/** "holds 'a' and 'b'; 2 threads write and 1 reads". */
function holds(line: CacheLine): string {
  const used = objectsOf(line).filter(({ weight: samples }) => samples > 0);
  const shown = used.slice(0, 3).map(({ object }) => name(object));
  if (used.length > shown.length) shown.push(plural(used.length - shown.length, 'other object'));
  const { writers, readers } = threadRoles(line);
  const who = [
    writers > 0 ? `${plural(writers, 'thread')} ${writers === 1 ? 'writes' : 'write'}` : '',
    readers > 0 ? `${writers > 0 ? count(readers) : plural(readers, 'thread')} ${readers === 1 ? 'reads' : 'read'}` : '',
  ].filter((text) => text !== '');
  return `holds ${enumerate(shown)}; ${enumerate(who)}`;
}

interface Pair {
  access: Access;
  samples: number;
}

function pairs(line: CacheLine): Pair[] {
  return line.accesses.map((access) => ({ access, samples: weight(access, line) }));
}

/** The functions where most of the samples are, with their lines. */
function lookFirst(accesses: readonly Pair[]): string {
  const places = new Map<string, number>();
  const add = (text: string, samples: number): void => void places.set(text, (places.get(text) ?? 0) + samples);
  for (const { access, samples } of accesses) {
    const code = codeText(access);
    let left = samples;
    for (const { caller, records } of ownCallers(access)) {
      const called = (samples * records) / access.records;
      left -= called;
      add(`${name(caller.function)} (${printable(shortPlace(caller))}, which calls ${code})`, called);
    }
    add(code, Math.round(left));
  }
  const best = [...places].filter(([, samples]) => samples > 0).sort(([, a], [, b]) => b - a);
  return best.length === 0 ? '' : `Look first at ${enumerate(best.slice(0, 2).map(([text]) => text))}.`;
}

/** "'Worker::run()' (worker.cpp:12)". */
export function codeText(access: Access): string {
  const place = ownPlace(access);
  const where =
    place === undefined ? `at ${access.codeAddress} in ${printable(access.object) || 'unknown code'}` : `(${printable(shortPlace(place))})`;
  return access.symbol === '' ? `the code ${where}` : `${name(ownFunction(access))} ${where}`;
}

/** A recorded name in prose. */
export function name(text: string): string {
  return `'${shortenMiddle(printable(text), LONGEST_NAME)}'`;
}
