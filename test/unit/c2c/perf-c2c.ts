// The installed `perf c2c report` as judge: runs it and reads every number of its statistics and both of its tables.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../command';
import { callersCell, rankAll } from './cells';
import { type Cells, type Question, type TableLine, type Tables } from './tables';

/** What `perf c2c report --stats` prints, in the names of the report's `stats` and `shared`. */
const LABELS = JSON.parse(readFileSync(join(root, 'test/fixtures/c2c/perf-labels.json'), 'utf8')) as Record<
  'stats' | 'shared',
  Record<string, string>
>;

/** Sums and shares of others. */
const DERIVED = ['Load LLC Misses', 'LLC Misses to Local DRAM', 'LLC Misses to Remote DRAM'].concat(
  'LLC Misses to Remote cache (HIT)',
  'LLC Misses to Remote cache (HITM)',
);

const LINE_COLUMNS = ['index', 'address', 'node', 'paCount', 'percent', 'total', 'local', 'remote', 'records', 'loads', 'stores'].concat([
  'l1Hit',
  'l1Miss',
  'na',
  'fillBuffer',
  'l1',
  'l2',
  'llc',
  'localHitm',
  'remoteHit',
  'remoteHitm',
  'localDram',
  'remoteDram',
]);

export const hasPerf = spawnSync('perf', ['--version']).status === 0;

