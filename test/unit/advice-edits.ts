// For the tests of edits: types as the engine reads them from compiled sources, changes of them, and compilers as judges.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadAddon, NativeEngine } from '../../extension/engine/native';
import type { Change, TypeReference } from '../../extension/protocol/advice';
import type { Layout } from '../../extension/protocol/layout';
import type { Edits, NoEdit, Sources } from '../../extension/session/advice/edit';
import { patchOf } from '../../extension/session/advice/patch';

export interface Workspace {
  folder: string;
  engine: NativeEngine;
}

export function openWorkspace(): Workspace {
  return { folder: mkdtempSync(join(tmpdir(), 'cacheline-edits-')), engine: new NativeEngine(loadAddon()) };
}

export function closeWorkspace({ folder }: Workspace): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Sources on disk, none of which is newer than its binary. */
export const sources: Sources = {
  read: (file) => Promise.resolve(readFileSync(file, 'utf8')),
  isNewer: () => Promise.resolve(false),
};

export const isC = (file: string): boolean => file.endsWith('.c') || file.endsWith('.h');
const standard = (file: string, standards = { c: 'gnu11', cxx: 'gnu++20' }): string[] =>
  isC(file) ? ['-xc', `-std=${standards.c}`] : ['-xc++', `-std=${standards.cxx}`];

type Compiler = 'gcc' | 'clang';

/** @returns path of the object, whose debug information has all types, used or not */
export function compiled(file: string, compiler: Compiler = 'gcc', warnings = ['-w']): string {
  const object = `${file}.${compiler}.o`;
  const keep = compiler === 'gcc' ? ['-fno-eliminate-unused-debug-types'] : ['-fno-eliminate-unused-debug-types', '-fstandalone-debug'];
  const { status, stderr } = spawnSync(compiler, [...standard(file), '-g', ...keep, ...warnings, '-c', '-o', object, file], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.equal(status, 0, `${compiler}: ${stderr}\n${readFileSync(file, 'utf8')}`);
  return object;
}

/**
 * That both compilers take the file without a warning that the text before did not have.
 * @returns paths of their objects, as those of `compiled`
 */
export function assertCompiles(file: string): Record<Compiler, string> {
  const warnings = ['-Wall', '-Werror', '-Wno-unused'];
  return { gcc: compiled(file, 'gcc', warnings), clang: compiled(file, 'clang', [...warnings, '-Wno-unused-private-field']) };
}

export function referenceOf(layout: Layout, binary: string, file: string): TypeReference {
  return {
    name: layout.name,
    binary,
    size: layout.size,
    align: layout.align,
    definition: { file, line: layout.line },
    members: layout.members
      .filter(({ role, depth }) => role === 'field' && depth === 0)
      .map(({ name, type, offset, size, bitSize, line }) => ({ name, type, offset, size, bitSize, line })),
  };
}

export async function layoutOf({ engine }: Workspace, binary: string, type: string): Promise<Layout> {
  const { declarations } = await engine.call('declarations', { binary, file: binary.replace(/\.(?:gcc|clang)\.o$/, '') });
  const layouts = declarations.flatMap(({ variable, layout }) => (layout.name === type || variable === type ? [layout] : []));
  const [found] = layouts.filter(({ kind }) => kind !== 'enum');
  if (found) return found;
  const { layouts: named } = await engine.call('layout', { binary, name: type });
  assert.ok(named[0], `${binary} has no ${type}: ${declarations.map(({ layout }) => layout.name).join(', ')}`);
  return named[0];
}

/**
 * @param order names of members that come first, in their new order, the others behind them as they are; `*`: starts a line;
 * `#2` is the third member
 */
export function membersChange(type: TypeReference, order: string, alignment = 64): Extract<Change, { kind: 'members' }> {
  const wanted = order.split(' ').filter((word) => word !== '');
  const chosen = wanted.map((word) => {
    const name = word.replace('*', '');
    const member = name.startsWith('#') ? Number(name.slice(1)) : type.members.findIndex((one) => one.name === name);
    assert.ok(member >= 0 && member < type.members.length, `${type.name} has no ${name}: ${type.members.map((one) => one.name).join(' ')}`);
    return { member, startsLine: word.startsWith('*') };
  });
  const rest = type.members.flatMap((_, member) => (chosen.some((one) => one.member === member) ? [] : [{ member, startsLine: false }]));
  return { kind: 'members', type, alignment, order: [...chosen, ...rest] };
}

/** That the members of the layout are in the order of the change, and begin lines where they should. */
export function assertLayout(layout: Layout, { type, order, alignment }: Extract<Change, { kind: 'members' }>): void {
  const now = layout.members.filter(({ role, depth }) => role === 'field' && depth === 0);
  const shape = JSON.stringify(now.map(({ name, offset }) => [name, offset]));
  assert.deepEqual(
    now.map(({ name }) => name),
    order.map(({ member }) => type.members[member]?.name),
    shape,
  );
  order.forEach(({ startsLine }, index) => {
    if (startsLine) assert.equal((now[index]?.offset ?? 1) % alignment, 0, `${now[index]?.name ?? ''} of ${shape}`);
  });
  if (order.some(({ startsLine }) => startsLine)) assert.equal(layout.size % alignment, 0, shape);
}

/** That `git apply` makes of the sources what the edits say, byte by byte. @returns the patch */
export function assertApplies({ folder }: Workspace, edits: Edits): string {
  const patch = patchOf(edits.files, folder);
  const clean = mkdtempSync(join(folder, 'apply-'));
  for (const { file, before } of edits.files) {
    const copy = join(clean, file.slice(folder.length));
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, before);
  }
  execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
    cwd: clean,
    input: patch,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: folder },
  });
  for (const { file, after } of edits.files) assert.equal(readFileSync(join(clean, file.slice(folder.length)), 'utf8'), after);
  rmSync(clean, { recursive: true });
  return patch;
}

export function assertEdits(answer: Edits | NoEdit): asserts answer is Edits {
  assert.ok('files' in answer, 'reason' in answer ? answer.reason : '');
}

export function reasonOf(answer: Edits | NoEdit): string {
  assert.ok('reason' in answer, 'files' in answer ? answer.files.map(({ after }) => after).join('\n') : '');
  return answer.reason;
}
