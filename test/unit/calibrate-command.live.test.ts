// `cacheline doctor --calibrate`, and the recordings that carry what it measured. No times are expected: a machine's are its own.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Calibration, CalibrationResult } from '../../extension/protocol/calibration';
import type { DoctorReport } from '../../extension/protocol/engine';
import type { RecordingMeta } from '../../extension/protocol/recording';
import { CLASSES } from './calibration-builder';
import { Command, examples, type Outcome } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const command = new Command();

describe('cacheline doctor --calibrate', function () {
  this.timeout(120_000);
  command.install();
  const folder = temporaryFolder();
  const at = (...parts: string[]): string => join(folder.path, ...parts);
  const run = (args: readonly string[], cache: string, through: readonly string[] = []): Promise<Outcome> =>
    command.run(args, { cwd: folder.path, env: { XDG_CACHE_HOME: cache }, through });

  const resultOf = ({ status, stdout, stderr }: Outcome): CalibrationResult => {
    assert.equal(status, 0, stderr);
    const report = JSON.parse(stdout) as DoctorReport;
    assert.deepEqual(schemaErrors('cacheline-doctor', report), []);
    assert.equal(report.collectors.length, 4);
    assert.ok(report.calibration);
    return report.calibration;
  };
  /** Skips the test where this machine cannot measure now, which is an answer, too. */
  const measured = (test: Mocha.Context, { measured: found, reason }: CalibrationResult): Calibration => {
    if (found !== null) return found;
    assert.match(reason, /two CPUs|too busy/);
    console.error(`      skipped: ${reason}`);
    return test.skip();
  };
  const recordedMeta = async (name: string, cache: string): Promise<{ meta: RecordingMeta; stderr: string }> => {
    const { status, stderr } = await run(['record', '-o', name, '--', join(examples, 'producer_limit-contended')], cache);
    assert.equal(status, 0, stderr);
    const meta = JSON.parse(readFileSync(at(name, 'meta.json'), 'utf8')) as RecordingMeta;
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta), []);
    return { meta, stderr };
  };

  it('measures all classes and keeps them; recordings carry them from then on', async function () {
    const cache = at('cache');
    assert.equal((await recordedMeta('before', cache)).meta.calibration, null);
    const result = resultOf(await run(['doctor', '--calibrate', '--format', 'json'], cache));
    const calibration = measured(this, result);
    assert.equal(result.reason, '');
    assert.notEqual(calibration.cpus[0], calibration.cpus[1]);
    assert.ok(calibration.seconds >= 0.5 && calibration.seconds < 10, `${calibration.seconds} s`);
    assert.ok(calibration.discarded < calibration.slices);
    assert.ok(Math.abs(Date.now() - Date.parse(calibration.date)) < 600_000, calibration.date);
    for (const name of CLASSES) {
      const points = calibration.classes[name];
      assert.equal(points.length, 8);
      assert.ok(points[7]!.workNs > points[0]!.workNs, name);
    }
    const file = result.file ?? '';
    assert.ok(file.startsWith(`${cache}/cacheline-lens/calibrations/`), file);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), calibration);
    const { meta, stderr } = await recordedMeta('after', cache);
    assert.deepEqual(meta.calibration, calibration);
    assert.doesNotMatch(stderr, /calibration/);

    writeFileSync(file, readFileSync(file, 'utf8').replace('"aloneNs"', '"alone"'));
    const damaged = await recordedMeta('damaged', cache);
    assert.equal(damaged.meta.calibration, null);
    assert.match(
      damaged.stderr,
      /warning: the calibration of this machine is not used: .*\.json: .*classes\.load\[0\]\.aloneNs is missing/,
    );
    assert.match(damaged.stderr, /cacheline doctor --calibrate/);
  });

  it('shows numbers that cannot be kept, and says so', async function () {
    writeFileSync(at('file'), '');
    const { status, stdout, stderr } = await run(['doctor', '--calibrate'], at('file'));
    assert.equal(status, 0, stderr);
    if (/^ {2}not known: /m.test(stdout)) measured(this, { measured: null, file: null, reason: stdout });
    assert.match(stdout, /^Collectors$[^]*^Calibration$[^]*^ {2}Plain store$[^]*^Machine$/m);
    assert.match(stdout, /It could not be saved: cannot create the folder/);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, line);
  });

  it('on one CPU it is not known, and nothing is kept', async () => {
    mkdirSync(at('empty'));
    const cpu = /Cpus_allowed_list:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
    const result = resultOf(await run(['doctor', '--calibrate', '--format', 'json'], at('empty'), ['taskset', '-c', cpu]));
    assert.equal(result.measured, null);
    assert.equal(result.file, null);
    assert.match(result.reason, new RegExp(`the measurement needs two CPUs, and this process may use only CPU ${cpu}\\. Run it on `));
    assert.deepEqual(readdirSync(at('empty')), []);
  });

  it('is not measured where it was not asked for', async () => {
    const { stdout } = await run(['doctor', '--format', 'json'], at('none'));
    assert.equal((JSON.parse(stdout) as DoctorReport).calibration, undefined);
    assert.ok(!readdirSync(folder.path).includes('none'));
  });
});
