// The text of `cacheline where`: the machine, memory by node, threads by CPU and node over time, and what follows.
import type { MemoryKinds, Where, WhereThread } from '../../protocol/where';
import { percent, sentence, withFullStop } from '../../protocol/words';
import { byteSize, plural, PLAIN, printable, shortenEnd, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Column } from '../text/text-table';
import { wholePercent } from '../profile/heat';
import { topologyLines } from './topology-text';
import { descending, nodesByCpu, overTime, sum } from './where-values';

interface Layout {
  width: number;
  style: Style;
}

/** Threads in the table; JSON has all. */
const MOST_THREADS = 24;
const MOST_CPUS = 3;
/** Characters of a thread's time. */
const TIME_COLUMNS = 15;
const KINDS: readonly (keyof MemoryKinds)[] = ['huge', 'heap', 'stack', 'other'];

/** Lines joined by newlines, with one at the end; none is wider than `width` columns but for a long command to paste. */
export function whereText(where: Where, { width, style = PLAIN }: { width: number; style?: Style }): string {
  const layout = { width, style };
  const lines = [
    style.bold('Machine'),
    ...(where.machine === null ? ['  not known: the recording does not say'] : topologyLines(where.machine, layout)),
    '',
    style.bold(`Memory${subject(where)}`),
    ...memoryLines(where, layout),
    '',
    style.bold(
      where.seconds === 0 ? 'Threads' : `Threads, looked at ${plural(where.looks.threads, 'time')} in ${where.seconds.toFixed(1)} s`,
    ),
    ...threadLines(where, layout),
    '',
    style.bold('Conclusion'),
    ...wrap(printable(where.conclusion), width, '  '),
    // Not wrapped: it is to be pasted.
    ...(where.command === null ? [] : [`  ${printable(where.command)}`]),
    ...remoteLines(where, width),
    ...warningLines(where, layout),
  ];
  return `${lines.join('\n')}\n`;
}

function warningLines({ warnings }: Where, { width, style }: Layout): string[] {
  if (warnings.length === 0) return [];
  return ['', style.bold('Warnings'), ...warnings.flatMap((warning) => wrap(printable(sentence(warning)), width, '  '))];
}

function subject({ processes }: Where): string {
  const [first, ...others] = processes;
  if (first === undefined) return '';
  const more = others.length === 0 ? '' : ` and ${plural(others.length, 'process', 'processes')} that it started`;
  return printable(` of ${shortenEnd(first.name, 30)} (process ${first.pid})${more}`);
}

function memoryLines({ nodes, memoryReason }: Where, { width, style }: Layout): string[] {
  const why = memoryReason === null ? [] : wrap(printable(withFullStop(memoryReason)), width, '  ');
  const total = sum(nodes.map(({ bytes }) => bytes ?? 0));
  if (nodes.every(({ bytes }) => bytes === null)) return [...wrap('not known:', width, '  '), ...why];
  const columns: Column[] = ['node', ...KINDS, 'total', 'share'].map((title) => ({ title, align: 'right' }));
  const row = (label: string, kinds: (kind: keyof MemoryKinds) => number, bytes: number): { text: string }[] =>
    [label, ...KINDS.map((kind) => byteSize(kinds(kind))), byteSize(bytes), total > 0 ? percent(bytes / total) : '-'].map((text) => ({
      text,
    }));
  const rows = nodes.map(({ id, bytes, kinds }) => row(String(id), (kind) => kinds?.[kind] ?? 0, bytes ?? 0));
  if (nodes.length > 1) rows.push(row('all', (kind) => sum(nodes.map(({ kinds }) => kinds?.[kind] ?? 0)), total));
  return [...formatTwoRowTable(columns, [], rows, { width, indent: 2, style }), ...why];
}

