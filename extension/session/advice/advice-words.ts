// What advice says, in sentences, for the command line and the editor. Recorded names in them are quoted and printable.
import type { Advice, Latent, Placement, SplitChange, Subject } from '../../protocol/advice';
import { t } from '../../protocol/l10n';
import { isForeign } from '../../protocol/own-place';
import { typeLabel } from '../report/data-text';
import { isLockType } from '../report/lock-names';
import { LESS_OFTEN, PRIVATE_COPY } from '../report/remedies';
import { cannotTell } from '../report/verdict-text';
import { percent } from '../../protocol/words';
import { alternatives, count, enumerate, plural, printable } from '../text/terminal-text';
import { arrayName, memberNames, MAX_NAMES, named, names, subjectName } from './advice-names';
import {
  alignedBlocks,
  alignedRows,
  alignedType,
  alignedVariables,
  type Language,
  languageOf,
  perThreadSketch,
  startedLine,
  stridedElements,
} from './spelling';
import { shortPlace } from '../lines/source-path';

/** Where no change says it, as of nearly all machines: bytes of a cache line. */
const LINE_SIZE = 64;
/** Of one group. */
const MAX_GROUP_NAMES = 12;
/** Bytes: that malloc() gives, as the engine takes it (native/advice/latent.cpp). */
const LEAST_ALIGNMENT = 16;
/** Offsets that a sentence lists; more are counted. */
const MAX_OFFSETS = 6;

type Members = Extract<Advice['change'], { kind: 'members' }>;

/** Bytes that a change aligns to. */
function alignmentOf({ change }: Advice): number {
  return change !== null && 'alignment' in change ? change.alignment : LINE_SIZE;
}

/** The members of a change by the cache lines that they start: what has no name is called by its type. */
function groupsOf({ order, type: { members } }: Members): string[][] {
  const groups: string[][] = [];
  for (const { member, startsLine } of order) {
    if (startsLine || groups.length === 0) groups.push([]);
    const { name = '', type = '' } = members[member] ?? {};
    groups.at(-1)?.push(name === '' ? type || t('an anonymous member') : name);
  }
  return groups;
}

/** Whether the members of a change come in another order than they have. */
export function isReordered({ order }: Members): boolean {
  return order.some(({ member }, at) => member !== at);
}

/** What is shared by whom. */
export function whySentence(advice: Advice): string {
  const { subject, why } = advice;
  const who = subjectName(subject);
  const members = memberNames(subject.members);
  switch (why) {
    case 'lock-with-own-data':
      return t(
        'Threads take turns at a lock and at the data that it protects, in {0}{1}. They are used together, and the cache line moves with the lock.',
        who,
        members,
      );
    case 'mixed-use':
      return t(
        'Data that some threads write and data that others only read share one cache line of {0}{1}. Each write takes the line away from the readers.',
        who,
        members,
      );
    case 'unrelated-owners':
      return unrelated(advice);
    case 'alignment':
      return t(
        'Objects of {0} begin in the middle of a cache line, so neighbours that different threads use share one. Each thread waits for the other’s writes.',
        named(typeLabel(subject.type, subject.object) || subject.object),
      );
    case 'adjacent':
      return t(
        "Threads use neighbouring cache lines at {0}{1}. The processor's prefetcher moves such lines as a pair, so a thread at one line waits for the other.",
        who,
        members,
      );
    case 'true-sharing':
      return t(
        'Threads use the same data of {0}{1}, and at least one of them writes it. They wait for data that they really share.',
        who,
        members,
      );
    case 'not-known':
      return cannotTell(advice)
        ? t('Threads wait for each other at {0}{1}.', who, members)
        : t('Threads wait for each other at {0}{1}, in part for data that they do not use.', who, members);
  }
}

/** "'lock' protects 'head' and 'tail'." of each lock; empty where none is known. */
export function lockSentences({ locks }: Pick<Advice, 'locks'>): string {
  return locks
    .map(({ name, data }) =>
      data.length === 0
        ? t('{0} is a lock; what it protects is not known.', named(name))
        : t('{0} is a lock; threads use {1} only while they hold it.', named(name), names(data)),
    )
    .join(' ');
}

/** Each thread uses several elements, one after the other. */
function isInRows(elementsInRow: Advice['elementsInRow']): boolean {
  return (elementsInRow ?? 0) > 1;
}

