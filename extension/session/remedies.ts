// What a pattern of contention means and what helps against it, by who uses which bytes of the lines.
import type { Access, CacheLine, Verdict } from '../protocol/report';
import { VERDICT_MEANING } from '../protocol/words';
import { addressOf, dataText, quoted } from './data-text';
import { isOnePthreadLock, pthreadLock } from './sharing-facts';
import { enumerate, plural } from './terminal-text';

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

/** Instead of the remedy, where one instruction uses several elements, each by several threads. */
const ELEMENTS_MEANING =
  'The same code uses several elements of an array here, and several threads use each. Where each element belongs to a task (a coroutine, a job of a ' +
  'thread pool) that moves from thread to thread, it is false sharing, and a cache line for each element ends it. Otherwise sharing less often helps ' +
  '(a copy for each thread, merged later; fewer updates).';

/** With fewer samples of a line for each thread, chance decides which of its bytes a thread is seen at. */
const SAMPLES_OF_THREAD = 4;
/** From this share of a line's contended samples on, reads of what nobody writes are worth a word. */
const MUCH_READ = 0.1;
const MAX_GROUPS = 3;
const MAX_NAMES = 2;
/** Characters. */
const LONGEST_WITH_OBJECT = 40;

/** What a pattern means, and what helps. `lines`: none where they are not listed. `go`: told otherwise. */
export function meaningOf(verdict: Verdict, lines: readonly CacheLine[], go = false): string[] {
  if (lines.length > 0 && lines.every(isOnePthreadLock)) return [LOCK_MEANING];
  return [VERDICT_MEANING[verdict], remedyOf(verdict, lines, go)];
}

