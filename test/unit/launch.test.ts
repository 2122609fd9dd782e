// What is started for a profile: arguments without a shell, launch entries and paths written by hand.
import assert from 'node:assert/strict';
import {
  environmentList,
  joinArguments,
  LaunchError,
  parseLaunchEntries,
  parseRecent,
  remember,
  resolveTarget,
  splitArguments,
} from '../../extension/session/record/launch';
import { commandIn } from '../../extension/session/text/next-step';

describe('launch: arguments', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['  a   b\tc\n', ['a', 'b', 'c']],
    [`'a b' "c d"`, ['a b', 'c d']],
    [`a'b'"c"`, ['abc']],
    [`''`, ['']],
    [`"" x`, ['', 'x']],
    [`a\\ b`, ['a b']],
    [`"a\\"b" 'c\\d' "e\\n"`, [`a"b`, `c\\d`, `e\\n`]],
    ['$HOME `id` $(id) * ; | & >', ['$HOME', '`id`', '$(id)', '*', ';', '|', '&', '>']],
    ['a\\', ['a\\']],
  ];
  for (const [text, args] of cases) it(JSON.stringify(text), () => assert.deepEqual(splitArguments(text), args));

  it('says which quote is open', () => {
    assert.throws(() => splitArguments(`a 'b`), LaunchError);
    assert.throws(() => splitArguments(`a "b'`), /opening "/);
  });

  it('joins so that splitting gives the same again', () => {
    for (const args of [[], [''], ['a b', `it's`, '"', '\\', '$x', 'ü', '-n', '--a=b', '\n']]) {
      assert.deepEqual(splitArguments(joinArguments(args)), args);
    }
    assert.equal(joinArguments(['--rounds=5', 'a b']), `--rounds=5 'a b'`);
  });
});

describe('launch: targets', () => {
  it('replaces ${workspaceFolder} and resolves relative paths', () => {
    assert.deepEqual(
      resolveTarget({ program: 'bin/a', args: ['${workspaceFolder}/x'], cwd: 'run', env: { P: '${workspaceFolder}' } }, '/ws/$&'),
      {
        program: '/ws/$&/bin/a',
        args: ['/ws/$&/x'],
        cwd: '/ws/$&/run',
        env: { P: '/ws/$&' },
      },
    );
    assert.equal(resolveTarget({ program: '/bin/true' }, '/ws').cwd, '/ws');
    assert.equal(resolveTarget({ program: '/bin/true' }, undefined).cwd, '/bin');
  });

  it('needs a folder for what is relative to one', () => {
    assert.throws(() => resolveTarget({ program: 'a' }, undefined), LaunchError);
    assert.throws(() => resolveTarget({ program: '${workspaceFolder}/a' }, undefined), LaunchError);
  });

  for (const wrong of [
    undefined,
    null,
    5,
    'a',
    [],
    {},
    { program: '' },
    { program: 'a', args: 'b' },
    { program: 'a', args: [1] },
    { program: 'a', cwd: 1 },
  ]) {
    it(`refuses ${JSON.stringify(wrong)}`, () => assert.throws(() => resolveTarget(wrong, '/ws'), LaunchError));
  }
  it('refuses names and values no program can be given', () => {
    assert.throws(() => resolveTarget({ program: 'a', env: { 'A=B': 'c' } }, '/ws'), LaunchError);
    assert.throws(() => resolveTarget({ program: 'a', env: { '': 'c' } }, '/ws'), LaunchError);
    assert.throws(() => resolveTarget({ program: 'a\0' }, '/ws'), LaunchError);
  });

  it('reads the setting and says what it leaves out', () => {
    const { entries, problems } = parseLaunchEntries([{ name: 'one', program: 'a', args: ['-x'] }, { name: 'two' }, { program: 'b' }]);
    assert.deepEqual(entries, [
      { name: 'one', program: 'a', args: ['-x'] },
      { name: 'b', program: 'b', args: [] },
    ]);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', /^cacheline\.launch\[1\]: "program"/);
    assert.deepEqual(parseLaunchEntries('a').problems, ['cacheline.launch is not a list.']);
  });

  it('remembers each program once, the last first, ten at most', () => {
    const target = (name: string, args: string[] = []) => ({ program: `/bin/${name}`, args, cwd: '/', env: {} });
    let recent = [target('a'), target('b')];
    recent = remember(recent, target('b', ['-v']));
    assert.deepEqual(recent, [target('b', ['-v']), target('a')]);
    for (let i = 0; i < 20; ++i) recent = remember(recent, target(`p${i}`));
    assert.equal(recent.length, 10);
    assert.equal(recent[0]?.program, '/bin/p19');
    assert.deepEqual(parseRecent([...recent, { old: 'shape' }, { program: 'relative' }]), recent);
    assert.deepEqual(parseRecent(undefined), []);
  });

  it('gives the engine NAME=value', () => assert.deepEqual(environmentList({ A: '1', B: 'x=y' }), ['A=1', 'B=x=y']));
});

describe('next step', () => {
  it('finds the command to copy', () => {
    assert.equal(commandIn('Run: sudo sysctl kernel.perf_event_paranoid=2'), 'sudo sysctl kernel.perf_event_paranoid=2');
    assert.equal(
      commandIn('End other recordings of this user, or: sudo sysctl kernel.perf_event_mlock_kb=2048.'),
      'sudo sysctl kernel.perf_event_mlock_kb=2048',
    );
    assert.equal(commandIn('Make it executable with `chmod +x a.out`.'), 'chmod +x a.out');
    assert.equal(commandIn('Check the name.'), undefined);
    assert.equal(commandIn(''), undefined);
  });
});