function unrelated({ subject, way, change, elementsInRow }: Advice): string {
  const wait = t('Each thread waits for writes to data that it does not use.');
  const who = subjectName(subject);
  if (change?.kind === 'align-variables' && change.variables.length > 1)
    return t(
      'The variables {0} belong to different threads and lie on one cache line. {1}',
      names(change.variables.map(({ name }) => name)),
      wait,
    );
  if (isInRows(elementsInRow))
    return t('Threads use elements of {0} in rows, and rows of different threads share cache lines. {1}', arrayName(subject), wait);
  if (way === 'stride')
    return t('Several elements of {0} lie on one cache line, and different threads use them. {1}', arrayName(subject), wait);
  if (way === 'allocate') return t('Several objects of {0} lie on one cache line, and different threads use them. {1}', who, wait);
  if (change?.kind === 'members' || change?.kind === 'split-members')
    return t('Members of {0}{1} that different threads use lie on one cache line. {2}', who, memberNames(subject.members), wait);
  if (change?.kind === 'align-type')
    return t(
      'Several objects of {0} lie on one cache line, and different threads use them. {1}',
      named(typeLabel(change.type.name, subject.object)),
      wait,
    );
  return t('Data of different threads lies on one cache line at {0}{1}. {2}', who, memberNames(subject.members), wait);
}

/** What to do: a sentence, and lines that go under it as they are. */
export function doText(advice: Advice): { sentence: string; lines: string[] } {
  const { subject, way, why, change } = advice;
  const language = languageOf(advice);
  const alignment = alignmentOf(advice);
  const type = named(typeLabel(change !== null && 'type' in change ? change.type.name : subject.type, subject.object) || subject.object);
  const only = (sentence: string): { sentence: string; lines: string[] } => ({ sentence, lines: [] });
  if (change?.kind === 'members') {
    const order = isReordered(change) ? t('Put the members in this order') : t('Keep the order of the members');
    const lines = groupsOf(change).map((group) => `- ${shortList(group)}`);
    return { sentence: t('{0}, each group from the start of a cache line: {1}.', order, startedLine(language, alignment)), lines };
  }
  switch (way) {
    case 'align':
    case 'pad':
      if (change?.kind === 'align-variables')
        return only(
          t(
            'Give each a cache line of its own: {0}.',
            alignedVariables(
              language,
              change.variables.map(({ name }) => name),
              alignment,
            ),
          ),
        );
      return only(t('Give each object cache lines of its own: {0}.', alignedType(language, type, alignment)));
    case 'reorder':
      return only(t('Put the members of {0} that are used alike together, and {1}.', type, startedLine(language, alignment)));
    case 'split':
      return splitText(change?.kind === 'split-members' ? partsOf(change) : [subject.members], type);
    case 'stride':
      return only(strideSentence(advice, language, alignment));
    case 'allocate': {
      const where = change?.kind === 'allocate' && change.function !== '' ? t(' that {0} allocates', named(change.function)) : '';
      return only(t('Give each block{0} cache lines of its own: {1}.', where, alignedBlocks(language, alignment)));
    }
    case 'per-thread':
      return {
        sentence: t('Let each thread write its own copy, and add up the copies when you read them:'),
        lines: perThreadSketch(language, alignment),
      };
    case 'none':
      if (why === 'lock-with-own-data' || (why === 'true-sharing' && isLock(advice)))
        return only(
          t('Moving data apart does not help. Take the lock less often or for a shorter time, or use a lock for each part of the data.'),
        );
      if (why === 'not-known')
        return only(cannotTell(advice) ? '' : t('No layout that was tried ends a tenth of the waiting. What helps is {0}.', LESS_OFTEN));
      return only(t('Moving data apart does not help; {0} does.{1}', LESS_OFTEN, advice.twoSides ? ` ${PRIVATE_COPY}` : ''));
  }
}

function strideSentence({ subject, elementsInRow }: Advice, language: Language, alignment: number): string {
  const array = arrayName(subject);
  if (isInRows(elementsInRow))
    return t(
      "Start each thread's row of {0} on a cache line of its own: {1}, and make the distance between rows a multiple of {2} bytes; a thread uses up to {3} in a row. Or let each thread work on a copy of its own, and store it once at the end.",
      array,
      alignedRows(language, alignment),
      alignment,
      plural(elementsInRow ?? 0, 'element'),
    );
  const apart = t('Give each element of {0} a cache line of its own: {1}.', array, stridedElements(language, alignment));
  return elementsInRow === null
    ? apart
    : t('{0} Or let each thread, which uses one element, work on a local variable, and store it once at the end.', apart);
}

