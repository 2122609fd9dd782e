// A table as CSV (RFC 4180): a header row, one row a row, empty where this evidence cannot say.
import type { TableHead, TableRow } from '../../protocol/table';
import { csvCell, csvLine, type CsvValue } from '../text/csv';

/** Loads by what answered them. */
export const LOAD_COLUMNS: { name: string; value: (of: Pick<TableRow, 'ld'>) => CsvValue }[] = [
  { name: 'ld_fill_buffer', value: ({ ld }) => ld?.fillBuffer },
  { name: 'ld_l1', value: ({ ld }) => ld?.l1 },
  { name: 'ld_l2', value: ({ ld }) => ld?.l2 },
  { name: 'ld_llc', value: ({ ld }) => ld?.llc },
  { name: 'ld_remote_hit', value: ({ ld }) => ld?.remoteHit },
  { name: 'ld_local_dram', value: ({ ld }) => ld?.localDram },
  { name: 'ld_remote_dram', value: ({ ld }) => ld?.remoteDram },
];

const COLUMNS: { name: string; value: (row: TableRow) => CsvValue }[] = [
  { name: 'samples', value: ({ samples }) => samples },
  { name: 'contended', value: ({ contended }) => contended },
  { name: 'program_share', value: ({ programShare }) => programShare },
  { name: 'contended_ns', value: ({ contendedNs }) => contendedNs },
  { name: 'reads', value: ({ reads }) => reads },
  { name: 'writes', value: ({ writes }) => writes },
  { name: 'hitm', value: ({ hitm }) => hitm },
  { name: 'peer', value: ({ peer }) => peer },
  { name: 'misses', value: ({ misses }) => misses },
  { name: 'bounce', value: ({ bounce }) => bounce },
  ...LOAD_COLUMNS,
  { name: 'st_l1_hit', value: ({ st }) => st?.l1Hit },
  { name: 'st_l1_miss', value: ({ st }) => st?.l1Miss },
  { name: 'st_na', value: ({ st }) => st?.na },
  { name: 'false_share', value: ({ falseShare }) => falseShare },
  { name: 'false_share_low', value: ({ falseShareLow }) => falseShareLow },
  { name: 'false_share_high', value: ({ falseShareHigh }) => falseShareHigh },
  { name: 'threads', value: ({ threads }) => threads },
  { name: 'lines', value: ({ lines }) => lines },
  { name: 'instances', value: ({ instances }) => instances },
  { name: 'bytes', value: ({ bytes }) => bytes },
  { name: 'verdict', value: ({ verdict }) => (verdict === null ? null : { text: verdict }) },
];

/** Row by row, as there may be more than a string can hold. The keys come first; of a table by function its pairs last. */
export function* tableCsv({ by }: TableHead, rows: Iterable<TableRow>): Generator<string> {
  const pairs = by.length === 1 && by[0] === 'function';
  yield csvLine([...by, ...COLUMNS.map(({ name }) => name), ...(pairs ? ['waits_for'] : [])]);
  for (const row of rows) {
    yield csvLine([
      ...by.map((key) => csvCell({ text: row.key[key] ?? '' })),
      ...COLUMNS.map(({ value }) => csvCell(value(row))),
      ...(pairs ? [csvCell({ text: pairsText(row) })] : []),
    ]);
  }
}

/** "push 0.62; pop 0.1": functions with the share of the row's contended samples that waits for them. */
function pairsText({ waitsFor = [] }: TableRow): string {
  return waitsFor.map(({ function: name, share }) => `${name} ${Number(share.toFixed(4))}`).join('; ');
}
