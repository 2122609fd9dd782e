// The documented schema of advice holds, and misses nothing that the TypeScript types require.
import assert from 'node:assert/strict';
import type { AdviceDocument } from '../../extension/protocol/advice';
import { changes, hostile, words } from './advice-builder';
import { schemaErrors } from './schemas';

const documents: Record<string, () => AdviceDocument> = Object.fromEntries(
  Object.entries({ changes, words, hostile }).map(([name, list]) => [name, () => ({ ...structuredClone(list), folder: '/code' })]),
);

/** Calls `visit` for each field of each object in the value. */
function eachField(value: unknown, visit: (holder: Record<string, unknown>, key: string) => void): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value)) visit(value as Record<string, unknown>, key);
    eachField(inner, visit);
  }
}

describe('cacheline-advice/1', () => {
  for (const [name, make] of Object.entries(documents)) {
    it(`holds for ${name} and requires every field`, () => {
      const document = make();
      assert.deepEqual(schemaErrors('cacheline-advice-1', document), []);
      eachField(document, (holder, key) => {
        const value = holder[key];
        Reflect.deleteProperty(holder, key);
        assert.notDeepEqual(schemaErrors('cacheline-advice-1', document), [], `${key} is not required`);
        holder[key] = value;
      });
    });
  }

  it('refuses wrong values', () => {
    for (const spoil of [
      (document: AdviceDocument) => (document.schema = 'cacheline-advice/2' as 'cacheline-advice/1'),
      (document: AdviceDocument) => (document.advice[0]!.way = 'move' as 'align'),
      (document: AdviceDocument) => (document.advice[0]!.why = '' as 'adjacent'),
      (document: AdviceDocument) => (document.advice[0]!.confidence = 1.5),
      (document: AdviceDocument) => (document.advice[0]!.cost.bytesPerInstance = -8),
      (document: AdviceDocument) => (document.advice[0]!.edit.reason = 'Both.'),
      (document: AdviceDocument) => (document.advice[0]!.edit.patch = null),
      (document: AdviceDocument) => (document.advice[0]!.predicted.speedup!.low = 0),
      (document: AdviceDocument) => (document.advice[0]!.change!.kind = 'rename' as 'allocate'),
      (document: AdviceDocument) => (document.latent[0]!.placements[0]!.pairs[0] = ['a'] as never),
    ]) {
      const document = documents['changes']!();
      spoil(document);
      assert.notDeepEqual(schemaErrors('cacheline-advice-1', document), [], String(spoil));
    }
  });
});