/** Threads wait at a lock: at a member that the engine saw to be one, or at an object of a library's type of locks. */
function isLock({ locks, subject }: Advice): boolean {
  const isAt = (name: string): boolean => subject.members.some((member) => member === name || member.startsWith(`${name}.`));
  return isLockType(subject.type) || locks.some(({ name }) => isAt(name));
}

/** The members of each part, by name. */
function partsOf({ type, parts }: SplitChange): string[][] {
  return parts.map(({ members }) => members.map((member) => type.members[member]?.name ?? ''));
}

function splitText(parts: readonly string[][], type: string): { sentence: string; lines: string[] } {
  const why = t('Padded objects would no longer fit the first-level cache.');
  const [first = [], ...others] = parts;
  if (others.length === 0)
    return {
      sentence: t(
        'Move {0} out of {1} into an array of its own that starts a cache line and has one element for each object. {2}',
        names(first),
        type,
        why,
      ),
      lines: [],
    };
  return {
    sentence: t(
      'Move these members out of {0}, each group into an array of its own that starts a cache line and has one element for each object. {1}',
      type,
      why,
    ),
    lines: parts.map((part) => `- ${shortList(part)}`),
  };
}

function shortList(group: readonly string[]): string {
  const shown = group.length > MAX_GROUP_NAMES + 1 ? group.slice(0, MAX_GROUP_NAMES) : group;
  const more = group.length - shown.length;
  return [...shown.map(printable), ...(more > 0 ? [t('and {0} more', count(more))] : [])].join(', ');
}

const GROWING: Record<NonNullable<Advice['change']>['kind'], string> = {
  members: t('Each object'),
  'split-members': t('Each object'),
  'align-type': t('Each object'),
  'align-variables': t('The variables'),
  allocate: t('Each block'),
};

/** What the change costs; empty where nothing is to be changed. */
export function costSentences({ cost, way, change, elementsInRow }: Advice): string {
  if (way === 'none') return '';
  const { bytesPerInstance: each, bytesTotal: total, readerLines } = cost;
  const subject =
    change === null
      ? way === 'stride'
        ? isInRows(elementsInRow)
          ? t('Each row')
          : t('Each element')
        : way === 'allocate'
          ? t('Each block')
          : t('Each object')
      : GROWING[change.kind];
  const all =
    total === null
      ? t('; how many there are is not known')
      : total === each
        ? ''
        : t('; those seen here grow by {0} in total', plural(total, 'byte'));
  const memory =
    way === 'per-thread'
      ? t('A copy for each thread seen here takes {0}.', plural(each, 'byte'))
      : each === 0
        ? t('It takes no more memory.')
        : change?.kind === 'align-variables'
          ? t('{0} take up to {1} more{2}.', subject, plural(each, 'byte'), all)
          : t('{0} grows by {1}{2}.', subject, plural(each, 'byte'), all);
  const reader =
    readerLines.before === readerLines.after
      ? ''
      : t('Code that uses all of it touches {0} instead of {1}.', plural(readerLines.after, 'cache line'), count(readerLines.before));
  const abi = cost.abi ? t('Code outside this binary may rely on the layout (ABI): rebuild everything that uses it.') : '';
  return [memory, reader, abi].filter((text) => text !== '').join(' ');
}

/** "2.1", "0.97", "1,667". */
export function factor(value: number): string {
  return value < 10 ? String(Number(value.toFixed(2))) : count(Math.round(value));
}

/** Of the waiting at a subject: less true sharing is not spoken of. */
const WORTH_SAYING = 0.01;

