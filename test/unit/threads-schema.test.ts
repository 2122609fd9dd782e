// The documented schema of threads holds, and misses nothing that the TypeScript types require.
import assert from 'node:assert/strict';
import type { ThreadsDocument } from '../../extension/protocol/threads';
import { schemaErrors } from './schemas';
import { hostile, sampled, uneven } from './threads-builder';

const documents: Record<string, () => ThreadsDocument> = Object.fromEntries(
  Object.entries({ uneven, sampled, hostile }).map(([name, list]) => [
    name,
    () => ({ ...structuredClone(list), threads: structuredClone(list.threads.slice(0, 4)) }),
  ]),
);

/** Calls `visit` for each field of each object in the value. */
function eachField(value: unknown, visit: (holder: Record<string, unknown>, key: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) visit(value as Record<string, unknown>, key);
    eachField(inner, visit);
  }
}

describe('cacheline-threads/1', () => {
  for (const [name, make] of Object.entries(documents)) {
    it(`holds for ${name} and requires every field`, () => {
      const document = make();
      assert.deepEqual(schemaErrors('cacheline-threads-1', document), []);
      eachField(document, (holder, key) => {
        const value = holder[key];
        Reflect.deleteProperty(holder, key);
        assert.notDeepEqual(schemaErrors('cacheline-threads-1', document), [], `${key} is not required`);
        holder[key] = value;
      });
    });
  }

  it('refuses wrong values', () => {
    for (const spoil of [
      (document: ThreadsDocument) => (document.schema = 'cacheline-threads/2' as 'cacheline-threads/1'),
      (document: ThreadsDocument) => (document.basis = 'guesses' as 'samples'),
      (document: ThreadsDocument) => (document.bins = 0),
      (document: ThreadsDocument) => (document.threads[0]!.runningNs = -1),
      (document: ThreadsDocument) => (document.threads[0]!.lane!.running = [0.5]),
      (document: ThreadsDocument) => (document.cpus[0]!.running = null as unknown as number[]),
      (document: ThreadsDocument) => (document.imbalance[0]!.factor = 0.5),
    ]) {
      const document = documents['uneven']!();
      spoil(document);
      assert.notDeepEqual(schemaErrors('cacheline-threads-1', document), [], String(spoil));
    }
  });
});
