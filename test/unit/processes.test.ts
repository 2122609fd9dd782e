// The list of processes: what /proc says, of a made-up machine and of this one.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processItems } from '../../extension/session/record/process-list';
import {
  byInterest,
  findProcess,
  listProcesses,
  parseStat,
  parseUid,
  parseUsers,
  type ProcessInfo,
} from '../../extension/session/record/processes';
import { temporaryFolder } from './fixtures';

/** Fields 3 to 22 of /proc/PID/stat. */
const rest = ({ state = 'S', flags = 0x400000, ticks = 0, threads = 1, start = 0 }): string =>
  [state, 1, 1, 1, 0, -1, flags, 0, 0, 0, 0, ticks, 0, 0, 0, 20, 0, threads, 0, start].join(' ');

interface Fake {
  comm?: string;
  command?: string;
  uid?: number;
  state?: string;
  flags?: number;
  ticks?: number;
  threads?: number;
  start?: number;
}

describe('processes', () => {
  const folder = temporaryFolder();

  const add = (pid: number, { comm = 'prog', command, uid = 1000, ...stat }: Fake): void => {
    const path = join(folder.path, 'proc', String(pid));
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'stat'), `${pid} (${comm}) ${rest(stat)}\n`);
    writeFileSync(join(path, 'status'), `Name:\t${comm}\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\n`);
    if (command !== undefined) writeFileSync(join(path, 'cmdline'), command);
  };
  const listed = async (): Promise<ProcessInfo[]> => (await listProcesses({ root: folder.path })).sort((a, b) => a.pid - b.pid);

  it('a name may hold parentheses, spaces and line ends', () => {
    const name = 'a) R 1 (\n';
    assert.equal(parseStat(`7 (${name}) ${rest({ ticks: 12, threads: 3 })}`)?.comm, name);
    assert.deepEqual(parseStat(`7 (x) ${rest({ ticks: 12, threads: 3, start: 9 })}`), {
      comm: 'x',
      state: 'S',
      parent: 1,
      flags: 0x400000,
      cpuTicks: 12,
      threads: 3,
      startTicks: 9,
    });
  });

  it('what is no line of that file is none', () => {
    for (const text of ['', '7', '7 (x', '7 x) S 1', '7 (x) S 1 2', `7 (x) ${rest({}).replace('20', 'many').replace(' 0 -1', ' ? ?')}x`])
      assert.equal(parseStat(text), undefined, text);
    assert.equal(parseUid('Name:\tx\n'), undefined);
    assert.equal(parseUid('Name:\tUid: 5\nUid:\t1000\t0\t0\t0\n'), 1000);
  });

  it('users have names where the file has them, and lines that are none are passed over', () => {
    const users = parseUsers('root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\n\nbroken\n:x:5:\nann:x:1000:1000::/:/bin/sh\n');
    assert.deepEqual(
      [...users],
      [
        [0, 'root'],
        [1000, 'ann'],
      ],
    );
  });

  it('lists programs with user, threads and command line, without zombies and threads of the kernel', async () => {
    mkdirSync(join(folder.path, 'etc'));
    writeFileSync(join(folder.path, 'etc/passwd'), 'ann:x:1000:1000::/:/bin/sh\n');
    add(10, { comm: 'server', command: './server\0--threads\x008\0', threads: 8 });
    add(11, { comm: 'a_name_that_is_', command: '/opt/a_name_that_is_long\0', uid: 77 });
    add(12, { comm: 'kworker/0:1', flags: 0x208060, uid: 0 });
    add(13, { comm: 'gone', state: 'Z' });
    add(14, { comm: 'renamed', command: '/usr/bin/python3\0x.py\0' });
    mkdirSync(join(folder.path, 'proc/15')); // ended meanwhile
    mkdirSync(join(folder.path, 'proc/self'));
    const processes = await listed();
    assert.deepEqual(
      processes.map(({ pid, name, user, threads }) => [pid, name, user, threads]),
      [
        [10, 'server', 'ann', 8],
        [11, 'a_name_that_is_long', '77', 1],
        [14, 'renamed', 'ann', 1],
      ],
    );
    assert.deepEqual(processes[0]?.commandLine, ['./server', '--threads', '8']);
    assert.equal(await findProcess(13, { root: folder.path }), undefined);
    assert.equal(await findProcess(99, { root: folder.path }), undefined);
    assert.equal((await findProcess(10, { root: folder.path }))?.name, 'server');
  });

  it('cuts a command line of any length', async () => {
    add(10, { command: `x\0${'y'.repeat(100_000)}` });
    const [process] = await listed();
    assert.equal(process?.commandLine.join(' ').length, 4096);
  });

  it('the own ones come first, then the busiest', async () => {
    mkdirSync(join(folder.path, 'proc'));
    writeFileSync(join(folder.path, 'proc/uptime'), '1000.00 1.00\n');
    add(10, { ticks: 100 });
    add(11, { ticks: 50_000 });
    add(12, { ticks: 90_000, uid: 5 });
    add(13, { ticks: 50_000, start: 50_000 });
    const processes = await listed();
    assert.deepEqual(
      processes.map(({ load }) => Number(load.toFixed(3))),
      [0.001, 0.5, 0.9, 1],
    );
    assert.deepEqual(
      byInterest(processes, 1000).map(({ pid }) => pid),
      [13, 11, 10, 12],
    );
  });

  it('rejects where there is no /proc', () => assert.rejects(listProcesses({ root: join(folder.path, 'none') }), /ENOENT/));

  it('finds a program of this machine, and that it is busy', async () => {
    const child = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' });
    try {
      const look = async () => (await listProcesses({ intervalMs: 300 })).find(({ pid }) => pid === child.pid);
      let found = await look();
      while (found?.load === 0) found = await look(); // beside much else it may not have run yet
      assert.equal(found?.name, 'sh');
      assert.equal(found.uid, process.getuid?.());
      assert.deepEqual(found.commandLine.slice(1), ['-c', 'while :; do :; done']);
      assert.ok(found.load > 0 && found.threads === 1, JSON.stringify(found));
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('the list of processes', () => {
  const info = (more: Partial<ProcessInfo>): ProcessInfo => ({
    pid: 5,
    name: 'server',
    uid: 1000,
    user: 'ann',
    threads: 2,
    commandLine: ['./server', '-x'],
    load: 0,
    ...more,
  });

  it('groups them by whose they are', () => {
    assert.deepEqual(processItems([info({ load: 1.5 }), info({ pid: 6, uid: 0, user: 'root', threads: 1, commandLine: [] })], 1000), [
      { kind: 'group', label: 'yours' },
      { kind: 'process', pid: 5, label: 'server', description: '5 · ann · 2 threads · 150% CPU', detail: './server -x' },
      { kind: 'group', label: 'of other users: recording them needs root or CAP_PERFMON' },
      { kind: 'process', pid: 6, label: 'server', description: '6 · root · 1 thread', detail: '' },
    ]);
    assert.deepEqual(processItems([info({})], 0)[0], { kind: 'group', label: 'of other users' });
    assert.deepEqual(processItems([], 0), []);
  });

  it('makes names harmless: no icons, no control characters, no length', () => {
    const [, item] = processItems([info({ name: `$(trash)\u202e\u001b[2J${'x'.repeat(500)}`, commandLine: ['y'.repeat(5000)] })], 1000);
    assert.ok(item?.kind === 'process');
    assert.match(item.label, /^\$\u200b\(trash\)\\u\{202e\}\\x1b\[2Jx+…$/);
    assert.ok(item.label.length < 90 && item.detail.length <= 300);
  });
});
