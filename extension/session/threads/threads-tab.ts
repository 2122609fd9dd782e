// What the tab "Threads" of the panel shows: the numbers and words of `cacheline threads`.
import { LANE_STATES, type LaneState, type TabRow, type TabRows, type TabThreads } from '../../protocol/panel-tabs';
import type { Report } from '../../protocol/report';
import type { ThreadLane, ThreadList, ThreadsDocument } from '../../protocol/threads';
import { sentence } from '../../protocol/words';
import { plural } from '../text/terminal-text';
import { imbalanceOf } from './imbalance';
import { CELLS } from './lanes';
import {
  cpuColumns,
  factsOf,
  imbalanceSentences,
  lockSentences,
  MOST_ROWS,
  moreThreadsText,
  noteSentences,
  threadColumns,
  threadLabel,
  whyNone,
  type NumberColumn,
} from './thread-rows';

export function threadsTab(list: ThreadList, { recording }: Pick<Report, 'recording'>): TabThreads {
  const document: ThreadsDocument = { ...list, imbalance: imbalanceOf(list) };
  const { sentences, rest } = imbalanceSentences(document);
  const shown = list.threads.slice(0, MOST_ROWS);
  const left = list.threads.slice(MOST_ROWS);
  const partNs = list.spanNs / list.bins;
  const lanes = shown.flatMap((thread) =>
    thread.lane === null || partNs === 0 ? [] : [{ name: threadLabel(thread), states: statesOf(thread.lane, partNs) }],
  );
  const isThere = (state: LaneState): boolean => lanes.some(({ states }) => states[state].some((share) => share > 0));
  return {
    kind: 'threads',
    facts: factsOf(document),
    advice: list.basis === 'switches' ? '' : howToKnow(recording),
    sentences: [
      ...sentences,
      ...(rest > 0 ? [`${plural(rest, 'more process', 'more processes')}: cacheline threads --format json has them.`] : []),
      ...lockSentences(document),
    ],
    lanes,
    legend: LANE_STATES.filter(isThere).map((state) => ({ state, words: CELLS[state].words })),
    threads: {
      ...rowsOf(threadColumns(document), shown, { title: 'thread', cell: threadLabel }),
      empty: whyNone(document),
      more: left.length === 0 ? '' : `${moreThreadsText(left)}; cacheline threads --format json has them.`,
    },
    cpus: {
      ...rowsOf(cpuColumns(document), list.cpus),
      empty: 'The recording names no CPUs.',
      more: '',
    },
    notes: noteSentences(document),
    warnings: list.warnings.map(sentence),
  };
}

function howToKnow(recording: Report['recording']): string {
  return recording
    ? 'To know when threads were blocked or had no CPU, record with `cacheline record` without `--no-switches`, and without the agent.'
    : 'To know when threads were blocked or had no CPU, record with `cacheline record`, or with `perf record --switch-events`.';
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
  name?: { title: string; cell: (row: Row) => string },
): Pick<TabRows, 'columns' | 'bars' | 'rows'> {
  return {
    columns: [
      ...(name ? [{ title: name.title, meaning: '', number: false }] : []),
      ...columns.map(({ title, meaning }) => ({ title, meaning, number: true })),
    ],
    bars: -1,
    rows: rows.map((row): TabRow => {
      const names = name ? [name.cell(row)] : [];
      return {
        cells: [...names, ...columns.map(({ cell }) => cell(row))],
        values: [...names, ...columns.map(({ value }) => value(row))],
        share: 0,
        place: null,
        rows: [],
      };
    }),
  };
}
