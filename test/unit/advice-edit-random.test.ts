// Edits of some hundred structures that chance made, of one text for each language: what the compilers lay out is what was asked for.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from '../../extension/protocol/advice';
import { editOf } from '../../extension/session/advice/edit';
import { applied } from '../../extension/session/advice/split';
import {
  assertApplies,
  assertCompiles,
  assertEdits,
  closeWorkspace,
  compiled,
  openWorkspace,
  referenceOf,
  sources,
  type Workspace,
} from './advice-edits';

const STRUCTURES = 60;

/** Numbers below a bound, the same ones for the same seed (xorshift32). */
function chance(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % bound;
  };
}

type Below = ReturnType<typeof chance>;
const oneOf = <T>(below: Below, values: readonly T[]): T => values[below(values.length)]!;

const TYPES = {
  c: [
    'char',
    'short',
    'int',
    'long',
    'unsigned long long',
    'float',
    'double',
    'const char *',
    'uint8_t',
    'struct node *',
    '_Atomic long',
    '_Bool',
    'volatile int',
  ],
  cpp: [
    'char',
    'bool',
    'short int',
    'unsigned',
    'long',
    'std::atomic<long>',
    'std::atomic<int *>',
    'double',
    'std::uint16_t',
    'node *',
    'mutable long',
    'pair_of<int, char>',
  ],
};
const HEADS = {
  c: '#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\nstruct node { int kind; };\n',
  cpp: '#include <atomic>\n#include <cstddef>\n#include <cstdint>\n#include <cstdio>\nstruct node { int kind; };\ntemplate <class A, class B> struct pair_of { A a; B b; };\n',
};

/** A structure whose members are named m0, m1, … */
function structure(below: Below, name: string, language: 'c' | 'cpp', newline: string): string {
  const indentation = oneOf(below, ['  ', '\t', '    ', '']);
  const isOneLine = below(8) === 0;
  let text = `struct ${name}${oneOf(below, [' ', newline, ''])}{${isOneLine ? '' : oneOf(below, ['', ' // ü of all', ' /* of all */'])}`;
  let count = 0;
  const declarations = 2 + below(6);
  for (let index = 0; index < declarations; index++) {
    const start = isOneLine ? ' ' : oneOf(below, [newline, newline, newline, `${newline}${newline}`]) + indentation;
    const comment = isOneLine
      ? oneOf(below, ['', '/* “x” */ '])
      : oneOf(below, ['', '', `/* before */${newline}${indentation}`, `// before 🐍${newline}${indentation}`]);
    const behind = isOneLine
      ? oneOf(below, ['', ' /* behind */'])
      : oneOf(below, ['', '', ' // behind; not a member', ' /* behind */', ` /* on${newline}   two lines */`]);
    const names = Array.from({ length: oneOf(below, [1, 1, 1, 2, 3]) }, () => `m${count++}`);
    const type = oneOf(below, TYPES[language]);
    const declarators = names.map((one) => one + oneOf(below, ['', '', '', '[3]', '[2][2]']));
    const kind = below(12);
    if (kind === 0) text += `${start}${comment}union { int u${count}; long v${count}; } ${names[0]!};${behind}`;
    else if (kind === 1) text += `${start}${comment}int (*${names[0]!})(int, ${type.replace('mutable ', '')});${behind}`;
    else if (kind === 2) text += `${start}${comment}unsigned ${names.map((one) => `${one} : ${1 + below(9)}`).join(', ')};${behind}`;
    else if (kind === 3 && language === 'cpp')
      text += `${start}${comment}[[maybe_unused]] long ${names.map((one) => `${one} = 1`).join(', ')};${behind}`;
    else text += `${start}${comment}${type} ${declarators.join(', ')};${behind}`;
    if (language === 'cpp' && below(6) === 0 && !isOneLine) text += `${start}void run${index}() {}`;
  }
  return `${text}${isOneLine ? ' ' : newline}};${oneOf(below, ['', ' // end'])}${newline}${name} *use_${name}(void);${newline}`.replace(
    `${newline}${name} *use`,
    `${newline}struct ${name} *use`,
  );
}

/** Another order, or the same one; bit-fields of one unit stay together. */
function change(below: Below, type: Extract<Change, { kind: 'members' }>['type'], alignment: number): Extract<Change, { kind: 'members' }> {
  const units: number[][] = [];
  type.members.forEach(({ bitSize }, index) => {
    if (bitSize !== null && index > 0 && type.members[index - 1]!.bitSize !== null) units.at(-1)!.push(index);
    else units.push([index]);
  });
  const isKept = below(4) === 0 || units.filter(([first]) => type.members[first!]!.bitSize !== null).length > 1;
  if (!isKept)
    for (let index = units.length - 1; index > 0; index--) {
      const other = below(index + 1);
      [units[index], units[other]] = [units[other]!, units[index]!];
    }
  const order = units.flatMap((unit) => {
    const startsLine = below(3) === 0;
    return unit.map((member, index) => ({ member, startsLine: startsLine && index === 0 }));
  });
  if (!order.some(({ startsLine }) => startsLine)) order[0]!.startsLine = true;
  return { kind: 'members', type, alignment, order };
}

