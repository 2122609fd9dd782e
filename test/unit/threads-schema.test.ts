// The documented schema of threads holds, and misses nothing that the TypeScript types require.
import assert from 'node:assert/strict';
import type { ThreadsDocument } from '../../extension/protocol/threads';
import { fieldsNotRequired, schemaErrors } from './schemas';
import { hostile, sampled, uneven } from './threads-builder';

const documents = { uneven, sampled, hostile };

describe('cacheline-threads/1', () => {
  for (const [name, document] of Object.entries(documents))
    it(`holds for ${name} and requires every field`, () => {
      assert.deepEqual(schemaErrors('cacheline-threads-1', document), []);
      assert.deepEqual(fieldsNotRequired('cacheline-threads-1', document), []);
    });

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
      const document = structuredClone(uneven);
      spoil(document);
      assert.notDeepEqual(schemaErrors('cacheline-threads-1', document), [], String(spoil));
    }
  });
});
