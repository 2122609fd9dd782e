// Long results on standard output.
import assert from 'node:assert/strict';
import { printAll } from '../../extension/cli/terminal';

describe('long results', () => {
  const { stdout } = process;
  const write = stdout.write.bind(stdout);
  afterEach(() => {
    stdout.write = write;
  });

  /** What printAll() hands over, and how much of it when the reader had not taken anything yet. */
  async function written(parts: Iterable<string | Uint8Array>): Promise<{ all: (string | Uint8Array)[]; early: number }> {
    const all: (string | Uint8Array)[] = [];
    stdout.write = (part: string | Uint8Array) => all.push(part) < 0;
    const done = printAll(parts);
    const early = all.length;
    const reader = setInterval(() => stdout.emit('drain'), 1);
    await done;
    clearInterval(reader);
    stdout.write = write;
    return { all, early };
  }

  it('are written in order, a few strings at once, bytes as they are', async () => {
    const bytes = new Uint8Array([0x0a]);
    const { all } = await written(['a', 'b', bytes, 'c']);
    assert.deepEqual(
      all.filter((part) => part !== ''),
      ['ab', bytes, 'c'],
    );
    assert.equal(all.indexOf(bytes), 1);
  });

  it('wait for the reader', async () => {
    const megabyte = 'x'.repeat(1 << 20);
    const { all, early } = await written([megabyte, megabyte, new Uint8Array(3)]);
    assert.equal(early, 1);
    assert.equal(
      all.reduce((sum, part) => sum + part.length, 0),
      2 * megabyte.length + 3,
    );
  });
});