/** A program that prints a line for each structure: its name, size, and the offsets of the members that have one to ask for. */
function printer(changes: readonly Extract<Change, { kind: 'members' }>[], language: 'c' | 'cpp'): string {
  const lines = changes.map(({ type, order }) => {
    const plain = order.flatMap(({ member }) => (type.members[member]!.bitSize === null ? [type.members[member]!.name] : []));
    const tag = language === 'c' ? `struct ${type.name}` : type.name;
    const values = [`sizeof(${tag})`, ...plain.map((name) => `offsetof(${tag}, ${name})`)];
    return `  printf("${type.name}${' %zu'.repeat(values.length)}\\n", ${values.join(', ')});`;
  });
  return `int main(void) {\n${lines.join('\n')}\n  return 0;\n}\n`;
}

describe('edits of structures that chance made', () => {
  let workspace: Workspace;
  before(() => (workspace = openWorkspace()));
  after(() => closeWorkspace(workspace));

  async function judge(file: string, seed: number, newline: string, alignment: number): Promise<number> {
    const language = file.endsWith('.c') ? 'c' : 'cpp';
    const below = chance(seed);
    const path = join(workspace.folder, file);
    const names = Array.from({ length: STRUCTURES }, (_, index) => `Random${index}`);
    const text = HEADS[language].replaceAll('\n', newline) + names.map((name) => structure(below, name, language, newline)).join(newline);
    writeFileSync(path, text);
    const binary = compiled(path);
    const { declarations } = await workspace.engine.call('declarations', { binary, file: path });
    const changes: Extract<Change, { kind: 'members' }>[] = [];
    const edits: { start: number; end: number; text: string }[] = [];
    const refused = new Map<string, number>();
    for (const name of names) {
      const layout = declarations.find(({ layout: one, variable }) => one.name === name && variable === '')?.layout;
      assert.ok(layout, `${file} has no ${name}`);
      const wanted = change(below, referenceOf(layout, binary, path), alignment);
      const answer = await editOf(wanted, sources);
      if ('reason' in answer) {
        const why = answer.reason.replace(/\w*\d+\w*|\S+\//g, '…');
        refused.set(why, (refused.get(why) ?? 0) + 1);
        continue;
      }
      assertEdits(answer);
      changes.push(wanted);
      edits.push(...answer.files[0]!.edits);
    }
    const after = applied(text, 0, edits);
    assertApplies(workspace, { files: [{ file: path, before: text, after, edits }] });
    writeFileSync(path, after);
    assertCompiles(path);
    writeFileSync(path, after + printer(changes, language));
    for (const compiler of language === 'c' ? ['gcc', 'clang'] : ['g++', 'clang++']) {
      const standard = language === 'c' ? '-std=gnu11' : '-std=gnu++17';
      execFileSync(compiler, [standard, '-w', '-o', `${path}.out`, path], { timeout: 60_000 });
      const printed = execFileSync(`${path}.out`, { encoding: 'utf8' }).trimEnd().split('\n');
      assert.equal(printed.length, changes.length);
      changes.forEach(({ type, order }, index) => {
        const [name, size, ...offsets] = printed[index]!.split(' ');
        assert.equal(name, type.name);
        assert.equal(Number(size) % alignment, 0, printed[index]);
        const plain = order.filter(({ member }) => type.members[member]!.bitSize === null);
        plain.forEach(({ startsLine }, place) => {
          if (startsLine) assert.equal(Number(offsets[place]) % alignment, 0, `${compiler}: ${printed[index]!}\n${after}`);
        });
        assert.deepEqual(
          offsets.map(Number),
          offsets.map(Number).sort((a, b) => a - b),
          `${compiler}: order of ${printed[index]!}`,
        );
      });
    }
    // Few are refused, and each for a reason that the generator makes on purpose.
    for (const why of refused.keys()) assert.match(why, /share storage|come to share|already has/, [...refused].join('\n'));
    return changes.length;
  }

  it('of C', async () => assert.ok((await judge('random.c', 0x2545f491, '\n', 64)) > 0.8 * STRUCTURES));
  it('of C with CR LF, for pairs of lines', async () =>
    assert.ok((await judge('random-crlf.c', 0x1234567, '\r\n', 128)) > 0.8 * STRUCTURES));
  it('of C++', async () => assert.ok((await judge('random.cpp', 0x9e3779b9, '\n', 64)) > 0.8 * STRUCTURES));
  it('of C++ with CR LF', async () => assert.ok((await judge('random-crlf.cpp', 0x51ed270b, '\r\n', 64)) > 0.8 * STRUCTURES));
});
