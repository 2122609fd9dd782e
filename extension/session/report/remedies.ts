// What a pattern of contention means, who waits for whom, and what helps: from the table of what waiting at one word is due to another.
import { t } from '../../protocol/l10n';
import type { Access, CacheLine, Verdict } from '../../protocol/report';
import { VERDICT_MEANING, percent } from '../../protocol/words';
import { addressOf, dataText, quoted } from './data-text';
import { accessKind } from '../../protocol/roles';
import { isOnePthreadLock, pthreadLock } from './sharing-facts';
import { ownParts } from '../lines/source-path';
import { enumerate, plural } from '../text/terminal-text';

export const LESS_OFTEN = t('sharing less often (a copy for each thread, merged later; fewer updates)');

/** What helps against each pattern where the lines do not say more; empty where nothing has to. */
const REMEDY: Record<Verdict, string> = {
  'false sharing': t('Giving each thread’s data its own cache line (alignas, padding, one struct per thread) ends it.'),
  'true sharing': t('Moving data apart does not help here; {0} does.', LESS_OFTEN),
  mixed: t('Moving what merely lies beside the shared data to another cache line helps in part; the shared data stays contended.'),
  'read-shared': '',
  private: '',
};

/** Instead of what the pattern of a line says, where all that threads compete for there is one lock. */
const LOCK_MEANING = t(
  'Threads take turns at a lock of pthreads: its bytes belong together, and the line moves with the lock. Moving data apart does not help here; taking the lock less often or for a shorter time, or a lock for each part of the data, does.',
);

/** Where one instruction uses several elements, each by several threads. */
const ELEMENTS = t(
  'The same code uses several elements of an array here, and several threads use each. If each element belongs to a task (a coroutine, a job of a thread pool) that moves from thread to thread, this is false sharing, and a cache line for each element ends it. Otherwise {0} helps.',
  LESS_OFTEN,
);

export const PRIVATE_COPY = t(
  'If each side writes one and reads the other (as with the indices of a ring buffer), let each side keep a private copy of the other’s and read the original only when the copy makes the ring look full or empty. Only then does a cache line for each help.',
);

const UNKNOWN = t('These samples cannot tell whether moving data apart helps.');

/** Waiting that moving data apart ends is worth a word from this share on. */
const WORTH_IT = 0.05;
/** Above it, "moving data apart does not help" would be a guess. */
const MOSTLY_TRUE = 0.5;
/** Nearly all of it. */
const ALL = 0.98;
const MAX_GROUPS = 3;
const MAX_NAMES = 2;
/** Characters. */
const LONGEST_WITH_OBJECT = 40;

/** What a pattern means, who waits, and what helps. `lines`: none where they are not listed. `go`: goroutines are told of. */
export function meaningOf(verdict: Verdict, lines: readonly CacheLine[], go = false): string[] {
  if (lines.length > 0 && lines.every(isOnePthreadLock)) return [LOCK_MEANING];
  const top = hottest(lines);
  return [VERDICT_MEANING[verdict], top === undefined ? '' : waitsText(top), remedyOf(verdict, lines, go)].filter((text) => text !== '');
}

function hottest(lines: readonly CacheLine[]): CacheLine | undefined {
  return lines.reduce<CacheLine | undefined>((best, line) => (line.contended > (best?.contended ?? 0) ? line : best), undefined);
}

/**
 * "'reader' waits to read 'reader1', which nobody writes, because 'lock_thd' writes 'lock0' beside it." of who would gain most. Empty where
 * nobody would, and at a lock of pthreads, whose members belong together.
 */
export function waitsText(line: CacheLine): string {
  if (isOnePthreadLock(line)) return '';
  const victim = line.victims.find(({ access, cause }) => access !== null && cause !== null);
  const access = line.accesses[victim?.access ?? -1];
  const cause = line.accesses[victim?.cause ?? -1];
  if (victim === undefined || access === undefined || cause === undefined) return '';
  const own = line.accesses.filter(({ word }) => word !== null && victim.words.includes(word));
  const unwritten =
    own.length > 0 && own.every((one) => one.stores.total === 0 && !one.locked && one.storesLater === undefined)
      ? t(', which nobody writes,')
      : '';
  const [who, other] = [functionText(access), functionText(cause)];
  const by = who === other ? t('another thread') : other;
  const [data, causeData] = [quoted(shortText(line, access)), quoted(shortText(line, cause))];
  const beside = data === causeData ? t('another {0}', causeData) : causeData;
  return t('{0} waits to {1} {2}{3} because {4} {5} {6} beside it.', who, verb(access), data, unwritten, by, verbs(cause), beside);
}

function functionText(access: Access): string {
  return access.symbol === '' ? t('unnamed code') : quoted(access.symbol);
}

/** "waits to read it". */
function verb(access: Access): string {
  return { read: t('read'), write: t('write'), update: t('update') }[deed(access)];
}

