// What is said of virtual bases whose places are not known.
import type { Layout } from '../protocol/layout';
import { enumerate, plural, printable } from './terminal-text';

const MAX_NAMED = 4;

/** "the virtual bases S and W". */
export function basesText(bases: readonly string[]): string {
  const names = bases.slice(0, MAX_NAMED);
  if (bases.length > names.length) names.push(`${bases.length - names.length} more`);
  return `the virtual ${bases.length === 1 ? 'base' : 'bases'} ${enumerate(names)}`;
}

/** "The debug information does not say where the virtual bases S and W lie: 140 bytes from byte 12 on may be theirs." */
export function unplacedSentence({ offset, size, bases }: NonNullable<Layout['unplaced']>[number]): string {
  const [lie, whose] = bases.length === 1 ? ['lies', 'its own'] : ['lie', 'theirs'];
  const where = `${plural(size, 'byte')} from byte ${offset} on may be ${whose}`;
  return printable(`The debug information does not say where ${basesText(bases)} ${lie}: ${where}.`);
}
