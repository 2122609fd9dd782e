// Heat of source lines: each access of a report credits its samples to every line it stands on, inline chain included.
import { heatStep, type HeatStep } from '../protocol/heat-scale';
import type { Access, CacheLine, Report, SourcePlace } from '../protocol/report';
import { plural } from './terminal-text';

export interface LineHeat extends SourcePlace {
  /** Samples by threads that compete for a cache line. */
  contended: number;
  /** Of all contended samples, 0 to 1. */
  share: number;
  step: HeatStep;
  /** Competing threads that write here; a thread that reads and writes is a writer. */
  writers: number;
  /** Competing threads that only read here. */
  readers: number;
}

/** An access together with the cache line it is part of. */
export interface LineAccess {
  cacheLine: CacheLine;
  access: Access;
}

/** Each source line an access stands on, once: its innermost place and the places it was inlined into. */
export function placesOf(access: Access): SourcePlace[] {
  const places: SourcePlace[] = [];
  for (const { file, line } of [access, ...access.inlined]) {
    if (file !== '' && line > 0 && !places.some((place) => place.file === file && place.line === line)) {
      places.push({ file, line });
    }
  }
  return places;
}

/** Accesses by source file and line. */
export type AccessIndex = Map<string, Map<number, LineAccess[]>>;

export function indexAccesses(report: Report): AccessIndex {
  const index: AccessIndex = new Map();
  for (const cacheLine of report.lines) {
    for (const access of cacheLine.accesses) {
      for (const { file, line } of placesOf(access)) {
        let lines = index.get(file);
        if (!lines) index.set(file, (lines = new Map<number, LineAccess[]>()));
        const there = lines.get(line);
        if (there) there.push({ cacheLine, access });
        else lines.set(line, [{ cacheLine, access }]);
      }
    }
  }
  return index;
}

/** Heat by file, in line order; lines without contended samples have none. */
export function heatOfReport(report: Report, index: AccessIndex = indexAccesses(report)): Map<string, LineHeat[]> {
  const heat = new Map<string, LineHeat[]>();
  for (const [file, lines] of index) {
    const hot: LineHeat[] = [];
    for (const [line, accesses] of lines) {
      const contended = accesses.reduce((sum, { access }) => sum + access.contended, 0);
      if (contended === 0) continue;
      const share = contended / report.samples.contended;
      hot.push({ file, line, contended, share, step: heatStep(share), ...competingThreads(accesses) });
    }
    if (hot.length > 0) {
      heat.set(
        file,
        hot.sort((a, b) => a.line - b.line),
      );
    }
  }
  return heat;
}

/** Threads that compete through these accesses. An access that loads and stores counts each of its threads as a writer. */
export function competingThreads(accesses: readonly LineAccess[]): { writers: number; readers: number } {
  const writers = new Set<number>();
  const readers = new Set<number>();
  for (const { cacheLine, access } of accesses) {
    if (access.contended === 0) continue;
    for (const tid of access.threads) {
      if (!cacheLine.threads.some((thread) => thread.tid === tid && thread.competes)) continue;
      (access.stores.total > 0 ? writers : readers).add(tid);
    }
  }
  return { writers: writers.size, readers: [...readers].filter((tid) => !writers.has(tid)).length };
}

/** "31 % of contended samples, 2 threads write". */
export function heatText({ share, writers, readers }: Pick<LineHeat, 'share' | 'writers' | 'readers'>): string {
  const parts = [`${wholePercent(share)} of contended samples`];
  if (writers > 0) parts.push(`${plural(writers, 'thread')} ${writers === 1 ? 'writes' : 'write'}`);
  if (readers > 0) parts.push(`${writers > 0 ? readers : plural(readers, 'thread')} ${readers === 1 ? 'reads' : 'read'}`);
  return parts.join(', ');
}

/** What rounds to 0 but is not reads "<1 %". */
function wholePercent(share: number): string {
  const whole = Math.round(share * 100);
  return share > 0 && whole === 0 ? '<1 %' : `${whole} %`;
}
