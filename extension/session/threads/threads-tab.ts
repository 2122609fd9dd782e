// What the tab "Threads" of the panel shows: the numbers and words of `cacheline threads`.
import { t } from '../../protocol/l10n';
import { LANE_STATES, type LaneState, type TabRow, type TabRows, type TabThreads } from '../../protocol/panel-tabs';
import type { RecordingMeta } from '../../protocol/recording';
import type { ThreadLane, ThreadList, ThreadsDocument } from '../../protocol/threads';
import { sentence } from '../../protocol/words';
import { plural } from '../text/terminal-text';
import { duration } from './duration';
import { imbalanceOf } from './imbalance';
import { cpuList, nodesByCpu } from '../where/where-values';
import { CELLS } from './lanes';
import {
  cpuColumns,
  factsOf,
  imbalanceSentences,
  lockSentences,
  MOST_ROWS,
  moreThreadsText,
  NOT_KNOWN,
  noteSentences,
  threadColumns,
  threadLabel,
  whyNone,
  type NumberColumn,
} from './thread-rows';

type RecordedMachine = Pick<RecordingMeta, 'topology'>;

/** Threads of the table. */
const MOST_LISTED = 5000;

export function threadsTab(list: ThreadList, { recording }: { recording: RecordedMachine | null }): TabThreads {
  const document: ThreadsDocument = { ...list, imbalance: imbalanceOf(list) };
  const { sentences, rest } = imbalanceSentences(document);
  const shown = list.threads.slice(0, MOST_LISTED);
  const left = list.threads.slice(MOST_LISTED);
  const partNs = list.spanNs / list.bins;
  const lanes = shown.slice(0, MOST_ROWS).flatMap((thread) => {
    const { lane } = thread;
    if (lane === null || partNs === 0) return [];
    return [{ name: threadLabel(thread), states: statesOf(lane, partNs), moves: lane.migrations ?? [] }];
  });
  const nodeOf = nodesOfCpus(recording);
  const isThere = (state: LaneState): boolean => lanes.some(({ states }) => states[state].some((share) => share > 0));
  return {
    kind: 'threads',
    facts: factsOf(document),
    advice: list.basis === 'switches' ? '' : howToKnow(recording),
    sentences: [
      ...sentences,
      ...(rest > 0 ? [t('{0}: cacheline threads --format json has them.', plural(rest, 'more process', 'more processes'))] : []),
      ...lockSentences(document),
    ],
    lanes,
    span: duration(list.spanNs),
    legend: [
      ...LANE_STATES.filter(isThere).map((state) => ({ state, words: CELLS[state].words })),
      ...(lanes.some(({ moves }) => moves.some((times) => times > 0)) ? [{ state: 'moves' as const, words: t('put on another CPU') }] : []),
    ],
    nodes: partNs === 0 ? [] : nodeLanes(list, nodeOf, partNs),
    threads: {
      ...rowsOf(threadColumns(document), shown, { title: t('thread'), meaning: t('Its number and name'), cell: threadLabel }, [
        {
          title: t('CPUs'),
          meaning: t('Where it ran'),
          cell: ({ cpus }) => (cpus.length === 0 ? NOT_KNOWN : cpuList(cpus.map(({ cpu }) => cpu))),
        },
        { title: t('nodes'), meaning: t('NUMA nodes of these CPUs'), cell: ({ cpus }) => nodeNames(cpus, nodeOf) },
      ]),
      empty: whyNone(document),
      more: left.length === 0 ? '' : t('{0}; cacheline threads --format json has them.', moreThreadsText(left)),
    },
    cpus: {
      ...rowsOf(cpuColumns(document), list.cpus, undefined, [
        { title: t('node'), meaning: t('Its NUMA node'), cell: (cpu) => nodeNames([cpu], nodeOf) },
      ]),
      empty: t('The recording names no CPUs.'),
      more: '',
    },
    notes: [
      ...noteSentences(document),
      ...(list.threads.length > MOST_ROWS ? [t('Only the {0} threads that ran longest are drawn.', MOST_ROWS)] : []),
      ...notKnown(list, nodeOf),
    ],
    warnings: list.warnings.map(sentence),
  };
}

