// Where in the sources advice is offered: at what is to be changed, at the members that are waited for, and at the code that waits.
import type { Advice } from '../../protocol/advice';
import type { DataSum } from '../../protocol/profile';
import type { SourcePlace } from '../../protocol/report';
import { typeName } from '../layout/type-names';

/** @param data of the profile, with contended samples; places are as recorded, each once */
export function placesOf(advice: Advice, data: readonly DataSum[]): SourcePlace[] {
  const places = new Map<string, SourcePlace>();
  const add = ({ file, line }: SourcePlace): void => {
    if (file !== '' && line > 0) places.set(`${line} ${file}`, { file, line });
  };
  const { change, definition, subject } = advice;
  if (definition !== null) add(definition);
  if (change?.kind === 'align-variables') for (const variable of change.variables) add(variable.definition);
  if (change?.kind === 'allocate' && change.call !== null) add(change.call);
  if (change !== null && 'type' in change) {
    const { definition: of, members } = change.type;
    add(of);
    for (const { name, line } of members) if (subject.members.includes(name)) add({ file: of.file, line });
  }
  for (const { data: used, amount, place } of data) if (amount > 0 && place !== null && isOf(advice, used)) add(place);
  return [...places.values()];
}

function isOf({ subject, change }: Advice, { object, type = '' }: DataSum['data']): boolean {
  if (change?.kind === 'align-variables') return change.variables.some(({ name }) => name === object);
  if (subject.object !== '' && subject.object === object) return true;
  const wanted = change !== null && 'type' in change ? change.type.name : subject.object === '' ? subject.type : '';
  return wanted !== '' && typeName(type) === typeName(wanted);
}
