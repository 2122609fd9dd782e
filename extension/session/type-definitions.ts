// Gives types whose debug information does not say where they are defined (Rust, Go) the places that the sources say.
import type { Layout, TypeHeat } from '../protocol/layout';
import { definitionsIn, sourceLanguage, type SourceDefinition } from './source-definitions';
import { sourceName } from './type-names';

interface Candidate extends SourceDefinition {
  file: string;
}

export function withoutPlace({ layout }: TypeHeat): boolean {
  return layout.file === '';
}

/**
 * Writes into the layouts where they and their members are defined. A type that several definitions fit keeps none.
 * @param sources texts by path
 */
export function placeTypes(types: readonly TypeHeat[], sources: ReadonlyMap<string, string>): void {
  const byName = new Map<string, Candidate[]>();
  for (const [file, text] of sources) {
    const language = sourceLanguage(file);
    for (const definition of language ? definitionsIn(text, language) : [])
      byName.set(definition.name, [...(byName.get(definition.name) ?? []), { ...definition, file }]);
  }
  for (const { name, layout } of types.filter(withoutPlace)) {
    const fitting = (byName.get(sourceName(name)) ?? []).filter((one) => fits(one, layout));
    const [only, ...others] = fitting.length > 1 ? fitting.filter(({ file }) => inModule(file, name)) : fitting;
    if (!only || others.length > 0) continue;
    Object.assign(layout, { file: only.file, line: only.line });
    for (const member of layout.members) member.line = only.members.get(member.name) ?? 0;
  }
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
