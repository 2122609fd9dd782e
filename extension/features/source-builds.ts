// When the binaries were built that a profile's sources went into: a source that is newer is not the text of their lines.
import { basename } from 'node:path';
import type { Measured } from '../protocol/measure';
import type { KnownOfFile } from '../session/lines/line-words';
import { builtAt } from './source-age';

export class SourceBuilds {
  private readonly times = new Map<string, Promise<number | undefined>>();
  private readonly paths = new Map<string, string>();

  constructor(private readonly report: Measured) {
    for (const { path } of [...report.binaries, ...(report.recording?.binaries ?? [])]) this.paths.set(basename(path), path);
    for (const { object, binary } of report.types ?? []) if (binary !== '') this.paths.set(object, binary);
  }

  /** The oldest of the binaries that know of a file, in ms since 1970; undefined: not known. */
  async oldest(known: readonly KnownOfFile[]): Promise<number | undefined> {
    const times = await Promise.all([...this.binaries(known)].map(async (path) => this.builtAt(path)));
    return times.reduce(
      (oldest, time) => (oldest !== undefined && time !== undefined ? Math.min(oldest, time) : (oldest ?? time)),
      undefined,
    );
  }

  private binaries(known: readonly KnownOfFile[]): Set<string> {
    const found = new Set<string>();
    const add = (path: string | undefined): unknown => path !== undefined && path !== '' && found.add(path);
    for (const { types, code } of known) {
      for (const places of types?.values() ?? []) for (const { card } of places) add(card.heat?.binary);
      for (const { binaries } of code?.values() ?? []) for (const binary of binaries) add(this.paths.get(binary));
    }
    return found;
  }

  private async builtAt(path: string): Promise<number | undefined> {
    let time = this.times.get(path);
    if (!time) this.times.set(path, (time = builtAt(path, this.report)));
    return time;
  }
}
