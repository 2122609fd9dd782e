// perf's "Shared Cache Line Distribution Pareto": for each line its counts, and the rows they come from as shares of them.
import type { Access, CacheLine, Display, Report } from '../protocol/report';
import { contendedLoads, displayOf, rangeList } from './c2c-facts';
import { countText, nodes, share, verdictText } from './c2c-lines';
import { addressOf, dataText } from './data-text';
import { GroupedTable, type Entry, type Field, type Group } from './grouped-table';
import { ownPlace, readablePath } from './source-path';
import { printable, shortenEnd, shortenMiddle, shortenStart, wrap, type Style } from './terminal-text';

export interface ParetoOptions {
  width: number;
  style: Style;
  /** Source paths below it are shown relative to it. */
  folder: string;
  /** 0: ids of the nodes; 1: with CPU counts and shares; 2: with CPU lists. */
  nodeInfo: 0 | 1 | 2;
  fullSymbols: boolean;
  source: boolean;
}

/** What of the table's columns depends on the rows' grouping: as perf, no code address where rows are not told apart by it. */
interface Shown {
  display: Display;
  pid: boolean;
  tid: boolean;
  code: boolean;
  binary: boolean;
  source: boolean;
}

const LEGEND = {
  hitm: 'mean cycles: of remote HITMs, of local HITMs, and of loads that are neither; load cycles: of all loads of the row',
  peer: 'mean cycles: of loads that a remote or a local peer answered, and of other loads; load cycles: of all loads of the row',
};

/** @param data what lies on each line, see dataOf() */
export function c2cPareto(report: Report, data: readonly string[], options: ParetoOptions): string[] {
  const keys = report.c2c?.coalesce ?? ['iaddr'];
  const shown: Shown = {
    display: displayOf(report),
    pid: keys.includes('pid'),
    tid: keys.includes('tid'),
    code: keys.includes('iaddr'),
    binary: keys.includes('iaddr') || keys.includes('dso'),
    source: keys.includes('iaddr') && options.source,
  };
  // The heads are wider than the rows' percentages only now and then; both decide the widths.
  const entries: Entry[] = [];
  const paths = new Map<string, string>();
  for (const [index, line] of report.lines.entries()) {
    entries.push({ cells: headCells(line, index, shown.display), texts: [] });
    for (const access of line.accesses) entries.push(rowEntry(access, line, shown, options, paths));
  }
  const table = new GroupedTable(groupsOf(shown), fieldsOf(shown, options), entries, options);
  const rule = `  ${'-'.repeat(Math.min(options.width, Math.max(table.numbersWidth, 72)) - 2)}`;
  const rows = [
    ...wrap(LEGEND[shown.display === 'peer' ? 'peer' : 'hitm'], options.width).map((row) => options.style.dim(row)),
    ...table.header(),
  ];
  let next = 0;
  for (const [index, line] of report.lines.entries()) {
    const head = entries[next++];
    const texts = headTexts(line, data[index] ?? '');
    rows.push(rule, ...table.headline(head?.cells ?? [], texts).map((row) => options.style.bold(row)), rule);
    for (const end = next + line.accesses.length; next < end; next++) {
      const entry = entries[next];
      if (entry !== undefined) table.add(entry, rows);
    }
  }
  return rows;
}

function groupsOf({ display, pid, tid, code }: Shown): Group[] {
  return [
    { title: '', columns: ['Num'] },
    { title: display === 'peer' ? 'Peer' : 'HITM', columns: display === 'peer' ? ['Rmt', 'Lcl'] : ['RmtHitm', 'LclHitm'] },
    { title: 'Store Refs', columns: ['L1 Hit', 'L1 Miss', 'N/A'] },
    { title: 'Data address', columns: ['Offset', 'Node', 'PA cnt'] },
    ...(pid ? [{ title: '', columns: ['Pid'] }] : []),
    ...(tid ? [{ title: '', columns: ['Tid'] }] : []),
    ...(code ? [{ title: '', columns: ['Code address'] }] : []),
    { title: 'mean cycles', columns: ['rmt', 'lcl', 'load'] },
    { title: 'load cycles', columns: ['p50', 'p95', 'max'] },
    { title: 'Total', columns: ['records', 'cpu cnt'] },
  ];
}

function fieldsOf({ display, tid, code, binary, source }: Shown, { nodeInfo, fullSymbols }: ParetoOptions): Field[] {
  const node = ['Node', `Node{cpus %${display === 'peer' ? 'peers' : 'hitms'} %stores}`, 'Node{cpu list}'][nodeInfo] ?? '';
  return [
    ...(tid ? [{ title: 'Command', shorten: shortenEnd }] : []),
    ...(code ? [fullSymbols ? { title: 'Symbol' } : { title: 'Symbol', shorten: shortenMiddle }] : []),
    ...(binary ? [{ title: 'Object', shorten: shortenMiddle }] : []),
    ...(source ? [{ title: 'Source:Line', shorten: shortenStart }] : []),
    { title: 'Data', shorten: shortenMiddle },
    { title: node },
  ];
}

