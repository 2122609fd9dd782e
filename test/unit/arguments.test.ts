// The grammar of the command line.
import assert from 'node:assert/strict';
import { parseArguments } from '../../extension/cli/arguments';
import type { AdviseArguments } from '../../extension/cli/advise-arguments';
import type { LayoutArguments } from '../../extension/cli/layout-arguments';
import type { ReportArguments } from '../../extension/cli/report-arguments';
import { refuses } from './refused-arguments';

const REPORT_DEFAULTS: ReportArguments = {
  command: 'report',
  format: 'text',
  showAll: false,
  analysis: {},
  statsOnly: false,
  nodeInfo: 0,
  fullSymbols: false,
  source: true,
  pager: true,
  dataSourceOptions: [],
};

describe('arguments: report and doctor', () => {
  it('have defaults', () => {
    assert.deepEqual(parseArguments(['report']), REPORT_DEFAULTS);
    assert.deepEqual(parseArguments(['doctor']), { command: 'doctor', format: 'text', selfTest: false, calibrate: false });
  });

  it('take their options on both sides of the recording', () => {
    const wanted = { ...REPORT_DEFAULTS, path: 'a.cacheline', format: 'json', showAll: true, width: 120 };
    assert.deepEqual(parseArguments(['report', 'a.cacheline', '--format', 'json', '--show-all', '--width', '120']), wanted);
    assert.deepEqual(parseArguments(['report', '--format=json', '--show-all', '--width=120', 'a.cacheline']), wanted);
    const doctor = { command: 'doctor', format: 'json', selfTest: true, calibrate: false };
    assert.deepEqual(parseArguments(['doctor', '--self-test', '--format', 'json']), doctor);
    assert.deepEqual(parseArguments(['doctor', '--calibrate', '--format=json']), { ...doctor, selfTest: false, calibrate: true });
  });

  it('refuse what they cannot use', () => {
    refuses(['report', 'a', 'b'], /'b'/);
    refuses(['report', ''], /empty/);
    refuses(['report', '--format', 'xml'], /'xml'/);
    refuses(['report', '--format'], /--format/);
    for (const width of ['0', '39', '80.5', 'wide']) refuses(['report', '--width', width], /--width/);
    refuses(['report', '--no-such'], /no-such/);
    refuses(['doctor', 'me'], /'me'/);
    refuses(['doctor', '--format', 'csv'], /'csv'/);
  });
});

describe('arguments: report of recordings with data sources', () => {
  const parsed = (...args: string[]): ReportArguments => parseArguments(['report', ...args]) as ReportArguments;

  it('takes what fingers know from perf c2c report', () => {
    assert.deepEqual(parsed('-NN', '-d', 'lcl', '-c', 'pid,iaddr', '-g', '--stdio', '-f', '-k', 'vmlinux', '-i', 'perf.data'), {
      ...REPORT_DEFAULTS,
      path: 'perf.data',
      nodeInfo: 2,
      analysis: { display: 'lcl', coalesce: ['pid', 'iaddr'], callers: true, vmlinux: 'vmlinux' },
      dataSourceOptions: ['-N'],
    });
    assert.deepEqual(
      parsed('--input=a', '--display=rmt', '--coalesce=tid', '--node-info', '--call-graph', '--full-symbols', '--no-source', '--stats'),
      {
        ...REPORT_DEFAULTS,
        path: 'a',
        nodeInfo: 1,
        fullSymbols: true,
        source: false,
        statsOnly: true,
        analysis: { display: 'rmt', coalesce: ['tid'], callers: true },
        dataSourceOptions: ['--stats', '-N'],
      },
    );
    assert.deepEqual(parsed('-dpeer', '-coffset,tid,tid').analysis, { display: 'peer', coalesce: ['tid'] });
    assert.equal(parsed('-N', '-N', '-N').nodeInfo, 2);
  });

  it('takes filters and where names come from', () => {
    assert.deepEqual(
      parsed('--user', '--double-cl', '--pid', '5,3', '--tid=7', '-C', '0-3,8,2', '--symfs', 'root', '--debuginfod', '--no-pager'),
      {
        ...REPORT_DEFAULTS,
        pager: false,
        analysis: { doubleLine: true, mode: 'user', pids: [3, 5], tids: [7], cpus: [0, 1, 2, 3, 8], symfs: 'root', debuginfod: true },
      },
    );
    assert.deepEqual(parsed('--kernel').analysis, { mode: 'kernel' });
  });

  it('takes windows of time, open at either end, and as shares', () => {
    assert.deepEqual(parsed('--time', '1.5,2').analysis, { window: { from: 1.5, to: 2 } });
    assert.deepEqual(parsed('--time', '1,').analysis, { window: { from: 1 } });
    assert.deepEqual(parsed('--time', ',.5').analysis, { window: { to: 0.5 } });
    assert.deepEqual(parsed('--time', '10%-20%').analysis, { filter: 'time:10-20%' });
    assert.deepEqual(parsed('--time', '0.5%-100%', '--filter', 'cpu:1').analysis, { filter: 'time:0.5-100% cpu:1' });
  });

  it('refuses what has no meaning, in one sentence', () => {
    refuses(['report', '-d', 'hitm'], /-d is tot, lcl, rmt or peer, not 'hitm'/);
    refuses(['report', '-c', 'tid,cpu'], /-c takes a list of tid, pid, iaddr, dso, not 'cpu'/);
    refuses(['report', '-c', ''], /''/);
    refuses(['report', '-c', 'offset'], /beside offset/);
    refuses(['report', '--user', '--kernel'], /--user and --kernel/);
    for (const window of ['', ',', '2', '2,1', '1,1', 'a,b', '1..2,3', '1,2,3', '20%-10%', '10%-120%', '10%,20%', '1e3,', '-%-2%']) {
      refuses(['report', `--time=${window}`], /--time/);
    }
    for (const list of ['', '1,', 'x', '0x1', '-1', '1.5', '99999999999', '3-1', '0-4294967295'])
      refuses(['report', `--cpu=${list}`], /--cpu takes/);
    refuses(['report', '--pid', '1-3'], /--pid takes/);
    refuses(['report', '--tid', '4194305'], /--tid takes/);
    refuses(['report', '-i', 'a', 'b'], /'b' is a second/);
    refuses(['report', '-i', ''], /empty/);
    refuses(['report', '--symfs='], /--symfs is empty/);
    refuses(['report', '--vmlinux='], /--vmlinux is empty/);
    refuses(['report', '--stats', '--format', 'json'], /--stats shortens the text/);
    refuses(['report', '--stats', '--format', 'csv'], /no statistics/);
    refuses(['report', '--no-pager=yes'], /no-pager/);
  });

  it('takes csv', () => assert.equal(parsed('--format', 'csv').format, 'csv'));
});

