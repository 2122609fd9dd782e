// Lines that come from the host as they are needed: which were sent in the order that is shown, and which to ask for.
import { LINES_OF_SCREEN, type LinesRequest, type PanelLine, type ToPanel } from '../../extension/protocol/panel';

/** More than these are not kept: those that are farthest from what came last are asked for again. */
const MOST_CHUNKS = 400;

/** Of one report and one order. */
export type Order = Pick<LinesRequest, 'version' | 'key' | 'descending'>;

type Request = LinesRequest & { count: number };

export class Ranges {
  private readonly asked = new Set<number>();

  /** With the first lines of this order, which came with the report. */
  static from(order: Order, total: number, lines: readonly PanelLine[]): Ranges {
    const numbers = Array.from({ length: Math.floor(lines.length / LINES_OF_SCREEN) }, (_, number) => number);
    const chunks = numbers.map((number) => [number, lines.slice(number * LINES_OF_SCREEN, (number + 1) * LINES_OF_SCREEN)] as const);
    return new Ranges(order, total, new Map(chunks), new Set(numbers));
  }

  /** @param chunks the lines of those that were sent, by their number */
  constructor(
    readonly order: Order,
    private readonly total: number,
    private readonly chunks: ReadonlyMap<number, readonly PanelLine[]> = new Map(),
    asked: ReadonlySet<number> = new Set(),
  ) {
    for (const chunk of asked) this.asked.add(chunk);
  }

  /** The same lines in the same order, of a report that has another version now: what was asked for and has not come is asked for again. */
  as(version: number): Ranges {
    return new Ranges({ ...this.order, version }, this.total, this.chunks, new Set(this.chunks.keys()));
  }

  /** Undefined: not sent yet. */
  at(place: number): PanelLine | undefined {
    return this.chunks.get(Math.floor(place / LINES_OF_SCREEN))?.[place % LINES_OF_SCREEN];
  }

  /** The lines that were sent and their places, ascending. */
  sent(): [number, PanelLine][] {
    const chunks = [...this.chunks].sort(([a], [b]) => a - b);
    return chunks.flatMap(([chunk, lines]) => lines.map((line, index): [number, PanelLine] => [chunk * LINES_OF_SCREEN + index, line]));
  }

  /** What is to be asked for so that these places are filled; each request once. */
  missing(first: number, last: number): Request[] {
    return this.ask(chunksOf(first, last));
  }

  /** What is to be asked for when they are filled: those around them; each request once. */
  around(first: number, last: number): Request[] {
    const here = chunksOf(first, last);
    const [from, to] = [here[0], here.at(-1)];
    if (from === undefined || to === undefined || !here.every((chunk) => this.chunks.has(chunk))) return [];
    return this.ask([to + 1, to + 2, from - 1, from - 2]);
  }

  /** With what came; undefined where it is of another report or order. */
  with({ lines, offset, version, key, descending }: Extract<ToPanel, { type: 'lines' }>): Ranges | undefined {
    const { order } = this;
    if (version !== order.version || key !== order.key || descending !== order.descending) return undefined;
    const came = offset / LINES_OF_SCREEN;
    const chunks = new Map([...this.chunks, [came, lines]]);
    const asked = new Set(this.asked);
    if (chunks.size > MOST_CHUNKS) {
      const farthest = [...chunks.keys()].reduce((far, chunk) => (Math.abs(chunk - came) > Math.abs(far - came) ? chunk : far), came);
      chunks.delete(farthest);
      asked.delete(farthest);
    }
    return new Ranges(order, this.total, chunks, asked);
  }

  private ask(chunks: readonly number[]): Request[] {
    const fresh = chunks.filter((chunk) => chunk >= 0 && chunk * LINES_OF_SCREEN < this.total && !this.asked.has(chunk));
    return fresh.map((chunk) => {
      this.asked.add(chunk);
      return { ...this.order, offset: chunk * LINES_OF_SCREEN, count: LINES_OF_SCREEN };
    });
  }
}

/** With these places; none where the last is before the first. */
function chunksOf(first: number, last: number): number[] {
  const [from, to] = [Math.floor(first / LINES_OF_SCREEN), Math.floor(last / LINES_OF_SCREEN)];
  return last < first ? [] : Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
