// The FIFO that pauses recordings: made for this user alone, kept until it is read, removed with its folder.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SamplingFifo } from '../../extension/session/record/sampling-fifo';

describe('sampling FIFO', () => {
  it('keeps commands for a recorder that opens its end later', async () => {
    const fifo = await SamplingFifo.make();
    try {
      assert.ok(statSync(fifo.path).isFIFO());
      assert.equal(statSync(fifo.path).mode & 0o777, 0o600);
      assert.equal(statSync(dirname(fifo.path)).mode & 0o777, 0o700);
      await fifo.send('disable');
      await fifo.send('enable');
      const recorder = await open(fifo.path, 'r+');
      const { buffer, bytesRead } = await recorder.read(Buffer.alloc(64), 0, 64);
      await recorder.close();
      assert.equal(buffer.toString('utf8', 0, bytesRead), 'disable\nenable\n');
    } finally {
      await fifo.remove();
    }
    assert.ok(!existsSync(dirname(fifo.path)));
  });

  it('rejects where it cannot be made, and leaves nothing', async () => {
    const { PATH } = process.env;
    process.env['PATH'] = '/nowhere';
    try {
      await assert.rejects(SamplingFifo.make(), /mkfifo/);
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});