function headCells(line: CacheLine, index: number, display: Display): string[] {
  const pair = display === 'peer' ? line.peer : line.hitm;
  return [
    String(index),
    ...[pair?.remote, pair?.local].map(countText),
    ...[line.stores.l1Hit, line.stores.l1Miss, line.stores.na].map(countText),
  ];
}

/** What identifies the line, what it is, and what lies on it. */
function headTexts(line: CacheLine, data: string): string[] {
  const file = line.fileOffset === undefined ? '' : ` at ${line.fileOffset}`;
  return [line.address, `${printable(line.space)}${file}`, verdictText(line), shortenMiddle(data, 70)];
}

/** @param paths of source files, as they are shown: filled here */
function rowEntry(access: Access, line: CacheLine, shown: Shown, options: ParetoOptions, paths: Map<string, string>): Entry {
  // There are very many of them: lists are filled, not put together from others.
  const cells = [''];
  addCounts(access, line, shown.display, cells);
  cells.push(`0x${access.offset.toString(16)}`, nodes(access.memoryNodes), countText(access.paCount));
  if (shown.pid) cells.push(rangeList(access.processes));
  if (shown.tid) cells.push(rangeList(access.threads));
  if (shown.code) cells.push(access.codeAddress);
  addCycles(access, shown.display, cells);
  cells.push(String(access.records), String(access.cpus));
  const texts: string[] = [];
  if (shown.tid) texts.push(printable(commOf(access, line)));
  if (shown.code) texts.push(printable(access.symbol) || 'unknown');
  if (shown.binary) texts.push(printable(access.object) || 'unknown');
  if (shown.source) texts.push(sourceText(access, options.folder, paths));
  texts.push(
    dataText(access.data, () => addressOf(line, access)),
    nodeText(access, shown.display, options.nodeInfo),
  );
  return { cells, texts };
}

function addCounts({ hitm, peer, stores }: Access, line: CacheLine, display: Display, cells: string[]): void {
  const part = display === 'peer' ? peer : hitm;
  const whole = display === 'peer' ? line.peer : line.hitm;
  cells.push(
    share(part?.remote ?? 0, whole?.remote ?? 0),
    share(part?.local ?? 0, whole?.local ?? 0),
    share(stores.l1Hit ?? 0, line.stores.l1Hit ?? 0),
    share(stores.l1Miss ?? 0, line.stores.l1Miss ?? 0),
    share(stores.na, line.stores.na),
  );
}

function addCycles({ meanCycles, cycles }: Access, display: Display, cells: string[]): void {
  const [remote, local] =
    display === 'peer'
      ? [meanCycles?.remotePeer ?? meanCycles?.peer, meanCycles?.localPeer ?? meanCycles?.peer]
      : [meanCycles?.remoteHitm, meanCycles?.localHitm];
  cells.push(cyclesText(remote), cyclesText(local), cyclesText(meanCycles?.load));
  cells.push(cyclesText(cycles?.p50), cyclesText(cycles?.p95), cyclesText(cycles?.max));
}

function sourceText(access: Access, folder: string, paths: Map<string, string>): string {
  const place = ownPlace(access);
  if (place === undefined) return 'unknown';
  let path = paths.get(place.file);
  if (path === undefined) paths.set(place.file, (path = printable(readablePath(place.file, folder))));
  return place.line > 0 ? `${path}:${place.line}` : path;
}

function commOf({ threads }: Access, line: CacheLine): string {
  const [tid] = threads;
  return line.threads.find((thread) => thread.tid === tid)?.comm ?? 'unknown';
}

function cyclesText(value: number | null | undefined): string {
  if (value === null || value === undefined) return 'n/a';
  return Number.isInteger(value) ? String(value) : value.toFixed(0);
}

/** "0-1", "0{4  62.5%  10.0%} 1{4  37.5%  90.0%}" or "0{0-3} 1{4-7}". */
function nodeText(access: Access, display: Display, nodeInfo: 0 | 1 | 2): string {
  const { nodeStats } = access;
  if (nodeInfo === 0 || nodeStats === undefined) return nodes(access.nodes);
  if (nodeInfo === 2) return nodeStats.map(({ node, cpuList }) => `${node}{${cpuList}}`).join(' ') || 'N/A';
  const loads = contendedLoads(access, display);
  const part = (value: number, whole: number): string => (whole === 0 ? 'n/a' : `${((value / whole) * 100).toFixed(1)}%`);
  return (
    nodeStats
      .map((use) => `${use.node}{${use.cpus} ${part(contendedLoads(use, display), loads)} ${part(use.stores, access.stores.total)}}`)
      .join(' ') || 'N/A'
  );
}
