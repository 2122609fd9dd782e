// Lines that come from the host as they are needed: which were sent in the order that is shown, and which to ask for.
import type { LinesRequest, PanelLine, ToPanel } from '../../extension/protocol/panel';

/** Lines of one request: several screens. */
export const CHUNK = 200;

/** Of one report and one order. */
export type Order = Pick<LinesRequest, 'version' | 'key' | 'descending'>;

export class Ranges {
  private readonly asked = new Set<number>();

  /** @param chunks the lines of those that were sent, by their number */
  constructor(
    readonly order: Order,
    private readonly total: number,
    private readonly chunks: ReadonlyMap<number, readonly PanelLine[]> = new Map(),
    asked: ReadonlySet<number> = new Set(),
  ) {
    for (const chunk of asked) this.asked.add(chunk);
  }

  /** Each line at its place; undefined: not sent yet. */
  lines(): (PanelLine | undefined)[] {
    return Array.from({ length: this.total }, (_, place) => this.chunks.get(Math.floor(place / CHUNK))?.[place % CHUNK]);
  }

  /** What is to be asked for so that these places are filled: each request once. */
  requests(places: readonly number[]): (LinesRequest & { count: number })[] {
    const fresh = [...new Set(places.map((place) => Math.floor(place / CHUNK)))].filter((chunk) => !this.asked.has(chunk));
    return fresh.map((chunk) => {
      this.asked.add(chunk);
      return { ...this.order, offset: chunk * CHUNK, count: CHUNK };
    });
  }

  /** With what came; undefined where it is of another report or order. */
  with({ lines, offset, version, key, descending }: Extract<ToPanel, { type: 'lines' }>): Ranges | undefined {
    const { order } = this;
    if (version !== order.version || key !== order.key || descending !== order.descending) return undefined;
    return new Ranges(order, this.total, new Map([...this.chunks, [offset / CHUNK, lines]]), this.asked);
  }
}
