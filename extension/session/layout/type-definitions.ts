// Gives types whose debug information does not say where they are defined (Rust, Go) the places that the sources say.
import type { Layout, TypeHeat } from '../../protocol/layout';
import { typeMakers, usesOfMakers, type MacroUse } from './macros';
import { definitionsIn, sourceLanguage, type SourceDefinition } from './source-definitions';
import { sourceName } from './type-names';

interface Candidate extends SourceDefinition {
  file: string;
}

export function withoutPlace({ layout }: TypeHeat): boolean {
  return layout.file === '';
}

/**
 * Writes into the layouts where they and their members are defined: by a definition, else by the use of a macro that makes types
 * and names this one. A type that several fit keeps none.
 * @param sources texts by path
 */
export function placeTypes(types: readonly TypeHeat[], sources: ReadonlyMap<string, string>): void {
  const byName = new Map<string, Candidate[]>();
  for (const [file, text] of sources) {
    const language = sourceLanguage(file);
    for (const definition of language ? definitionsIn(text, language) : [])
      byName.set(definition.name, [...(byName.get(definition.name) ?? []), { ...definition, file }]);
  }
  const made = makersOf(sources);
  for (const { name, layout } of types.filter(withoutPlace)) {
    const fitting = (byName.get(sourceName(name)) ?? []).filter((one) => fits(one, layout));
    const found =
      fitting.length > 0 ? fitting : made.filter(({ words }) => words.has(sourceName(name))).map((use) => madeBy(use, sourceName(name)));
    const [only, ...others] = found.length > 1 ? found.filter(({ file }) => inModule(file, name)) : found;
    if (!only || others.length > 0) continue;
    Object.assign(layout, { file: only.file, line: only.line });
    for (const member of layout.members) member.line = only.members.get(member.name) ?? 0;
  }
}

interface UseInFile extends MacroUse {
  file: string;
}

function makersOf(sources: ReadonlyMap<string, string>): UseInFile[] {
  const rust = [...sources].filter(([file]) => sourceLanguage(file) === 'rust');
  const makers = new Set(rust.flatMap(([, text]) => typeMakers(text)));
  return rust.flatMap(([file, text]) => usesOfMakers(text, makers).map((use) => ({ ...use, file })));
}

/** Members stand where the use names them. */
function madeBy({ words, file }: UseInFile, name: string): Candidate {
  return { name, file, line: words.get(name) ?? 0, members: words };
}

/** Whether it defines all members that the layout has. */
export function fits({ members }: SourceDefinition, layout: Layout): boolean {
  return layout.members.every(({ name, role, depth }) => depth > 0 || role !== 'field' || members.has(name));
}

/** `main::pool::Worker` is in pool.rs or in the folder pool, `app/pool.Worker` in that folder. */
function inModule(file: string, name: string): boolean {
  const scopes = name.replace(/[<[].*$/s, '').split(/::|[./]/);
  const modules = scopes.slice(1, -1);
  const parts = file.replace(/\.\w+$/, '').split('/');
  return modules.every((module) => parts.includes(module));
}