/** "because another thread writes it". */
function verbs(access: Access): string {
  const done = access.storesLater === 'always' ? 'write' : deed(access);
  return { read: t('reads'), write: t('writes'), update: t('updates') }[done];
}

function deed(access: Access): 'read' | 'write' | 'update' {
  const kind = accessKind(access);
  return kind === 'read' ? 'read' : kind.startsWith('read') || kind === 'write' ? 'write' : 'update';
}

function remedyOf(verdict: Verdict, lines: readonly CacheLine[], go: boolean): string {
  const top = hottest(lines);
  if (top === undefined || REMEDY[verdict] === '') return REMEDY[verdict];
  if (verdict === 'false sharing' && lines.every((line) => line.contended === 0 || hasElementForEachThread(line))) return alignRemedy(top);
  const ended = endedShare(lines);
  const step = stepRemedy(top, ended);
  if (step !== undefined) return step;
  const elements = !go && areElements(lines);
  if (ended >= WORTH_IT && groupsOf(top).length > 1) {
    if (verdict !== 'mixed' || lines.some(({ falseShare }) => (falseShare?.low ?? 0) > 0)) return apartRemedy(top, ended);
    return elements ? ELEMENTS : UNKNOWN; // perhaps none of the waiting is false
  }
  if (elements) return ELEMENTS;
  if (lines.every((line) => line.contended === 0 || line.words.length === 0)) return REMEDY[verdict];
  const pair = unrelatedPair(top);
  if (pair !== undefined) return pair;
  return top.falseShare !== null && top.falseShare.high > MOSTLY_TRUE && verdict !== 'false sharing' ? UNKNOWN : REMEDY[verdict];
}

/** Of the waiting at a word for another one, the part that ends where they no longer share a line. */
function endedPart({ falseShare, sameStep = 0 }: CacheLine['waits'][number]): number {
  return falseShare * (1 - sameStep);
}

/** Of all waiting on the lines, the part that ends where groups of words no longer share a line. */
function endedShare(lines: readonly CacheLine[]): number {
  let all = 0;
  let ended = 0;
  for (const { contended, waits } of lines) {
    if (waits.length === 0) continue;
    all += contended;
    ended += contended * waits.reduce((sum, wait) => sum + wait.share * endedPart(wait), 0);
  }
  return all === 0 ? 0 : ended / all;
}

/** Words that are used alike, with their accesses. */
interface Group {
  words: number[];
  accesses: Access[];
  /** Of the line's waiting: at these words, and what is not for other groups. */
  waiting: number;
  own: number;
}

/** Those that somebody waits at or for, the most contended first. */
function groupsOf(line: CacheLine): Group[] {
  const groups = new Map<number, Group>();
  const ofLock = new Map<string, number>();
  line.words.forEach(({ group: own }, word) => {
    const accesses = line.accesses.filter((access) => access.word === word);
    // Some words of a lock are only read, but they move with it.
    const lock = accesses.map(pthreadLock).find((of) => of !== undefined);
    const group = lock === undefined ? own : (ofLock.get(lock) ?? own);
    if (lock !== undefined) ofLock.set(lock, group);
    const known = groups.get(group) ?? { words: [], accesses: [], waiting: 0, own: 0 };
    groups.set(group, known);
    known.words.push(word);
    known.accesses.push(...accesses);
  });
  for (const group of groups.values()) {
    for (const wait of line.waits) {
      if (!group.words.includes(wait.word)) continue;
      group.waiting += wait.share;
      group.own += wait.share * (1 - endedPart(wait));
    }
  }
  const weight = ({ accesses }: Group): number => accesses.reduce((sum, { contended, stores }) => sum + contended + stores.total / 1e9, 0);
  return [...groups.values()].filter(({ accesses }) => accesses.length > 0).sort((a, b) => weight(b) - weight(a));
}

/** In words: a sample may wait for several words, so what remains after a change is for its replay to say (native/advice/replay.h). */
function roughly(ended: number): string {
  if (ended >= 0.75) return t('most');
  return ended > 0.25 ? t('part') : t('a small part');
}

function apartRemedy(line: CacheLine, ended: number): string {
  const groups = groupsOf(line);
  const shown = groups.slice(0, MAX_GROUPS).map(({ accesses }) => accessNames(line, accesses));
  if (groups.length > shown.length) shown.push(plural(groups.length - shown.length, 'other'));
  if (new Set(shown).size < shown.length)
    return ended >= ALL
      ? REMEDY['false sharing']
      : t(
          'Giving each thread’s data its own cache line (alignas, padding, one struct per thread) ends {0} of the waiting.',
          roughly(ended),
        );
  const how = t('A cache line for each of {0} (alignas, padding)', enumerate(shown));
  if (ended >= ALL) return t('{0} ends it.', how);
  const left = groups.filter(({ own }) => own >= WORTH_IT).map(({ accesses }) => accessNames(line, accesses));
  const rest =
    left.length === 0
      ? ''
      : t(' What remains is at {0}, which threads share: only {1} helps there.', enumerate(left.slice(0, MAX_GROUPS)), LESS_OFTEN);
  return t('{0} ends {1} of the waiting.{2}', how, roughly(ended), rest);
}