/** By CPU; empty: the recording does not say. */
function nodesOfCpus(recording: RecordedMachine | null): ReadonlyMap<number, number> {
  return nodesByCpu(recording?.topology ?? { nodes: [] });
}

/** "0", "0,1". */
function nodeNames(cpus: readonly { cpu: number }[], nodeOf: ReadonlyMap<number, number>): string {
  const nodes = new Set(cpus.map(({ cpu }) => nodeOf.get(cpu)));
  const known = [...nodes].filter((node) => node !== undefined).sort((a, b) => a - b);
  return known.length === 0 || nodes.has(undefined) ? NOT_KNOWN : cpuList(known);
}

/** CPUs by number below their nodes; last those whose node is not known. */
function nodeLanes({ cpus }: ThreadList, nodeOf: ReadonlyMap<number, number>, partNs: number): TabThreads['nodes'] {
  const byNode = new Map<number, TabThreads['nodes'][number]>();
  for (const { cpu, running } of cpus) {
    const node = nodeOf.get(cpu) ?? Infinity;
    const lanes = byNode.get(node) ?? {
      name: node === Infinity ? t('CPUs of an unknown NUMA node') : t('CPUs of NUMA node {0}', node),
      cpus: [],
    };
    byNode.set(node, lanes);
    lanes.cpus.push({ name: t('CPU {0}', cpu), running: running.map((ns) => Number(Math.min(1, ns / partNs).toFixed(4))) });
  }
  return [...byNode].sort(([a], [b]) => a - b).map(([, lanes]) => lanes);
}

/** Why nodes and moves are not known. */
function notKnown({ cpus, threads, basis }: ThreadList, nodeOf: ReadonlyMap<number, number>): string[] {
  return [
    ...(cpus.some(({ cpu }) => !nodeOf.has(cpu))
      ? [t('NUMA nodes are unknown: only recordings of `cacheline record` have the topology of their machine.')]
      : []),
    ...(threads.length > 0 && threads.every(({ migrations }) => migrations === null)
      ? [
          basis === 'samples'
            ? t('When threads were put on other CPUs is unknown: the recording has no context switches.')
            : t('When threads were put on other CPUs is unknown: the recording names no CPUs.'),
        ]
      : []),
  ];
}

function howToKnow(recording: RecordedMachine | null): string {
  return recording
    ? t('To know when threads were blocked or had no CPU, record with `cacheline record` without `--no-switches`, and without the agent.')
    : t('To know when threads were blocked or had no CPU, record with `cacheline record`, or with `perf record --switch-events`.');
}

/** Of a part of the time, the share in each state; contended time is estimated, and counts up to the running time. */
function statesOf(lane: ThreadLane, partNs: number): Record<LaneState, number[]> {
  const share = (ns: number): number => Number(Math.min(1, ns / partNs).toFixed(4));
  const of = (state: LaneState): number[] =>
    lane.running.map((running, part) => {
      const contended = Math.min(running, lane.contended?.[part] ?? 0);
      if (state === 'contended') return share(contended);
      return share(state === 'running' ? running - contended : (lane[state]?.[part] ?? 0));
    });
  return { contended: of('contended'), running: of('running'), runnable: of('runnable'), blocked: of('blocked'), unknown: of('unknown') };
}

function rowsOf<Row>(
  columns: readonly NumberColumn<Row>[],
  rows: readonly Row[],
  name?: { title: string; meaning: string; cell: (row: Row) => string },
  texts: readonly { title: string; meaning: string; cell: (row: Row) => string }[] = [],
): Pick<TabRows, 'columns' | 'bars' | 'rows'> {
  return {
    columns: [
      ...(name ? [{ title: name.title, meaning: name.meaning, number: false }] : []),
      ...columns.map(({ title, meaning }) => ({ title, meaning, number: true })),
      ...texts.map(({ title, meaning }) => ({ title, meaning, number: false })),
    ],
    bars: -1,
    rows: rows.map((row): TabRow => {
      const names = name ? [name.cell(row)] : [];
      const last = texts.map(({ cell }) => cell(row));
      return {
        cells: [...names, ...columns.map(({ cell }) => cell(row)), ...last],
        values: [...names, ...columns.map(({ value }) => value(row)), ...last],
        share: 0,
        place: null,
        rows: [],
      };
    }),
  };
}