/** What the change gains on the machine of the recording, and how far that is known; empty where nothing is to be changed. */
export function gainSentences({ way, predicted }: Advice): string {
  if (way === 'none') return '';
  const { contendedLeft, trulyLeft, excessCycles } = predicted;
  const truly = trulyLeft < WORTH_SAYING ? '' : t('; {0} is true sharing, which no layout ends', percent(trulyLeft));
  const left = t('{0} of the waiting here remains after the change{1}.', contendedLeft < 0.0005 ? 'None' : percent(contendedLeft), truly);
  const cycles = excessCycles === null ? '' : t('The change saves {0} of the cycles of all sampled loads.', percent(excessCycles));
  return [left, cycles, speedupSentence(predicted)].filter((text) => text !== '').join(' ');
}

/** " with 2 CPUs": the machine that gains and bounds were measured on; empty: the recording does not say. */
function onMachine({ cpus }: Advice['predicted']): string {
  return cpus === null ? '' : t(' with {0}', plural(cpus, 'CPU'));
}

function speedupSentence(predicted: Advice['predicted']): string {
  const { speedup, mostSpeedup, basis } = predicted;
  const from = basis === '' ? '' : ` (${printable(basis)})`;
  const on = onMachine(predicted);
  if (speedup !== null) {
    const { low, mid, high } = speedup;
    if (isBound(basis)) {
      const range = factor(low) === factor(1) ? t('at most {0}', factor(high)) : t('between {0} and {1}', factor(low), factor(high));
      return t(
        'Predicted: the program runs {0} times as fast{1}{2}; a CPU works on while plain loads and stores wait, so only bounds are known.',
        range,
        on,
        from,
      );
    }
    const bounds = factor(low) === factor(high) ? '' : t(', between {0} and {1}', factor(low), factor(high));
    return t('Predicted: the program runs {0} times as fast{1}{2}{3}.', factor(mid), on, bounds, from);
  }
  const most = mostSpeedup > 1 ? t('; it runs at most {0} times as fast{1}', factor(mostSpeedup), on) : '';
  const next = basis.endsWith('not calibrated')
    ? t(' Run `cacheline doctor --calibrate` on the recording machine to measure what contention costs there, then record again.')
    : '';
  return t('This evidence{0} cannot tell how much faster the program gets{1}.{2}', from, most, next);
}

/** Plain accesses dominate, so that only the bounds of a speedup are known. */
export function isBound(basis: string): boolean {
  return basis.endsWith(', bound');
}

/** "(predicted 2.1x)" behind the title of an action; empty where nothing is predicted. */
function predictedText({ predicted: { speedup, basis } }: Pick<Advice, 'predicted'>): string {
  if (speedup === null) return '';
  return isBound(basis) ? t(' (predicted up to {0}x)', speedup.high.toFixed(1)) : t(' (predicted {0}x)', speedup.mid.toFixed(1));
}

/** "Give 'ticks' a cache line of its own (predicted 2.1x)": what applying the edit does, and gains. */
export function actionTitle(advice: Advice): string {
  return `${actionText(advice)}${predictedText(advice)}`;
}

/** "Give 'ticks' a cache line of its own": what applying the edit does. */
export function actionText({ subject, change, way }: Advice): string {
  const own = (of: readonly string[]): string =>
    of.length === 1 ? t('Give {0} a cache line of its own', named(of[0] ?? '')) : t('Give {0} cache lines of their own', names(of));
  switch (change?.kind) {
    case 'members': {
      const groups = groupsOf(change);
      const alone = groups.flatMap(([first, ...others]) => (first !== undefined && others.length === 0 ? [first] : []));
      const wanted = alone.filter((name) => subject.members.includes(name));
      if (wanted.length > 0) return own(wanted);
      return t(
        'Split the members of {0} over cache lines, starting at {1}',
        named(typeLabel(change.type.name, subject.object)),
        enumerate(groups.slice(1, MAX_NAMES).map(([first = '']) => named(first))),
      );
    }
    case 'split-members':
      return t('Move {0} out of {1}', names(partsOf(change).flat()), named(typeLabel(change.type.name, subject.object)));
    case 'align-type':
      return t('Give each {0} cache lines of its own', named(typeLabel(change.type.name, subject.object)));
    case 'align-variables':
      return own(change.variables.map(({ name }) => name));
    case 'allocate':
      return t('Give each block of {0} cache lines of its own', subjectName(subject));
    case undefined:
      return way === 'per-thread'
        ? t('Give each thread a copy of {0}', subjectName(subject))
        : t('Change the layout of {0}', subjectName(subject));
  }
}

