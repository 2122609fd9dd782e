// How often progress is told.
import assert from 'node:assert/strict';
import { paced } from '../../extension/session/profile/progress-pace';

describe('progress', () => {
  it('is told at once, and then ten times a second at most', () => {
    const told: number[] = [];
    let now = 5;
    const tell = paced(
      (share) => told.push(share),
      () => now,
    );
    for (const [at, share] of [
      [5, 0],
      [6, 0.1],
      [104, 0.2],
      [105, 0.3],
      [204, 0.4],
      [300, 0.5],
    ] as const) {
      now = at;
      tell(share);
    }
    assert.deepEqual(told, [0, 0.3, 0.5]);
  });
});
