// `cacheline report` on recordings with data sources, end to end: options, formats, filters, and the pager.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Access, Report } from '../../extension/protocol/report';
import { c2cText } from '../../extension/session/report/c2c-text';
import { PLAIN } from '../../extension/session/text/terminal-text';
import { Command, root, type Outcome, type RunOptions } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const synth = join(root, 'build/release/native/tests/cacheline_synth');

describe('cacheline report of recordings with data sources', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const at = (...names: string[]): string => join(folder.path, ...names);
  let recording: string;
  const run = (args: readonly string[], options: Partial<RunOptions> = {}): Promise<Outcome> =>
    command.run(['report', ...args], { cwd: folder.path, ...options });
  const ok = async (args: readonly string[], options: Partial<RunOptions> = {}): Promise<string> => {
    const { status, stdout, stderr } = await run(args, options);
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const json = async (...args: string[]): Promise<Report> => {
    const report = JSON.parse(await ok(['-i', recording, '--format', 'json', ...args])) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    return report;
  };
  const refused = async (args: readonly string[], message: RegExp, options: Partial<RunOptions> = {}): Promise<void> => {
    const { status, stdout, stderr } = await run(args, options);
    assert.equal(status, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  };

  before(() => {
    assert.ok(existsSync(synth), `${synth} is missing: run "npm run build" first`);
    recording = join(command.package, 'perf.data');
    execFileSync(synth, ['intel', '-o', recording, '--samples', '20000', '--lines', '40', '--codes', '12', '--seed', '7']);
  });

  it('prints words, statistics and both tables, with the numbers of the JSON, in 80 columns', async () => {
    const report = await json();
    const text = await ok(['-i', recording]);
    for (const line of text.split('\n')) assert.ok(line.length <= 80, line);
    const hitms = report.stats['localHitm']! + report.stats['remoteHitm']!;
    assert.match(text, new RegExp(`^${hitms.toLocaleString('en-US')} of [\\d,]+ sampled loads`, 'm'));
    assert.match(text, new RegExp(`^ {2}Load Local HITM {19}: +${report.stats['localHitm']}$`, 'm'));
    const pareto = text.slice(text.indexOf('Pareto'));
    for (const line of report.lines) assert.ok(pareto.includes(line.address), line.address);
  });

  it('counts as records the loads and all stores but uncacheable ones', async () => {
    const { lines, stats } = await json('--show-all');
    let uncacheable = 0;
    for (const counted of [...lines, ...lines.flatMap(({ accesses }) => accesses)]) {
      const { total, l1Hit, l1Miss, na } = counted.stores;
      const placed = l1Hit! + l1Miss! + na;
      assert.equal(counted.loads + placed, counted.records);
      assert.ok(total >= placed);
      if ('accesses' in counted) uncacheable += total - placed;
    }
    assert.ok(uncacheable > 0);
    assert.equal(uncacheable, stats['stUncacheable']);
  });

  it('prints the words of the whole report around the tables, though the engine gives it only two lines', async () => {
    for (const given of [[], ['-c', 'tid,pid'], ['-d', 'rmt'], ['--show-all']]) {
      const text = await ok(['-i', recording, '--width', '100', ...given]);
      const options = { width: 100, style: PLAIN, path: recording, folder: folder.path };
      const [around] = c2cText(await json(...given), [], options);
      assert.equal(text.slice(0, text.indexOf('\n=====', text.indexOf('c2c details') + 70)), around);
    }
  });

  it('prints a row of the Pareto table for each access, with its numbers', async () => {
    for (const [given, shown] of [
      [[], ({ codeAddress, records, cpus }: Access) => [codeAddress, records, cpus]],
      [['-c', 'tid,pid'], ({ processes, threads, records, cpus }: Access) => [processes, threads, records, cpus]],
      [['--show-all', '-d', 'lcl'], ({ codeAddress, records, cpus }: Access) => [codeAddress, records, cpus]],
    ] as const) {
      const text = await ok([recording, '--width', '400', ...given]);
      // Six shares and counts of the head have no place in a row, whose first cell is empty: it starts with a share.
      const rows = [...text.slice(text.indexOf('Pareto')).matchAll(/^ {3,}\d[\d.]*% .*$/gm)].map(([row]) => row.trim().split(/ +/));
      const { lines } = await json(...given);
      const accesses = lines.flatMap((line) => line.accesses);
      assert.equal(rows.length, accesses.length);
      for (const [i, access] of accesses.entries()) {
        const row = rows[i]!;
        assert.equal(row[5], `0x${access.offset.toString(16)}`);
        for (const number of shown(access)) assert.ok(row.includes(String(number)), `${String(number)} in ${row.join(' ')}`);
      }
    }
  });

  it('has the statistics and the line table of perf c2c report, cell by cell', async function () {
    if (spawnSync('perf', ['--version']).status !== 0) {
      console.error('      perf is not installed (Debian: linux-perf): it judges the printed tables');
      this.skip();
    }
    const judge = execFileSync('perf', ['c2c', 'report', '--stdio', '--no-source', '-i', recording], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const own = await ok([recording, '--width', '400']);
    const statistics = (text: string): string[] =>
      [...text.slice(0, text.indexOf('c2c details')).matchAll(/^ {2}(\w.*?) +: +(\S+)$/gm)].map(([, name, value]) => `${name}: ${value}`);
    assert.equal(statistics(judge).length, 48);
    assert.deepEqual(statistics(own.slice(own.indexOf('====='))), statistics(judge));
    /** Cells of a row without its index: rows with equal counts may come in any order. */
    const rows = (text: string): string[] =>
      [...text.slice(text.indexOf('Shared Data Cache Line Table'), text.indexOf('Pareto')).matchAll(/^ +\d+ +(0x.*)$/gm)]
        .map(([, cells]) => cells!.trim().split(/ +/).slice(0, 22).join(' '))
        .sort();
    assert.ok(rows(judge).length > 20);
    assert.deepEqual(rows(own), rows(judge));
  });

  it('--stats prints the statistics only; --format csv the lines only', async () => {
    const text = await ok([recording, '--stats']);
    assert.match(text, /^=+\n +Trace Event Information/);
    assert.doesNotMatch(text, /Pareto/);
    const csv = await ok([recording, '--format=csv', '--show-all']);
    assert.equal(csv.split('\r\n').length - 2, (await json('--show-all')).lines.length);
  });

  it('passes what was asked for to the engine', async () => {
    const all = await json();
    assert.equal(all.c2c?.display, 'tot');
    const local = await json('-d', 'lcl', '-c', 'tid,pid', '--double-cl');
    assert.deepEqual([local.c2c?.display, local.c2c?.coalesce, local.c2c?.doubleLine], ['lcl', ['tid', 'pid'], true]);
    const total = all.stats['records']!;
    const user = await json('--user');
    const kernel = await json('--kernel');
    assert.ok(user.stats['records']! > 0 && kernel.stats['records']! > 0);
    assert.equal(user.c2c!.filtered + user.stats['records']!, total);
    assert.equal(kernel.stats['records']! + user.stats['records']!, total, 'a sample is of one mode');
    const [thread] = all.lines[0]!.threads;
    const own = await json('--tid', String(thread!.tid), '--show-all');
    assert.ok(own.stats['records']! > 0 && own.stats['records']! < total);
    assert.deepEqual(new Set(own.lines.flatMap(({ threads }) => threads.map(({ tid }) => tid))), new Set([thread!.tid]));
    const cpus = await json('--cpu', '0-1', '--show-all');
    assert.ok(cpus.stats['records']! > 0);
    for (const { accesses } of cpus.lines) for (const { cpuList } of accesses) assert.match(cpuList!, /^(0|1|0-1)$/);
  });

  it('cuts windows of time out, in seconds and in shares, which add up to the whole', async () => {
    const all = await json();
    const half = all.seconds / 2;
    const first = await json('--time', `,${half.toFixed(9)}`);
    assert.ok(first.stats['records']! > 0 && first.stats['records']! < all.stats['records']!);
    const shares = [await json('--time', '0%-30%'), await json('--time', '30%-100%')];
    const sum = shares.reduce((total, { stats }) => total + stats['records']!, 0);
    // The ends are inclusive: a sample at the border may be in both.
    assert.ok(sum >= all.stats['records']! && sum <= all.stats['records']! + 8, `${sum} of ${all.stats['records']!}`);
  });

  it('refuses what the recording cannot answer, and what is not there', async () => {
    const clock = at('clock.cacheline');
    const work = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done';
    const recorded = await command.run(['record', '-o', clock, '--', 'sh', '-c', work], { cwd: folder.path });
    assert.equal(recorded.status, 0, recorded.stderr);
    for (const args of [['--stats'], ['-N', '--format', 'json'], ['-d', 'lcl']]) {
      const message = new RegExp(`^cacheline: this recording has no data sources, which ${args[0]} needs\\.\ncacheline: Leave .*\\.\n$`);
      await refused([clock, ...args], message);
    }
    await refused([recording, '--symfs', at('nowhere')], /--symfs names no folder: '.*nowhere'/);
    await refused([recording, '-k', folder.path], /--vmlinux names no file/);
    await refused([recording, '--debuginfod'], /DEBUGINFOD_URLS/, { env: { DEBUGINFOD_URLS: ' ' } });
  });

  describe('pager', () => {
    const terminal = (args: readonly string[], env: Record<string, string>): Promise<string> =>
      ok([recording, '--width', '100', ...args], { terminal: true, env: { TERM: 'xterm', NO_COLOR: '1', ...env } });
    /** Notes that it was started, how, and what it was given. */
    const pager = (): string => {
      const path = at('a pager');
      writeFileSync(path, `#!/bin/sh\necho "$LESS|$#|$1" > '${at('started')}'\ncat > '${at('read')}'\necho paged\n`);
      chmodSync(path, 0o755);
      return path;
    };

    it('is given the text on a terminal, with its own arguments and LESS, and is waited for', async () => {
      const screen = await terminal([], { PAGER: `'${pager()}' 'one; touch ${at('evil')}'`, LESS: '' });
      assert.equal(screen.trim(), 'paged');
      assert.equal(readFileSync(at('started'), 'utf8'), `|1|one; touch ${at('evil')}\n`, 'no shell, and LESS as it was');
      assert.equal(existsSync(at('evil')), false);
      assert.match(readFileSync(at('read'), 'utf8'), /Pareto/);
    });

    it('is less with -FRX where nothing else is said', async () => {
      mkdirSync(at('bin'));
      writeFileSync(at('bin/less'), `#!/bin/sh\necho "$LESS" > '${at('started')}'\n`);
      chmodSync(at('bin/less'), 0o755);
      const path = `${at('bin')}:${process.env['PATH'] ?? ''}`;
      // It ends without reading: that is the reader's choice.
      assert.equal(
        await ok([recording], { terminal: true, through: ['env', '-u', 'LESS', '-u', 'PAGER', `PATH=${path}`, 'TERM=xterm'] }),
        '',
      );
      assert.equal(readFileSync(at('started'), 'utf8'), 'FRX\n');
    });

    it('is not started in a pipe, with --no-pager, for JSON and CSV, on a dumb terminal, or as cat', async () => {
      const PAGER = `'${pager()}'`;
      assert.match(await ok([recording], { env: { PAGER } }), /Pareto/);
      assert.match(await terminal(['--no-pager'], { PAGER }), /Pareto/);
      assert.match(await terminal(['--format', 'json'], { PAGER }), /^\{"schema"/);
      assert.match(await terminal(['--format', 'csv'], { PAGER }), /^index,/);
      assert.match(await terminal([], { PAGER, TERM: 'dumb' }), /Pareto/);
      assert.equal(existsSync(at('started')), false);
      for (const none of ['', 'cat']) assert.match(await terminal([], { PAGER: none }), /Pareto/);
    });

    it('that cannot be started is said, and the text is printed', async () => {
      assert.match(await terminal([], { PAGER: at('missing') }), /the pager .*missing cannot be started: .*ENOENT[^]*Pareto/);
      assert.match(await terminal([], { PAGER: "less '" }), /PAGER is not used: [^]*Pareto/);
    });
  });
});