/** Why there is no edit where words alone say what to do; empty where the change can be made by one. */
export function noChangeReason({ way, change, subject, allocation, language }: Advice): string {
  if (change !== null) return '';
  switch (way) {
    case 'none':
      return t('There is nothing to edit: no other layout ends this waiting.');
    case 'stride':
      return [
        t(
          'All code that uses the elements has to change with their type, or multiply its index. An edit of one place cannot do that: make the change by hand.',
        ),
        ...(allocation !== null
          ? [t('The array is allocated in {0} ({1}).', named(allocation.function), shortPlace(allocation))]
          : subject.object.endsWith('[]') && language !== 'go'
            ? [t('If a call allocates the array, `cacheline record --heap` tells which one.')]
            : []),
      ].join(' ');
    case 'allocate':
      return t('It is not known where these objects are allocated (record with --heap), or they lie on stacks: make the change by hand.');
    case 'per-thread':
    case 'split':
      return t('The code that uses the data has to change, too, and an edit of one place cannot do that: make the change by hand.');
    case 'align':
    case 'pad':
    case 'reorder':
      return t('It is not known where this is defined: build with -g and record again, or make the change by hand.');
  }
}

/** Why no edit is made of a type that a library defines, though in a header that programs compile; empty of others. */
export function ownerText({ change }: Advice): string {
  if (change === null || !('type' in change) || !isForeign(change.type.definition)) return '';
  const { name, definition } = change.type;
  return t('A library owns the type {0}, in {1}: change it there, or use a copy of it.', named(name), printable(definition.file));
}

/** Where an object lies decides whether its members share a line: a paragraph. */
export function latentSentences({ subject, placements }: Latent): string {
  return t(
    '{0} An allocator or a linker decides that, and may decide otherwise in another build or run. To depend on neither, align the object to {1} bytes and separate the members.',
    sharingSentence(subject, placements),
    smallestOf(placements),
  );
}

/** The waiting is luck of placement; empty: it is not. */
export function luckSentences({ subject, placements }: Advice): string {
  if (placements.length === 0) return '';
  return t(
    'Luck of placement: {0} An allocator or a linker decides that, so another build or run may wait less, or more, without any change.',
    sharingSentence(subject, placements),
  );
}

function smallestOf(placements: readonly Placement[]): number {
  return Math.min(...placements.map(({ lineSize }) => lineSize));
}

/** Which members share a line with which placements, and that with others they do not. */
function sharingSentence(subject: Subject, placements: readonly Placement[]): string {
  const pairs = new Map(placements.flatMap(({ pairs: list }) => list).map((pair) => [pair.join('\0'), pair] as const));
  const who = subjectName(subject);
  const [only] = [...pairs.values()];
  const what =
    pairs.size === 1 && only !== undefined
      ? enumerate(only.map((member) => named(`${subject.object || subject.type}${subject.object || subject.type ? '.' : ''}${member}`)))
      : t('members of {0} that threads use differently{1}', who, memberNames(subject.members));
  const sizes = [...new Set(placements.map(({ lineSize }) => lineSize))].sort((a, b) => a - b);
  const smallest = smallestOf(placements);
  const cases = sizes.map((lineSize) => {
    const offsets = [...new Set(placements.filter((one) => one.lineSize === lineSize).map(({ baseOffset }) => baseOffset))].sort(
      (a, b) => a - b,
    );
    const line = lineSize === smallest ? t('a cache line of {0} bytes', lineSize) : t('a pair of lines of {0} bytes', lineSize);
    // Placements are tried at each 16 bytes, or at each multiple of a larger alignment, which is not told.
    const isAll = offsets.some((offset) => offset % (2 * LEAST_ALIGNMENT) !== 0);
    const times = isAll ? t(' with {0} of {1} placements', count(offsets.length), count(lineSize / LEAST_ALIGNMENT)) : '';
    if (offsets.length > MAX_OFFSETS) return `${line}${times || t(' with {0} placements', count(offsets.length))}`;
    const where = alternatives(offsets.map(count));
    return t('{0}{1} where the object begins {2} bytes after the start of one', line, times === '' ? '' : `${times},`, where);
  });
  return t(
    '{0}{1} share {2}; elsewhere they do not.',
    what.charAt(0).toUpperCase(),
    what.slice(1),
    cases.reduce((all, one) => t('{0}, and {1}', all, one)),
  );
}
