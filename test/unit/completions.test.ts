// Completions in real shells: what they make of a line that a person has begun, and of the Tab key.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { COMMANDS } from '../../extension/cli/arguments';
import { completionScript } from '../../extension/cli/completions';
import { SHELLS } from '../../extension/cli/completions-arguments';
import { listedOptions } from '../../extension/cli/help';
import { optionsOf } from '../../extension/cli/options';
import { needsCommands } from './commands-here';

/** What a line becomes where Tab completes a word, or where a key inserts all that is possible: the arguments that the command gets. */
interface Typed {
  tab?: string;
  all?: string;
  gets: readonly string[];
}

const PROGRAMS_OWN: Typed = { tab: 'record mkfifo --hea', gets: ['record', 'mkfifo', '--hea'] };

const TYPED: readonly Typed[] = [
  { tab: 'rec', gets: ['record'] },
  { tab: 'help doc', gets: ['help', 'doctor'] },
  { tab: 'report --form', gets: ['report', '--format'] },
  { all: 'report --format ', gets: ['report', '--format', 'csv', 'json', 'text'] },
  { tab: 'advise --format=j', gets: ['advise', '--format=json'] },
  { tab: 'diff --color alw', gets: ['diff', '--color', 'always'] },
  { tab: 'report --by line,ty', gets: ['report', '--by', 'line,type'] },
  { tab: 'record --collector cl', gets: ['record', '--collector', 'clock'] },
  { tab: 'report -d pe', gets: ['report', '-d', 'peer'] },
  { tab: 'report -i some', gets: ['report', '-i', 'some.data'] },
  { tab: 'report some', gets: ['report', 'some.data'] },
  { all: 'report --symfs ', gets: ['report', '--symfs', 'folder'] },
  { tab: 'record -F 99 mkfif', gets: ['record', '-F', '99', 'mkfifo'] },
  { tab: 'record -- mkfif', gets: ['record', '--', 'mkfifo'] },
  { tab: 'trace Type -- mkfifo some', gets: ['trace', 'Type', '--', 'mkfifo', 'some.data'] },
  PROGRAMS_OWN,
  { all: 'completions ', gets: ['completions', 'bash', 'fish', 'zsh'] },
  { all: 'doctor --', gets: ['doctor', '--calibrate', '--color', '--format', '--help', '--quiet', '--self-test'] },
];

const lineOf = ({ tab, all }: Typed, allKey: string): string => `cacheline ${tab === undefined ? `${all ?? ''}${allKey}` : `${tab}\t`}\n`;

describe('completions', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cacheline-completions-'));
  before(() => {
    for (const shell of SHELLS) writeFileSync(join(folder, `completions.${shell}`), completionScript(shell, COMMANDS));
    mkdirSync(join(folder, 'here/folder'), { recursive: true });
    writeFileSync(join(folder, 'here/some.data'), '');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function run(program: string, args: readonly string[], input = ''): string {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: join(folder, 'here'),
      env: { PATH: process.env['PATH'], HOME: folder, TERM: 'dumb', LC_ALL: 'C.UTF-8' },
      input,
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(status, 0, stderr);
    return stdout;
  }

  const arguments_ = (stdout: string): string[][] => [...stdout.matchAll(/GOT<(.*)>/g)].map(([, line = '']) => line.split('|'));
  const wanted = TYPED.map(({ gets }) => gets);

  it('work in bash', function () {
    needsCommands(this, ['bash']);
    const setup = `PS1=; PS2=; bind 'set enable-bracketed-paste off'; source ../completions.bash; cacheline() { local IFS='|'; echo "GOT<$*>"; }\n`;
    // Escape, *: insert-completions.
    const lines = TYPED.map((typed) => lineOf(typed, '\u001b*')).join('');
    assert.deepEqual(arguments_(run('bash', ['--norc', '--noprofile', '-i'], `${setup}${lines}exit 0\n`)), wanted);
  });

  it('work in zsh', function () {
    needsCommands(this, ['zsh']);
    // A terminal, as its line editor needs one. What it echoes of the setup is not taken for its end: READY has no digit there.
    const script = `
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'PS1=; autoload -U compinit; compinit -u -D; source ../completions.zsh; LISTMAX=0; zle -C all complete-word _generic; bindkey "^Y" all; zstyle ":completion:all:*" completer _all_matches _complete; zstyle ":completion:*" insert true; cacheline() { print -r -- "GOT<\${(j:|:)@}>" }; print READY$((1))'
      zpty -r -m shell out '*READY1*'
      while IFS= read -r -d $'\\n' line; do
        zpty -w shell "$line"
        zpty -r -m shell out '*GOT<*>*'
        print -r -- "\${out}"
      done
      zpty -d shell`;
    const lines = TYPED.map((typed) => lineOf(typed, '\u0019')).join('');
    const got = arguments_(run('zsh', ['-f', '-c', script], lines));
    assert.deepEqual(got, wanted);
  });

  it('work in fish', function () {
    needsCommands(this, ['fish']);
    // The script knows only -- as the begin of a program's own words.
    for (const { tab, all, gets } of TYPED.filter((typed) => typed !== PROGRAMS_OWN)) {
      const line = tab ?? all ?? '';
      const offered = run('fish', ['--no-config', '-c', 'source ../completions.fish; complete -C $argv[1]', `cacheline ${line}`])
        .split('\n')
        .map((candidate) => candidate.replace(/\t.*/, '').replace(/\/$/, ''))
        .filter((candidate) => candidate !== '' && !/^-\w$/.test(candidate));
      const typed = line.split(' ');
      assert.deepEqual(offered, gets.slice(typed.length - 1), line);
    }
  });

  it('are told of all that a value can be by the help', () => {
    for (const command of COMMANDS)
      for (const [name, { values, help }] of listedOptions(optionsOf(command)))
        if (Array.isArray(values))
          for (const value of values as readonly string[])
            assert.match(help, new RegExp(`\\b${value}\\b`), `${command.name} --${name}: its help does not name ${value}`);
  });
});