/** perf's output; its own warnings about kernels and binaries of other machines are passed over. */
export function runPerf(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('perf', args, {
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: { ...process.env, PAGER: 'cat' },
  });
  assert.equal(status, 0, `perf ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

export function perfC2c(file: string, question: Question): Tables {
  const args = ['c2c', 'report', '-i', file, '--stdio', '--full-symbols', '-d', question.display];
  args.push('-g', question.callers ? 'folded,0,caller,address,count' : 'none', '-c', question.coalesce.join(','));
  for (let i = 0; i < question.nodeInfo; i++) args.push('-N');
  if (question.showAll) args.push('--show-all');
  return parsePerfC2c(runPerf(args), question);
}

/** `text`: all that `perf c2c report --stdio` prints. Throws where it is not understood. */
export function parsePerfC2c(text: string, question: Question): Tables {
  const sections = new Map<string, string[]>();
  let current: string[] = [];
  const rows = text.split('\n');
  for (let i = 0; i < rows.length; i++) {
    if (/^=+$/.test(rows[i]!) && /^=+$/.test(rows[i + 2] ?? '')) {
      sections.set(rows[i + 1]!.trim(), (current = []));
      i += 2;
    } else current.push(rows[i]!);
  }
  const section = (name: string): string[] => {
    const found = sections.get(name);
    assert.ok(found, `perf printed no "${name}"`);
    return found;
  };
  const statistics = section('Trace Event Information');
  const stats = values(statistics, LABELS.stats, DERIVED);
  checkDerived(stats, statistics);
  const shared = values(section('Global Shared Cache Line Event Information'), LABELS.shared, []);
  const lines = parseLines(section('Shared Data Cache Line Table'));
  parsePareto(section('Shared Cache Line Distribution Pareto'), question, lines);
  rankAll(lines, question.display);
  return { stats, shared, lines };
}

function values(section: readonly string[], names: Record<string, string>, derived: readonly string[]): Record<string, string> {
  const result: Record<string, string> = {};
  for (const row of section) {
    const match = /^ {2}(\S.*?)\s*:\s*(\S+)$/.exec(row);
    if (!match) continue;
    const [, label = '', value = ''] = match;
    const name = names[label];
    assert.ok(name !== undefined || derived.includes(label), `perf prints "${label}", which no statistic of ours is`);
    if (name !== undefined) result[name] = value;
  }
  assert.deepEqual(Object.keys(result).sort(), Object.values(names).sort());
  return result;
}

/** perf's sums follow from its counts: a reader of ours can compute them. */
function checkDerived(stats: Record<string, string>, section: readonly string[]): void {
  const misses = ['localDram', 'remoteDram', 'remoteHitm', 'remoteHit'].reduce((sum, name) => sum + Number(stats[name]), 0);
  const printed = section.find((row) => row.includes('Load LLC Misses'));
  assert.equal(Number(printed?.split(':')[1]), misses);
}

function parseLines(section: readonly string[]): TableLine[] {
  const lines: TableLine[] = [];
  for (const row of section) {
    if (row.startsWith('#') || row.trim() === '') continue;
    const words = row.trim().split(/\s+/);
    assert.equal(words.length, LINE_COLUMNS.length, `a line of the table that is not understood: ${row}`);
    const cells: Cells = {};
    LINE_COLUMNS.forEach((column, index) => (cells[column] = words[index]!));
    assert.equal(Number(cells['index']), lines.length, 'lines are numbered from 0');
    delete cells['index'];
    lines.push({ cells, rank: '', rows: [] });
  }
  return lines;
}

function parsePareto(section: readonly string[], question: Question, lines: TableLine[]): void {
  const numbers = ['percentRemote', 'percentLocal', 'percentL1Hit', 'percentL1Miss', 'percentNa', 'offset', 'node', 'paCount'];
  const has = (key: Question['coalesce'][number]): boolean => question.coalesce.includes(key);
  if (has('pid')) numbers.push('pid');
  if (has('tid')) numbers.push('tid');
  if (has('iaddr')) numbers.push('codeAddress');
  numbers.push('meanRemote', 'meanLocal', 'meanLoad', 'records', 'cpus');
  const texts: string[] = [];
  if (has('iaddr')) texts.push('symbol');
  if (has('iaddr') || has('dso')) texts.push('object');
  if (has('iaddr')) texts.push('source');

  let line: TableLine | undefined;
  let index = -1;
  let chains: number[] = [];
  const body = section.filter((row) => row.trim() !== '' && !row.startsWith('#'));
  for (let i = 0; i < body.length; i++) {
    const row = body[i]!;
    if (/^ {2}-+$/.test(row)) {
      line = lines[++index];
      assert.ok(line, 'the pareto has a line that the table has not');
      checkHeading(body[i + 1] ?? '', index, line, question);
      i += 2;
      continue;
    }
    assert.ok(line, `a row before its line: ${row}`);
    const samplesOfChain = /^\d+(?= )/.exec(row)?.[0];
    if (samplesOfChain !== undefined) {
      chains.push(Number(samplesOfChain));
      line.rows.at(-1)!.cells['callers'] = callersCell(chains);
      continue;
    }
    chains = [];
    const cells: Cells = {};
    let rest = row;
    for (const column of numbers) {
      const match = /^\s*(\S+)(.*)$/.exec(rest);
      assert.ok(match, `a row that is not understood: ${row}`);
      cells[column] = match[1]!;
      rest = match[2]!;
    }
    const [tid, command] = (cells['tid'] ?? '').split(':');
    if (command !== undefined) Object.assign(cells, { tid, command });
    const parts = rest.trim().split(/\s{2,}/);
    for (const column of texts) cells[column] = parts.shift() ?? '';
    // Where no debug information says: the code's address, or this.
    if (/^\?\?:0$|\[[0-9a-f]+\]$/.test(cells['source'] ?? '')) cells['source'] = 'none';
    cells['nodes'] = parts.join(' ').replace(/\{\s+/g, '{').replace(/\s+/g, ' ');
    line.rows.push({ cells, rank: '' });
  }
  assert.equal(index, lines.length - 1, 'every line of the table has its rows');
}

/** The line's own sums stand above its rows. */
function checkHeading(row: string, index: number, { cells }: TableLine, { display }: Question): void {
  const [remote, local] = display === 'peer' ? [cells['remote'], cells['local']] : [cells['remoteHitm'], cells['localHitm']];
  assert.deepEqual(row.trim().split(/\s+/), [`${index}`, remote, local, cells['l1Hit'], cells['l1Miss'], cells['na'], cells['address']]);
}
