// Advice made by hand, of every kind.
import { extname } from 'node:path';
import type { Advice, AdviceList, Change, Latent, SourceLanguage, TypeReference } from '../../extension/protocol/advice';

const LANGUAGES: ReadonlyMap<string, SourceLanguage> = new Map([
  ['.c', 'c'],
  ['.h', 'c++'],
  ['.cc', 'c++'],
  ['.cpp', 'c++'],
  ['.rs', 'rust'],
  ['.go', 'go'],
]);

/** "name type offset" of members of 8 bytes. */
export function typeReference(name: string, file: string, line: number, members: readonly string[]): TypeReference {
  return {
    name,
    binary: '/code/build/server',
    size: 8 * members.length,
    align: 8,
    definition: { file, line },
    members: members.map((member, at) => ({ name: member, type: 'long', offset: 8 * at, size: 8, bitSize: null, line: line + 1 + at })),
  };
}

/** @param groups indices of members, in their new order; each group but the first starts a line */
export function membersChange(type: TypeReference, groups: readonly (readonly number[])[]): Extract<Change, { kind: 'members' }> {
  const order = groups.flatMap((group, at) => group.map((member, first) => ({ member, startsLine: at > 0 && first === 0 })));
  return { kind: 'members', type, alignment: 64, order };
}

/** By default its language is that of the file that defines it. */
export function advice(given: Partial<Advice> = {}): Advice {
  const { definition = { file: '/code/src/worker.cpp', line: 12 } } = given;
  return {
    subject: { type: 'Worker', object: 'workers', members: ['ticks'] },
    verdict: 'false sharing',
    sure: true,
    falseShare: { value: 1, low: 0.9, high: 1 },
    why: 'unrelated-owners',
    twoSides: false,
    locks: [],
    placements: [],
    way: 'align',
    confidence: 0.9,
    definition,
    allocation: null,
    elementsInRow: null,
    language: LANGUAGES.get(extname(definition?.file ?? '')) ?? null,
    contended: 400,
    programShare: 0.4,
    cost: { bytesPerInstance: 56, bytesTotal: 448, abi: false, readerLines: { before: 1, after: 8 } },
    predicted: {
      speedup: { low: 1.8, mid: 2.1, high: 2.4 },
      contendedLeft: 0,
      trulyLeft: 0,
      excessCycles: null,
      mostSpeedup: 2.4,
      threadsOnly: false,
      cpus: 2,
      basis: 'clock, calibrated',
    },
    change: { kind: 'align-type', type: typeReference('Worker', '/code/src/worker.cpp', 12, ['ticks']), alignment: 64 },
    edit: { patch: '--- a/src/worker.cpp\n', reason: null },
    ...given,
  };
}

export function latent(given: Partial<Latent> = {}): Latent {
  return {
    subject: { type: 'Clock', object: '', members: ['now', 'limit'] },
    placements: [0, 16, 32].map((baseOffset) => ({ baseOffset, lineSize: 64, pairs: [['limit', 'now']] })),
    ...given,
  };
}

export function adviceList(list: readonly Advice[], more: Partial<AdviceList> = {}): AdviceList {
  return {
    schema: 'cacheline-advice/1',
    evidence: ['clock'],
    blind: null,
    advice: [...list],
    latent: [],
    warnings: [],
    recording: null,
    ...more,
  };
}

const NO_PREDICTION = {
  speedup: null,
  contendedLeft: 0.787,
  trulyLeft: 0.75,
  excessCycles: null,
  mostSpeedup: 1,
  threadsOnly: false,
  cpus: 2,
  basis: 'clock, not calibrated',
};
const queue = typeReference('Queue', '/code/src/queue.h', 30, ['capacity', 'head', 'mask', 'tail']);
const descriptor = typeReference('descriptor', '/code/src/buffer.c', 40, ['tag', 'buffer', 'state', 'content_lock']);

/** Changes with and without edits. */
export const changes: AdviceList = adviceList(
  [
    advice(),
    advice({
      subject: { type: 'pool::Queue', object: 'pool::queue', members: ['head', 'tail'] },
      way: 'reorder',
      why: 'mixed-use',
      verdict: 'mixed',
      definition: queue.definition,
      contended: 200,
      programShare: 0.2,
      cost: { bytesPerInstance: 160, bytesTotal: 160, abi: true, readerLines: { before: 1, after: 3 } },
      predicted: { ...NO_PREDICTION, mostSpeedup: 1.25 },
      change: membersChange({ ...queue, name: 'pool::Queue' }, [[0, 2], [1], [3]]),
      edit: { patch: null, reason: '/code/src/queue.h:50 has initialisers by position: change them, too.' },
    }),
    advice({
      subject: { type: 'descriptor', object: 'descriptor', members: ['state', 'tag'] },
      way: 'pad',
      why: 'mixed-use',
      locks: [{ name: 'content_lock', data: ['state'] }],
      definition: descriptor.definition,
      contended: 100,
      programShare: 0.1,
      predicted: NO_PREDICTION,
      change: membersChange(descriptor, [
        [0, 1],
        [2, 3],
      ]),
    }),
    advice({
      subject: { type: 'atomic_long', object: 'messages_written', members: [] },
      definition: { file: '/code/src/stats.c', line: 7 },
      contended: 80,
      programShare: 0.08,
      cost: { bytesPerInstance: 112, bytesTotal: 112, abi: false, readerLines: { before: 1, after: 2 } },
      predicted: { ...NO_PREDICTION, excessCycles: 0.31, contendedLeft: 0, trulyLeft: 0, basis: 'hitm, latency' },
      change: {
        kind: 'align-variables',
        binary: '/code/build/server',
        variables: [7, 8].map((line) => ({
          name: line === 7 ? 'messages_written' : 'messages_read',
          type: 'atomic_long',
          size: 8,
          definition: { file: '/code/src/stats.c', line },
        })),
        alignment: 64,
      },
    }),
  ],
  { latent: [latent()], warnings: ['What contention costs on that machine is not known.'] },
);

