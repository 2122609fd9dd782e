// The FIFO through which a recording is told to pause and to go on: `control` of the engine's recordings, as of `perf record --control`.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export class SamplingFifo {
  private constructor(
    private readonly folder: string,
    readonly path: string,
    private readonly file: FileHandle,
  ) {}

  /** Rejects where there is no `mkfifo`, or no temporary folder that can be written. */
  static async make(): Promise<SamplingFifo> {
    const folder = await mkdtemp(join(tmpdir(), 'cacheline-control-')); // this user's alone
    try {
      const path = join(folder, 'control');
      await promisify(execFile)('mkfifo', ['-m', '600', path]);
      // For reading too: what is sent before the recorder opens its end then waits for it.
      return new SamplingFifo(folder, path, await open(path, constants.O_RDWR | constants.O_NONBLOCK));
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  async send(command: 'enable' | 'disable'): Promise<void> {
    await this.file.write(`${command}\n`);
  }

  async remove(): Promise<void> {
    await this.file.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
