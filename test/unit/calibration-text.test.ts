// The text of `cacheline doctor --calibrate`, and the schema of what it measures.
import assert from 'node:assert/strict';
import type { Calibration, CalibrationResult } from '../../extension/protocol/calibration';
import { calibrationLines } from '../../extension/session/machine/calibration-text';
import { doctorText } from '../../extension/session/machine/doctor-text';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { calibration } from './calibration-builder';
import { schemaErrors } from './schemas';

const kept: CalibrationResult = {
  measured: calibration(),
  file: '/home/me/.cache/cacheline-lens/calibrations/Example-CPU-7.json',
  reason: '',
};
const textOf = (result: CalibrationResult, width = 80): string => calibrationLines(result, width, PLAIN).join('\n');

describe('calibration text', () => {
  it('has a table of each class of accesses, and says where it was saved', () => {
    const text = textOf(kept).replace(/\s+/g, ' ');
    const [head, ...tables] = text.split(' work between alone contended ratio accesses per turn ');
    assert.match(head!, / CPU 0 and CPU 12 .* nanoseconds per iteration: .* Plain load\b/);
    assert.deepEqual(
      tables.map((table) => table.match(/(?:\d[\d.x]* |none seen ?){15}/)?.index),
      [0, 0, 0, 0, 0],
    );
    assert.match(
      tables[0]!,
      /^0\.5 2\.5 91\.5 36\.60x 21\.3 20\.3 22\.3 111\.3 5\.00x 10\.6 1984\.1 1986\.1 2075\.1 1\.04x none seen Plain store$/,
    );
    for (const [at, next] of [
      /Plain read-modify-write/,
      /Atomic update/,
      /Compare-exchange/,
      / Saved in \S*\/Example-CPU-7\.json /,
    ].entries())
      assert.match(tables[at + 1]!, next);
  });

  it('is never wider than the width, also where names are hostile', () => {
    const hostile: CalibrationResult = {
      measured: calibration({
        classes: { ...calibration().classes, load: [{ workNs: 1e9, aloneNs: 0, contendedNs: 1e9, iterationsPerChange: 1e15, spread: 1 }] },
      }),
      file: null,
      reason: `cannot create the folder /\u001b[2J${'long'.repeat(50)}: Permission denied`,
    };
    for (const result of [kept, hostile])
      for (let width = 40; width < 200; width += 7)
        for (const style of [PLAIN, COLOURED])
          for (const line of calibrationLines(result, width, style))
            assert.ok(displayWidth(line.replace(/\u001b\[\d+m/g, '')) <= width, `${width}: ${line}`);
    assert.doesNotMatch(textOf(hostile), /\u001b/);
  });

  it('says why it is not known, with the next step', () => {
    const reason = 'the measurement needs two CPUs, and this process may use only CPU 3. Run it elsewhere.';
    assert.equal(textOf({ measured: null, file: null, reason }, 200), `  not known: ${reason}`);
  });

  it('shows numbers that could not be kept, and says so', () => {
    const text = textOf({ ...kept, file: null, reason: 'cannot create the folder /x: Read-only file system' }, 200);
    assert.match(text, /^ {2}It could not be saved: cannot create the folder \/x: Read-only file system\.$/m);
    assert.match(text, / 2\.5 +91\.5 +36\.60x +21\.3$/m);
    assert.doesNotMatch(text, /Saved in/);
  });

  it('says of what was discarded, and of plain stores, how far the numbers go', () => {
    const words = (result: CalibrationResult): string => textOf(result).replace(/\s+/g, ' ');
    assert.match(words(kept), / 66 of 2,080 slices of time were discarded: /);
    assert.match(words({ ...kept, measured: calibration({ discarded: 0 }) }), / All 2,080 slices of time are used\. /);
    assert.match(words(kept), / 1\.00x none seen Plain stores hide in the store buffer: .* only bounds are known for them\. Atomic /);
  });

  it('is a part of the doctor’s, where it was asked for', () => {
    const report = { collectors: [], machine: { hostname: 'build7', kernel: '6', cpu: null, cpus: 2, lineSize: 64, pmus: [] } };
    assert.doesNotMatch(doctorText(report, { width: 80 }), /Calibration/);
    const text = doctorText({ ...report, calibration: kept }, { width: 80 });
    assert.ok(text.includes(`\nCalibration\n${textOf(kept)}\n\nMachine\n`), text);
    assert.deepEqual(schemaErrors('cacheline-doctor', { ...report, calibration: kept }), []);
    assert.deepEqual(schemaErrors('cacheline-doctor', { ...report, calibration: { measured: null, file: null, reason: 'x' } }), []);
    assert.notDeepEqual(schemaErrors('cacheline-doctor', { ...report, calibration: { measured: {}, file: null, reason: '' } }), []);
  });
});

describe('calibration schema', () => {
  it('holds, and requires every field', () => {
    assert.deepEqual(schemaErrors('cacheline-calibration-1', calibration()), []);
    const without = (value: object, name: string): object => Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
    for (const name of Object.keys(calibration()))
      assert.notDeepEqual(schemaErrors('cacheline-calibration-1', without(calibration(), name)), [], name);
    const [point] = calibration().classes.load;
    for (const name of Object.keys(point!)) {
      const load = [without(point!, name)] as Calibration['classes']['load'];
      assert.notDeepEqual(schemaErrors('cacheline-calibration-1', calibration({ classes: { ...calibration().classes, load } })), [], name);
    }
  });

  it('refuses wrong values', () => {
    for (const spoil of [
      { schema: 'cacheline-calibration/2' },
      { cpus: [0] },
      { seconds: -1 },
      { discarded: 0.5 },
      { classes: { ...calibration().classes, locked: [] } },
    ])
      assert.notDeepEqual(schemaErrors('cacheline-calibration-1', { ...calibration(), ...spoil }), [], JSON.stringify(spoil));
  });
});
