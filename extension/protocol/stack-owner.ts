// Whose stack some memory is, in words.
import type { CacheLine, DataName } from './report';

/** `DataName.object` of what mmap() makes of shared memory without a file. */
export const SHARED_MEMORY = 'anonymous shared memory';

type Owned = Pick<DataName, 'stackOwner'>;

/** "stack of main", "stack of worker 1234", "stack" where nobody knows whose. */
export function stackName({ stackOwner: owner = null }: Owned): string {
  if (owner === null) return 'stack';
  return `stack of ${owner.tid === owner.pid ? 'main' : `${owner.comm || 'thread'} ${owner.tid}`}`;
}

/** `DataName.object`, of a stack with its owner: "[stack of main]". */
export function memoryName(data: Owned & Pick<DataName, 'object'>): string {
  return data.object === '[stack]' ? `[${stackName(data)}]` : data.object;
}

/** What a line lies in: "the stack of main", "[heap]", a file, or memory of none (perf calls it "//anon"). */
export function mappingText({ mapping, accesses }: Pick<CacheLine, 'mapping' | 'accesses'>): string {
  const owned = accesses.find(({ data }) => (data.stackOwner ?? null) !== null);
  if (owned) return `the ${stackName(owned.data)}`;
  if (mapping.startsWith('/dev/zero')) return SHARED_MEMORY;
  return mapping === '//anon' ? 'anonymous memory' : mapping;
}