function remedyOf(verdict: Verdict, lines: readonly CacheLine[], go: boolean): string {
  if (verdict !== 'true sharing' && verdict !== 'mixed') return REMEDY[verdict];
  const parting = mostFrequent(verdict, lines);
  if (parting?.kind === 'apart' || parting?.kind === 'only read') return parting.remedy;
  if (!go && areElements(lines)) return ELEMENTS_MEANING;
  return parting?.remedy ?? REMEDY[verdict];
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

/** How the data of a line could be parted, and what that would bring. */
interface Parting {
  kind: 'apart' | 'only read' | 'writers' | 'readers';
  remedy: string;
}

/** The parting of the lines that have most of the contended samples; that of more than half of all, or none. */
function mostFrequent(verdict: Verdict, lines: readonly CacheLine[]): Parting | undefined {
  const kinds = new Map<Parting['kind'] | undefined, { contended: number; parting: Parting | undefined }>();
  let all = 0;
  for (const line of [...lines].sort((a, b) => b.contended - a.contended)) {
    const parting = partingOf(verdict, line);
    const same = kinds.get(parting?.kind) ?? { contended: 0, parting };
    kinds.set(parting?.kind, same);
    same.contended += line.contended;
    all += line.contended;
  }
  return [...kinds.values()].find(({ contended }) => contended * 2 > all)?.parting;
}

/** Bytes that threads use together, and the accesses to them. */
interface Group {
  threads: Set<number>;
  accesses: Set<Access>;
}

function partingOf(verdict: Verdict, line: CacheLine): Parting | undefined {
  const competing = new Set(line.threads.filter(({ competes }) => competes).map(({ tid }) => tid));
  // Of memory recordings the stores of a line count, too, though only loads are HITMs.
  const accesses = line.accesses.filter(({ contended, stores }) => contended > 0 || stores.total > 0);
  const threads = new Set(accesses.flatMap((access) => access.threads).filter((tid) => competing.has(tid)));
  if (line.contended < SAMPLES_OF_THREAD * threads.size) return undefined;
  const bytes = usedBytes(accesses, competing);
  const written = [...bytes.values()].filter(({ writers }) => writers.size > 0);
  if (written.length === 0) return undefined;
  const groups = groupsOf(written.map(({ users, accesses: own }) => ({ threads: users, accesses: own })));
  const shared = groups.filter((group) => group.threads.size > 1);
  if (shared.length > 1) return { kind: 'apart', remedy: apartRemedy(line, shared) };
  if (verdict === 'mixed') {
    const unwritten = [...bytes.values()].filter(({ users, stored }) => users.size > 1 && !stored);
    const reads = [...new Set(unwritten.flatMap((use) => [...use.accesses]))];
    return shared.length === 0 && reads.length > 0 ? { kind: 'only read', remedy: onlyReadRemedy(line, reads) } : undefined;
  }
  const byWriters = groupsOf(written.map(({ writers, accesses: own }) => ({ threads: writers, accesses: own })));
  if (byWriters.length > 1) return { kind: 'writers', remedy: writersRemedy(line, byWriters) };
  const atStored = new Set([...bytes.values()].filter(({ stored }) => stored).flatMap((use) => [...use.accesses]));
  const onlyRead = accesses.filter((access) => !atStored.has(access));
  const reads = onlyRead.reduce((sum, { contended }) => sum + contended, 0);
  return reads > line.contended * MUCH_READ ? { kind: 'readers', remedy: readersRemedy(line, onlyRead) } : undefined;
}

interface ByteUse {
  users: Set<number>;
  writers: Set<number>;
  /** Written in the samples, by whatever thread. */
  stored: boolean;
  accesses: Set<Access>;
}

/** By offset in the line, with the competing threads. An access whose width is not known uses one byte. */
function usedBytes(accesses: readonly Access[], competing: ReadonlySet<number>): Map<number, ByteUse> {
  const bytes = new Map<number, ByteUse>();
  for (const access of accesses) {
    const threads = access.threads.filter((tid) => competing.has(tid));
    for (let at = access.offset; at < access.offset + Math.max(1, access.width); ++at) {
      const use: ByteUse = bytes.get(at) ?? { users: new Set(), writers: new Set(), stored: false, accesses: new Set() };
      bytes.set(at, use);
      use.accesses.add(access);
      use.stored ||= access.stores.total > 0;
      for (const tid of threads) {
        use.users.add(tid);
        if (access.stores.total > 0) use.writers.add(tid);
      }
    }
  }
  return bytes;
}

/** United as far as they have a thread or an access in common, in the order in which they come. */
function groupsOf(parts: readonly Group[]): Group[] {
  let groups: Group[] = [];
  for (const part of parts) {
    const united: Group = { threads: new Set(part.threads), accesses: new Set(part.accesses) };
    const touches = ({ threads, accesses }: Group): boolean =>
      [...threads].some((tid) => part.threads.has(tid)) || [...accesses].some((access) => part.accesses.has(access));
    for (const group of groups.filter(touches)) {
      for (const tid of group.threads) united.threads.add(tid);
      for (const access of group.accesses) united.accesses.add(access);
    }
    groups = [...groups.filter((group) => !touches(group)), united];
  }
  return groups;
}

function apartRemedy(line: CacheLine, groups: readonly Group[]): string {
  return (
    `${groupNames(line, groups)} are used by different threads: a cache line for each ends the contention between them. Each stays shared among its ` +
    'own threads; there only sharing less often helps (a copy for each thread, merged later; fewer updates).'
  );
}

function writersRemedy(line: CacheLine, groups: readonly Group[]): string {
  return (
    'Sharing less often helps (a copy for each thread, merged later; fewer updates). ' +
    `${groupNames(line, groups)} are written by different threads: a cache line for each may help, too; measure it.`
  );
}

/** Stores are sampled less often than the loads beside them, so that samples alone do not prove it. */
function onlyReadRemedy(line: CacheLine, reads: readonly Access[]): string {
  return (
    `The bytes that threads share here (${accessNames(line, reads)}) are only read in the samples. If nothing writes them often (--watch tells), a cache ` +
    'line of its own for what each thread writes, away from them, ends it.'
  );
}

function readersRemedy(line: CacheLine, onlyRead: readonly Access[]): string {
  return (
    `Moving what is only read in the samples (${accessNames(line, onlyRead)}) to another cache line helps those that read it. What is written stays ` +
    'shared; there only sharing less often helps (a copy for each thread, merged later; fewer updates).'
  );
}

/** "'queue.tail' and 'queue.head'", the most contended first. */
function groupNames(line: CacheLine, groups: readonly Group[]): string {
  const weight = ({ accesses }: Group): number => [...accesses].reduce((sum, { contended }) => sum + contended, 0);
  const sorted = [...groups].sort((a, b) => weight(b) - weight(a));
  const shown = sorted.slice(0, MAX_GROUPS).map(({ accesses }) => accessNames(line, [...accesses]));
  if (sorted.length > shown.length) shown.push(plural(sorted.length - shown.length, 'other'));
  return enumerate(shown);
}

function accessNames(line: CacheLine, accesses: readonly Access[]): string {
  const sorted = [...accesses].sort((a, b) => b.contended - a.contended);
  const names = [...new Set(sorted.map((access) => quoted(shortText(line, access))))];
  return names.slice(0, MAX_NAMES).join(', ') + (names.length > MAX_NAMES ? ', …' : '');
}

/** "queue.tail"; of an object with a long name the member alone. */
function shortText(line: CacheLine, access: Access): string {
  const text = dataText(access.data, () => addressOf(line, access));
  const { field = '' } = access.data;
  return field === '' || text.length <= LONGEST_WITH_OBJECT ? text : field;
}
