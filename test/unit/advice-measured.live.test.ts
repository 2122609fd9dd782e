// What real programs' recordings are advised of: objects whose luck is their place, and locks with their data.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { AdviceList } from '../../extension/protocol/advice';
import type { Report } from '../../extension/protocol/report';
import { Command, compileFixture } from './command';
import { temporaryFolder } from './fixtures';

describe('advice on recordings', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const engine = new NativeEngine(loadAddon());
  const advise = (name: string): Promise<AdviceList> => engine.call('advise', { path: join(folder.path, name), showAll: false });

  async function recordAndReport(name: string, ...program: string[]): Promise<Report> {
    const recorded = await command.run(['record', '-F', '4000', '-o', name, '--', ...program], { cwd: folder.path });
    assert.equal(recorded.status, 0, recorded.stderr);
    return engine.call('analyze', { path: join(folder.path, name), showAll: false });
  }

  it('latent sharing is where the program shares with that placement forced', async () => {
    const program = compileFixture('placed-clock', folder.path);
    const offsets = [0, 16, 32, 48];
    const contended: number[] = [];
    let quiet: string | undefined;
    for (const offset of offsets) {
      const report = await recordAndReport(`at-${offset}`, program, String(offset));
      if (report.lines.some((line) => line.contended > 0.02 * report.samples.total)) contended.push(offset);
      else quiet = `at-${offset}`;
    }
    assert.deepEqual(contended, [0, 16], 'placements that share a line');
    assert.ok(quiet !== undefined);
    const { advice, latent } = await advise(quiet);
    assert.deepEqual(
      advice.map(({ way }) => way).filter((way) => way !== 'none'),
      [],
    );
    const clock = latent.find(({ subject }) => subject.type === 'clock');
    assert.ok(clock, 'the clock is not listed');
    assert.deepEqual(clock.subject.members, ['limit', 'now']);
    const onLines = clock.placements.filter(({ lineSize }) => lineSize === 64).map(({ baseOffset }) => baseOffset);
    assert.deepEqual(onLines, contended);
    const told = await advise('at-16');
    const lucky = told.advice.find(({ subject }) => subject.type === 'clock');
    assert.ok(lucky, JSON.stringify(told.advice));
    assert.deepEqual(
      lucky.placements.map(({ baseOffset }) => baseOffset),
      contended,
    );
    assert.ok(!told.latent.some(({ subject }) => subject.type === 'clock'), 'it is told of twice');
  });

  it('says that others may rely on a layout that the header of a shared library defines', async () => {
    const source = (name: string, text: string): void => writeFileSync(join(folder.path, name), text);
    source('queue.h', 'struct queue { _Atomic long head, tail; };\nvoid *put(void *);\nvoid *take(void *);\n');
    const turn = (name: string, member: string): string =>
      `void *${name}(void *none) { for (long i = 0; i < 20000000; i++) queue.${member}++; return none; }\n`;
    source('queue.c', `#include "queue.h"\nstatic _Alignas(64) struct queue queue;\n${turn('put', 'head')}${turn('take', 'tail')}`);
    source(
      'main.c',
      `#include <pthread.h>\n#include "queue.h"\nint main(void) {\n  pthread_t putter, taker;\n` +
        `  if (pthread_create(&putter, 0, put, 0) != 0 || pthread_create(&taker, 0, take, 0) != 0) return 1;\n` +
        `  return pthread_join(putter, 0) + pthread_join(taker, 0);\n}\n`,
    );
    const compile = (...args: string[]): Buffer => execFileSync('cc', ['-O2', '-g', '-pthread', ...args], { cwd: folder.path });
    compile('-shared', '-fPIC', '-o', 'libqueue.so', 'queue.c');
    for (const [name, ...sources] of [
      ['dynamic', 'main.c', 'libqueue.so', '-Wl,-rpath,$ORIGIN'],
      ['static', 'main.c', 'queue.c'],
    ] as const) {
      compile('-o', name, ...sources);
      await recordAndReport(`abi-${name}`, join(folder.path, name));
      const { advice } = await advise(`abi-${name}`);
      const queue = advice.find(({ subject }) => subject.type === 'queue');
      assert.ok(queue, JSON.stringify(advice));
      assert.equal(queue.cost.abi, name === 'dynamic', name);
    }
  });

  it('tells which of two nested locks protects what', async () => {
    const program = compileFixture('nested-locks', folder.path);
    await recordAndReport('locks', program);
    const { advice } = await advise('locks');
    const ledger = advice.find(({ subject }) => subject.type === 'ledger');
    assert.ok(ledger, JSON.stringify(advice));
    assert.deepEqual(ledger.locks, [
      { name: 'inner', data: ['totals'] },
      { name: 'outer', data: ['entries'] },
    ]);
  });
});