describe('arguments: advise', () => {
  const defaults: AdviseArguments = { command: 'advise', format: 'text', patch: false, analysis: {}, pager: true };

  it('has defaults, and takes the filters of report', () => {
    assert.deepEqual(parseArguments(['advise']), defaults);
    assert.deepEqual(parseArguments(['advise', 'a', '--patch', '--no-pager', '--width', '100']), {
      ...defaults,
      path: 'a',
      patch: true,
      pager: false,
      width: 100,
    });
    const filters = [
      '--user',
      '--pid',
      '5,3',
      '--tid',
      '7',
      '-C',
      '0-2',
      '--time',
      '1,2',
      '--filter',
      'type:Queue',
      '--symfs',
      'root',
      '-k',
      'v',
    ];
    const { analysis } = parseArguments(['advise', '-i', 'a', ...filters, '--format', 'json']) as AdviseArguments;
    assert.deepEqual(analysis, (parseArguments(['report', '-i', 'a', ...filters]) as ReportArguments).analysis);
  });

  it('refuses what it cannot use', () => {
    refuses(['advise', 'a', 'b'], /advise takes one recording, but 'b' is a second/);
    refuses(['advise', ''], /empty/);
    refuses(['advise', '--format', 'csv'], /--format is text or json, not 'csv'/);
    refuses(['advise', '--patch', '--format', 'json'], /--patch prints a diff/);
    refuses(['advise', '--width', '39'], /--width/);
    refuses(['advise', '--user', '--kernel'], /--user and --kernel/);
    for (const option of ['--show-all', '--stats', '-c', '-d', '--double-cl']) refuses(['advise', option], /option/);
    refuses(['advise', '--cpu', 'x'], /--cpu takes/);
  });
});

describe('arguments: the rest', () => {
  it('gives the version', () => {
    assert.deepEqual(parseArguments(['--version']), { command: 'version' });
    assert.deepEqual(parseArguments(['-V']), { command: 'version' });
  });

  it('refuses other commands', () => {
    refuses([], /No command/);
    refuses(['recrod'], /'recrod'/);
    refuses(['toString'], /'toString'/);
    refuses(['--quiet'], /'--quiet'/);
  });
});

describe('arguments: layout', () => {
  const defaults: LayoutArguments = { command: 'layout', binary: 'a.out', expand: false, lineSize: 64, format: 'text', pager: true };

  it('takes a type and a binary, in any order', () => {
    assert.deepEqual(parseArguments(['layout', 'ns::Pool<int, 4>', '--in', 'a.out']), { ...defaults, type: 'ns::Pool<int, 4>' });
    assert.deepEqual(
      parseArguments(['layout', '--in=a.out', '--expand', '--line-size', '128', '--format', 'json', '--no-pager', 'struct worker']),
      { ...defaults, type: 'struct worker', expand: true, lineSize: 128, format: 'json', pager: false },
    );
    assert.deepEqual(parseArguments(['layout', '--list', '--in', 'a.out']), defaults);
  });

  it('refuses what is missing, too much or out of range', () => {
    refuses(['layout', '--in', 'a.out'], /no type to lay out/);
    refuses(['layout', 'worker'], /--in has to name/);
    refuses(['layout', 'worker', '--in', ''], /--in has to name/);
    refuses(['layout', 'struct', 'worker', '--in', 'a.out'], /quote a name/);
    refuses(['layout', '--list', 'worker', '--in', 'a.out'], /leave out 'worker'/);
    refuses(['layout', '--list', '--expand', '--in', 'a.out'], /--expand is for/);
    for (const size of ['0', '8', '63', '96', '8192', '64.5', '-64', 'x'])
      refuses(['layout', 'w', '--in', 'a', `--line-size=${size}`], /power of two/);
    refuses(['layout', 'w', '--in', 'a', '--format', 'csv'], /text or json/);
  });
});