/** Of the threads that write a word, those that were seen at it. */
function writersOf(line: CacheLine, word: number): Set<number> {
  const writing = line.accesses.filter(
    (access) => access.word === word && (access.stores.total > 0 || access.locked || access.storesLater !== undefined),
  );
  return new Set(writing.flatMap(({ threads }) => threads));
}

/** Each word is written, and by other threads: as the indices of a ring buffer are. */
function areWrittenApart(line: CacheLine, a: number, b: number): boolean {
  const [one, other] = [writersOf(line, a), writersOf(line, b)];
  return one.size > 0 && other.size > 0 && ![...one].some((thread) => other.has(thread));
}

/**
 * Words that different threads write, but by code that uses both in one step: on lines of their own it would wait for both. Where less of
 * the waiting is its than moving words apart ends, nothing is said.
 */
function stepRemedy(line: CacheLine, ended: number): string | undefined {
  const [most] = [...line.waits]
    .map((wait) => ({ ...wait, kept: wait.share * (wait.falseShare - endedPart(wait)) }))
    .sort((a, b) => b.kept - a.kept);
  if (most === undefined || most.kept < Math.max(WORTH_IT, ended) || !areWrittenApart(line, most.word, most.cause)) return undefined;
  const names = [most.word, most.cause].map((word) =>
    accessNames(
      line,
      line.accesses.filter((access) => access.word === word),
    ),
  );
  return t(
    'The same code uses {0} in one step: with a cache line for each, a step would wait for two lines instead of one. {1}',
    enumerate(names),
    PRIVATE_COPY,
  );
}

/** All that threads compete for are elements of arrays, and each is one thread's. */
function hasElementForEachThread(line: CacheLine): boolean {
  const competing = new Set(line.threads.filter(({ competes }) => competes).map(({ tid }) => tid));
  const users = new Map<string, Set<number>>();
  for (const { contended, stores, threads, data } of line.accesses) {
    if (contended === 0 && stores.total === 0) continue;
    if ((data.index ?? null) === null) return false;
    const element = `${data.object} ${data.base ?? ''} ${data.index}`;
    const known = users.get(element) ?? new Set<number>();
    users.set(element, known);
    for (const tid of threads) if (competing.has(tid)) known.add(tid);
  }
  return users.size > 1 && [...users.values()].every(({ size }) => size === 1);
}

function alignRemedy(line: CacheLine): string {
  const access = line.accesses.find(({ contended }) => contended > 0);
  const array = access === undefined ? t('the array') : quoted(shortText(line, access).replace(/\[.*$/s, ''));
  return t(
    "Each thread already has elements of its own in {0}. Aligning the element's type to a cache line (alignas(64)), so that no two elements share one, ends it.",
    array,
  );
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

/**
 * Two words that the same threads use, but no function uses both. A lock belongs to what is written under it, and code that goes through an
 * array uses each of its elements, whichever it was sampled at.
 */
function unrelatedPair(line: CacheLine): string | undefined {
  if (line.flags.includes('lock')) return undefined;
  const arrays = line.words.map((_, word) => {
    const { data } = line.accesses.find((access) => access.word === word) ?? {};
    const field = data?.field ?? '';
    const array = field.replace(/\[\d+\]/g, '[]');
    const isElement = (data?.index ?? null) !== null || array !== field;
    return data === undefined || !isElement ? undefined : `${data.object} ${data.base ?? ''} ${array}`;
  });
  // What was inlined into one function is a part of it.
  const wholeOf = (access: Access): string => ownParts(access).at(-1)?.function ?? access.symbol;
  const functions = line.words.map((_, word) => new Set(line.accesses.filter((access) => access.word === word).map(wholeOf)));
  const between = new Map<string, { words: [number, number]; share: number }>();
  for (const { word, cause, share } of line.waits) {
    const words: [number, number] = [Math.min(word, cause), Math.max(word, cause)];
    if (word === cause || line.words[word]?.group !== line.words[cause]?.group) continue;
    if (arrays[word] !== undefined && arrays[word] === arrays[cause]) continue;
    const known = between.get(words.join()) ?? { words, share: 0 };
    between.set(words.join(), { words, share: known.share + share });
  }
  const [most] = [...between.values()]
    .filter(({ words: [a, b] }) => [...(functions[a] ?? [])].every((name) => name !== '' && !functions[b]?.has(name)))
    .sort((a, b) => b.share - a.share);
  if (most === undefined || most.share < 2 * WORTH_IT) return undefined;
  const names = most.words.map((word) =>
    accessNames(
      line,
      line.accesses.filter((access) => access.word === word),
    ),
  );
  return t(
    '{0} are used by the same threads, but by different functions. Unless they have to change together, a cache line for each ends up to {1} of the waiting; {2} helps against the rest.',
    enumerate(names),
    percent(most.share),
    LESS_OFTEN,
  );
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