function threadLines(where: Where, { width, style }: Layout): string[] {
  const { threads, unlisted, processes, timeline } = where;
  const nodes = where.machine?.nodes ?? [];
  const ran = threads.filter(({ cpuRunNs }) => Object.keys(cpuRunNs).length > 0);
  const still = threads.length - ran.length;
  const several = nodes.length > 1;
  const columns: Column[] = [
    { title: 'thread', align: 'right' },
    { title: 'name', align: 'left', shorten: shortenEnd },
    { title: 'ran', align: 'right' },
    ...(several ? nodes.slice(0, 4).map(({ id }) => ({ title: `node ${id}`, align: 'right' as const })) : []),
  ];
  const places: Column[] = [
    { title: 'CPUs', align: 'left' },
    ...(several && timeline !== null ? [{ title: 'over time', align: 'left' as const }] : []),
  ];
  const nodeOf = nodesByCpu({ nodes });
  const rows = ran.slice(0, MOST_THREADS).map((thread) => threadRow(thread, where, nodeOf));
  const shown = timeline === null ? null : Math.max(1, Math.ceil(timeline.memory.length / TIME_COLUMNS)) * timeline.binSeconds;
  const missed = sum(processes.map(({ missedNs }) => missedNs));
  const notes = [
    ...(ran.length > MOST_THREADS ? [`${plural(ran.length - MOST_THREADS, 'more thread')} ran less; JSON has all.`] : []),
    ...(unlisted !== null && unlisted.threads > 0
      ? [`${plural(unlisted.threads, 'thread')} that ended ran ${seconds(sum(Object.values(unlisted.runNs)))} together.`]
      : []),
    ...(still > 0 ? [`${plural(still, 'thread')} did not run.`] : []),
    ...(missed > 0 ? [`${seconds(missed)} of CPU time are missing: threads that ended before the next look.`] : []),
    ...(several && rows.length > 0 && shown !== null
      ? [`CPUs: the most used first. Over time: the node in each ${Number(shown.toPrecision(3))} s; "." means that it did not run.`]
      : []),
    ...(nodes.length > 4 ? ['The table has the first four nodes; JSON has all.'] : []),
  ];
  return [
    ...(threads.length === 0 && timeline === null ? ['  not known'] : []),
    ...(rows.length > 0 ? formatTwoRowTable(columns, places, rows, { width, indent: 2, style }) : []),
    ...notes.flatMap((note) => wrap(note, width, '  ')),
  ];
}

function threadRow(thread: WhereThread, { machine, timeline }: Where, nodeOf: ReadonlyMap<number, number>): { text: string }[] {
  const total = sum(Object.values(thread.cpuRunNs));
  const cpus = descending(thread.cpuRunNs);
  const nodes = machine?.nodes ?? [];
  const more = cpus.length > MOST_CPUS ? ` +${cpus.length - MOST_CPUS}` : '';
  const several = nodes.length > 1;
  const cells = [
    String(thread.tid),
    printable(thread.name),
    seconds(total),
    ...(several ? nodes.slice(0, 4).map(({ id }) => wholePercent((thread.runNs[id] ?? 0) / total)) : []),
    `${cpus
      .slice(0, MOST_CPUS)
      .map(({ id }) => id)
      .join(', ')}${more}`,
    ...(several && timeline !== null
      ? [
          overTime(thread, TIME_COLUMNS)
            .map((cpu) => (cpu === null ? '.' : nodeLetter(nodeOf.get(cpu))))
            .join(''),
        ]
      : []),
  ];
  return cells.map((text) => ({ text }));
}

/** One character: 0 to 9, then letters; "+" beyond. */
function nodeLetter(node: number | undefined): string {
  if (node === undefined) return '?';
  return node < 36 ? node.toString(36) : '+';
}

function seconds(ns: number): string {
  return `${(ns / 1e9).toFixed(2)} s`;
}

function remoteLines({ remoteShare, machine }: Where, width: number): string[] {
  if (remoteShare === null && machine?.nodes.length === 1) return [];
  const text =
    remoteShare === null
      ? 'It is not known how many accesses went to another node: only a memory PMU counts them (cacheline doctor says whether there is one).'
      : `Of the loads whose source is known, ${percent(remoteShare)} were answered by another node.`;
  return wrap(text, width, '  ');
}
