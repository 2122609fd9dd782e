// The grammar of the command line.
import assert from 'node:assert/strict';
import { parseArguments, type RecordArguments } from '../../extension/cli/arguments';
import { EngineError } from '../../extension/protocol/engine';

const DEFAULTS: Omit<RecordArguments, 'program'> = {
  command: 'record',
  force: false,
  frequency: 499,
  durationSeconds: 0,
  callchains: false,
};

function refuses(args: string[], message: RegExp): void {
  assert.throws(
    () => parseArguments(args),
    (error: unknown) => {
      assert.ok(error instanceof EngineError, String(error));
      assert.equal(error.kind, 'usage');
      assert.match(error.message, message);
      assert.match(error.message, /^[^\n]+\.$/, 'one sentence');
      assert.match(error.nextStep, /--help$/);
      return true;
    },
  );
}

describe('arguments: record', () => {
  it('takes the program after --', () => {
    assert.deepEqual(parseArguments(['record', '--', './a.out', '-x', '--', 'y']), { ...DEFAULTS, program: ['./a.out', '-x', '--', 'y'] });
  });

  it('takes the program without -- as the first argument that is no option; its options stay its own', () => {
    assert.deepEqual(parseArguments(['record', '-F', '99', './a.out', '-F', '7', '--help', '-o', 'x']), {
      ...DEFAULTS,
      frequency: 99,
      program: ['./a.out', '-F', '7', '--help', '-o', 'x'],
    });
  });

  it('takes all options in their short and long forms', () => {
    const wanted = { ...DEFAULTS, directory: 'out', force: true, frequency: 1000, durationSeconds: 2.5, callchains: true, program: ['a'] };
    assert.deepEqual(parseArguments(['record', '-o', 'out', '--force', '-F1000', '--duration', '2.5', '-g', '--', 'a']), wanted);
    assert.deepEqual(
      parseArguments(['record', '--output=out', '--force', '--frequency=1000', '--duration=2.5', '--call-graph', 'a']),
      wanted,
    );
  });

  it('takes a program whose name begins with a dash after --', () => {
    assert.deepEqual(parseArguments(['record', '--', '-odd']), { ...DEFAULTS, program: ['-odd'] });
  });

  it('keeps empty arguments of the program', () => {
    assert.deepEqual(parseArguments(['record', 'a', '', 'b']), { ...DEFAULTS, program: ['a', '', 'b'] });
  });

  it('refuses what it cannot use', () => {
    refuses(['record'], /no program/);
    refuses(['record', '--'], /no program/);
    refuses(['record', '--', ''], /no program/);
    refuses(['record', '-g'], /no program/);
    refuses(['record', '-o', '', 'a'], /-o/);
    for (const rate of ['0', '-1', '1.5', 'fast', '', '1e3', '1000001', '0x10']) refuses(['record', `-F${rate}`, '--', 'a'], /-F/);
    for (const seconds of ['0', '-1', 'abc', 'Infinity']) refuses(['record', `--duration=${seconds}`, '--', 'a'], /--duration/);
    refuses(['record', '--frequncy', '9', '--', 'a'], /frequncy/);
    refuses(['record', '--force=yes', '--', 'a'], /force/);
    refuses(['record', '-o'], /-o/);
  });
});

describe('arguments: report and doctor', () => {
  it('have defaults', () => {
    assert.deepEqual(parseArguments(['report']), { command: 'report', format: 'text', showAll: false });
    assert.deepEqual(parseArguments(['doctor']), { command: 'doctor', format: 'text' });
  });

  it('take their options on both sides of the recording', () => {
    const wanted = { command: 'report', path: 'a.cacheline', format: 'json', showAll: true, width: 120 };
    assert.deepEqual(parseArguments(['report', 'a.cacheline', '--format', 'json', '--show-all', '--width', '120']), wanted);
    assert.deepEqual(parseArguments(['report', '--format=json', '--show-all', '--width=120', 'a.cacheline']), wanted);
    assert.deepEqual(parseArguments(['doctor', '--format', 'json']), { command: 'doctor', format: 'json' });
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

describe('arguments: the rest', () => {
  it('gives help for everything', () => {
    for (const args of [
      ['--help'],
      ['-h'],
      ['help'],
      ['record', '--help'],
      ['record', '-h', 'a'],
      ['report', '-h'],
      ['doctor', '--help'],
      ['help', 'report'],
    ]) {
      const parsed = parseArguments(args);
      assert.equal(parsed.command, 'help');
      assert.match('text' in parsed ? parsed.text : '', /^[^]*Usage[^]*\n$/);
    }
    assert.deepEqual(parseArguments(['help', 'report']), parseArguments(['report', '--help']));
  });

  it('help mentions every option and fits 84 columns', () => {
    for (const [command, options] of Object.entries({
      record: ['-o', '--output', '--force', '-F', '--frequency', '--duration', '-g', '--call-graph'],
      report: ['--format', '--show-all', '--width'],
      doctor: ['--format'],
    })) {
      const parsed = parseArguments([command, '--help']);
      const text = 'text' in parsed ? parsed.text : '';
      for (const option of options) assert.ok(text.includes(option), `${command} --help says nothing of ${option}`);
      for (const line of text.split('\n')) assert.ok(line.length <= 84, line);
    }
  });

  it('gives the version', () => {
    assert.deepEqual(parseArguments(['--version']), { command: 'version' });
    assert.deepEqual(parseArguments(['-V']), { command: 'version' });
  });

  it('refuses other commands', () => {
    refuses([], /no command/);
    refuses(['recrod'], /'recrod'/);
    refuses(['toString'], /'toString'/);
    refuses(['--quiet'], /'--quiet'/);
  });
});
