// Of a table by function: which function waits for which.
import type { TableHead, TableRow, WaitsFor } from '../../protocol/table';

export interface Pair extends WaitsFor {
  from: string;
  /** Of all contended samples, 0 to 1. */
  part: number;
}

/** The largest part first. */
export function pairsOf({ total }: Pick<TableHead, 'total'>, rows: readonly TableRow[]): Pair[] {
  return rows
    .flatMap(({ key, contended, waitsFor = [] }) =>
      waitsFor.map((each): Pair => ({ ...each, from: key.function ?? '', part: (each.share * contended) / total.contended })),
    )
    .sort((a, b) => b.part - a.part);
}

/**
 * Of all contended samples, those of a pair of source lines.
 * @param share of the row's contended samples, as the pair's `lines` have it
 */
export function partOfLines(pair: Pick<Pair, 'share' | 'part'>, share: number): number {
  return pair.share === 0 ? 0 : (share / pair.share) * pair.part;
}
