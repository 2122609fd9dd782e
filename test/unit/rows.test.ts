// The rows that long benchmarks keep: which are measured, which are taken from an earlier run, and what is said of the rest.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chooseRows, endRows, measureRows } from '../../scripts/lib/rows.mjs';
import { ScriptError } from '../../scripts/lib/run.mjs';
import { temporaryFolder } from './fixtures';

const names = ['stop_flag gcc -O2', 'stop_flag g++ -O2', 'redis'];

describe('rows of long benchmarks', () => {
  const folder = temporaryFolder();
  const file = () => join(folder.path, 'bench-some.jsonl');
  const kept = () =>
    readFileSync(file(), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { name: string }).name);

  /** A run of the benchmark: what it measured, said, and had in the end. `fail` is thrown in place of the row `at`. */
  async function runOf(over: { chosen?: string[]; resume?: boolean; code?: string; how?: string; at?: string; fail?: Error } = {}) {
    const measured: string[] = [];
    const shown: string[] = [];
    const said: string[] = [];
    const { chosen = names, resume = false, code = 'a', how = '2 CPUs', at, fail } = over;
    const measure = (name: string) => {
      if (name === at) return fail === undefined ? Promise.resolve(undefined) : Promise.reject(fail);
      measured.push(name);
      return Promise.resolve({ by: code });
    };
    const show = (name: string) => void shown.push(name);
    const say = (line: string) => void said.push(line);
    const options = { names, chosen, resume, code, how, measure, show, folder: folder.path, say };
    const result = await measureRows('bench:some', options).catch((error: unknown) => {
      if (error !== fail) throw error;
      return { rows: new Map<string, { by: string }>(), missing: names, broken: [] };
    });
    return { measured, shown, said: said.join('\n'), result };
  }

  it('are kept one at a time, so that a run that was stopped goes on with the row it was in', async () => {
    await runOf({ at: names[1]!, fail: new Error('stopped') });
    assert.deepEqual(kept(), [names[0]]);
    const { measured, shown, said, result } = await runOf({ resume: true });
    assert.deepEqual(measured, names.slice(1));
    assert.match(said, /^bench:some: taken from .*bench-some\.jsonl: stop_flag gcc -O2$/);
    assert.deepEqual(shown, names);
    assert.deepEqual([[...result.rows.keys()], result.missing, result.broken], [names, [], []]);
    assert.deepEqual(kept(), names);
  });

  it('are measured anew without resume, and those of the file that were not chosen stay there', async () => {
    await runOf();
    const { measured, result } = await runOf({ chosen: [names[2]!] });
    assert.deepEqual([measured, [...result.rows.keys()], result.missing], [[names[2]], [names[2]], names.slice(0, 2)]);
    assert.deepEqual(kept(), names);
    assert.deepEqual((await runOf({ chosen: [names[1]!], resume: true })).result.missing, []);
  });

  it('are not taken of other code or other options, and left to those', async () => {
    await runOf();
    for (const other of [{ code: 'b' }, { how: '4 CPUs' }]) {
      const { measured, said } = await runOf({ ...other, resume: true });
      assert.deepEqual(measured, names);
      assert.match(said, /: no row\n.*not taken, because of other code or options: stop_flag gcc -O2, stop_flag g\+\+ -O2, redis/);
    }
    assert.equal(kept().length, 3 * names.length);
    const { measured, result } = await runOf({ resume: true });
    assert.deepEqual([measured, result.rows.get('redis')], [[], { by: 'a' }]);
  });

  it('are measured again where the last line was not written to its end', async () => {
    await runOf({ chosen: names.slice(0, 2) });
    const whole = readFileSync(file(), 'utf8');
    for (const torn of ['{"name":"redis","code":"a","how":"2 CPUs","val', '{']) {
      appendFileSync(file(), torn);
      const { measured, said } = await runOf({ chosen: names.slice(0, 2), resume: true });
      assert.deepEqual(measured, []);
      assert.match(said, /^bench:some: dropped a row that was not written to its end: \{/);
      assert.equal(readFileSync(file(), 'utf8'), whole);
    }
    appendFileSync(file(), '{"name":"redis"');
    assert.deepEqual((await runOf({ resume: true })).measured, ['redis']);
    assert.deepEqual(kept(), names);
  });

  it('that break or are left out do not stop the others', async () => {
    const broken = await runOf({ at: names[0]!, fail: new ScriptError('does not build') });
    assert.deepEqual([broken.measured, broken.result.broken], [names.slice(1), [`${names[0]}: does not build`]]);
    const { result } = await runOf({ at: names[0]! });
    assert.deepEqual([result.missing, result.broken], [[names[0]], []]);
  });

  it('are written into documents only if all are there', async () => {
    const said: string[] = [];
    const write = () => {
      said.push('written');
      return Promise.resolve();
    };
    const end = (missing: string[], broken: string[], asked: typeof write | null) =>
      endRows('bench:some', { missing, broken }, asked, (line) => void said.push(line));
    assert.equal(await end(['redis'], [], write), 1);
    assert.equal(await end(['redis'], [], null), 0);
    assert.equal(await end([], [], write), 0);
    assert.equal(await end(['redis'], ['redis: does not build'], null), 1);
    assert.deepEqual(said, [
      'bench:some: no table was written, because rows are missing (--resume measures them): redis',
      'written',
      'bench:some: broken: redis: does not build',
    ]);
  });

  it('are chosen by name, by the words it begins with, or with a star', () => {
    const chosen = (...patterns: string[]) => chooseRows(names, patterns);
    assert.deepEqual(chosen(), names);
    assert.deepEqual(chosen('redis', 'stop_flag g++ -O2'), names.slice(1));
    assert.deepEqual(chosen('stop_flag'), names.slice(0, 2));
    assert.deepEqual(chosen('*-O2'), names.slice(0, 2));
    assert.deepEqual(chosen('*'), names);
    assert.throws(() => chosen('redis', 'red', 'stop.flag'), {
      message: `there is no row 'red', 'stop.flag'; there are ${names.join(', ')}`,
    });
  });
});