/** Words alone. */
export const words: AdviceList = adviceList(
  [
    advice({
      subject: { type: 'long', object: 'counters', members: [] },
      way: 'stride',
      definition: { file: '/code/src/count.c', line: 3 },
      cost: { bytesPerInstance: 56, bytesTotal: null, abi: false, readerLines: { before: 1, after: 1 } },
      change: null,
      edit: { patch: null, reason: 'All uses of the elements change with their type: make the change by hand.' },
    }),
    advice({
      subject: { type: 'session', object: '', members: ['requests'] },
      way: 'allocate',
      definition: { file: '/code/src/session.c', line: 10 },
      cost: { bytesPerInstance: 40, bytesTotal: 80, abi: false, readerLines: { before: 1, after: 1 } },
      change: {
        kind: 'allocate',
        binary: '/code/build/server',
        call: { file: '/code/src/session.c', line: 44 },
        function: 'open',
        objectType: 'session',
        files: [],
        alignment: 64,
      },
      edit: { patch: null, reason: '/code/src/session.c:44 calls calloc(), which aligns to nothing: call aligned_alloc() and memset().' },
    }),
    advice({
      subject: { type: 'ring', object: 'ring', members: ['head', 'tail'] },
      twoSides: true,
      verdict: 'true sharing',
      why: 'true-sharing',
      way: 'none',
      definition: { file: '/code/src/ring.c', line: 12 },
      change: null,
      edit: { patch: null, reason: 'There is nothing to edit: no other layout makes the program faster.' },
    }),
    advice({
      subject: { type: 'state', object: 'state', members: ['lock', 'total'] },
      verdict: 'true sharing',
      why: 'lock-with-own-data',
      locks: [{ name: 'lock', data: ['total'] }],
      way: 'none',
      definition: null,
      change: null,
      edit: { patch: null, reason: 'There is nothing to edit: no other layout makes the program faster.' },
    }),
    advice({
      subject: { type: 'app::Slot', object: '', members: [] },
      way: 'align',
      why: 'alignment',
      definition: { file: '/code/src/slot.rs', line: 5 },
      change: { kind: 'align-type', type: typeReference('app::Slot', '/code/src/slot.rs', 5, ['count']), alignment: 128 },
      edit: { patch: null, reason: '/code/src/slot.rs is Rust, which is not edited.' },
    }),
    advice({
      subject: { type: 'main.shard', object: 'main.shards', members: [] },
      way: 'stride',
      definition: { file: '/code/src/main.go', line: 9 },
      change: null,
      edit: { patch: null, reason: 'All uses of the elements change with their type: make the change by hand.' },
    }),
    advice({
      subject: { type: 'Clock', object: '', members: ['now', 'limit'] },
      placements: latent().placements,
      edit: { patch: null, reason: 'The source is gone.' },
    }),
  ],
  { blind: { share: 0.5, reasons: [{ reason: 'lost', what: 'samples that were lost while recording', share: 0.5 }] } },
);

/** Names that would drive a terminal, hide text or make links. */
export const hostile: AdviceList = adviceList(
  [
    advice({
      subject: { type: '\u001b[31mT\n[x](command:evil)', object: 'a\u202eb `code', members: ['\u0007m', 'very'.repeat(60)] },
      definition: { file: '/code/src/\u001b]0;x\u0007.c', line: 1 },
      change: membersChange(typeReference('T\u001b[0m', '/code/src/\u001b]0;x\u0007.c', 1, ['a\nb', '\u001b[2J', 'c$(id)']), [
        [0],
        [2],
        [1],
      ]),
      edit: { patch: null, reason: 'No \u001b[1mreason\u0007.' },
    }),
    advice({ subject: { type: '', object: '', members: [] }, why: 'not-known', way: 'none', change: null, definition: null }),
    advice({ subject: { type: 'T', object: '', members: Array.from({ length: 40 }, (_, at) => `m${at}`) }, why: 'adjacent' }),
  ],
  { latent: [latent({ subject: { type: '\u001b[5mL', object: '', members: ['\u0000', 'b'] } })], warnings: ['\u001b[2Jwarned'] },
);
