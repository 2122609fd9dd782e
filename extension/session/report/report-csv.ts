// The table of lines as CSV (RFC 4180): a header row, one row a line, empty where this evidence cannot say.
import type { CacheLine, Report } from '../../protocol/report';
import { displayOf, rangeList, usedObjects } from './c2c-facts';
import { offsetText, typesAndFields } from './data-text';
import { LOAD_COLUMNS } from '../table/table-csv';
import { csvCell, csvLine, type CsvValue as Value } from '../text/csv';

type Settings = Pick<Report, 'c2c'>;

const COLUMNS: { name: string; value: (line: CacheLine, report: Settings, index: number) => Value }[] = [
  { name: 'index', value: (_line, _report, index) => index },
  { name: 'address', value: ({ address }) => ({ text: address }) },
  { name: 'space', value: ({ space }) => ({ text: space }) },
  { name: 'file_offset', value: ({ fileOffset }) => (fileOffset === undefined ? null : { text: fileOffset }) },
  { name: 'mapping', value: ({ mapping }) => ({ text: mapping }) },
  { name: 'data', value: (line, report) => ({ text: dataText(line, report) }) },
  { name: 'verdict', value: ({ verdict }) => ({ text: verdict }) },
  { name: 'flags', value: ({ flags }) => ({ text: flags.join(' ') }) },
  { name: 'nodes', value: ({ node }) => (node === null ? null : { text: rangeList(node) }) },
  { name: 'pa_count', value: ({ paCount }) => paCount },
  { name: 'contended', value: ({ contended }) => contended },
  { name: 'contended_share', value: ({ contendedShare }) => contendedShare },
  { name: 'program_share', value: ({ programShare }) => programShare },
  { name: 'hitm_total', value: ({ hitm }) => hitm?.total },
  { name: 'hitm_local', value: ({ hitm }) => hitm?.local },
  { name: 'hitm_remote', value: ({ hitm }) => hitm?.remote },
  { name: 'peer_local', value: ({ peer }) => peer?.local },
  { name: 'peer_remote', value: ({ peer }) => peer?.remote },
  { name: 'records', value: ({ records }) => records },
  { name: 'loads', value: ({ loads }) => loads },
  { name: 'stores', value: ({ stores }) => stores.total },
  { name: 'stores_l1_hit', value: ({ stores }) => stores.l1Hit },
  { name: 'stores_l1_miss', value: ({ stores }) => stores.l1Miss },
  { name: 'stores_na', value: ({ stores }) => stores.na },
  { name: 'stores_rmw', value: ({ stores }) => stores.rmw },
  ...LOAD_COLUMNS,
  { name: 'threads', value: ({ threads }) => threads.length },
  { name: 'threads_competing', value: ({ threads }) => threads.filter(({ competes }) => competes).length },
  { name: 'rows', value: ({ accesses }) => accesses.length },
  { name: 'type', value: (line) => ({ text: typesAndFields(line).types.join('; ') }) },
  { name: 'field', value: (line) => ({ text: typesAndFields(line).fields.join('; ') }) },
  {
    name: 'confirmed',
    value: ({ confirmation }) => (confirmation === undefined ? null : { text: confirmation.confirmed ? 'yes' : 'not seen' }),
  },
  { name: 'watchpoints', value: ({ confirmation }) => (confirmation === undefined ? null : { text: confirmation.sentence }) },
];

/** Row by row, as there may be more than a string can hold. Lines end with CR LF, as the RFC has it. */
export function* csvRows(report: Settings, lines: Iterable<CacheLine>): Generator<string> {
  yield csvLine(COLUMNS.map(({ name }) => name));
  let index = 0;
  for (const line of lines) {
    yield csvLine(COLUMNS.map(({ value }) => csvCell(value(line, report, index))));
    ++index;
  }
}

/** "counters+0..8; limit+16": every object on the line, the most contended first. */
function dataText(line: CacheLine, report: Settings): string {
  return usedObjects(line, displayOf(report))
    .map((use) => `${use.object || 'unknown'}${offsetText(use)}`)
    .join('; ');
}
