// The grouped columns of data sources: what is shown for which evidence, and what gives way where there is little room.
import assert from 'node:assert/strict';
import { DEFAULT_SORT } from '../../extension/protocol/panel';
import { groupsOf, textLength, valueText, type Value } from '../../webviews/panel/columns';
import { fitGroups, groupsWidth, type FittedGroup, type GroupState } from '../../webviews/panel/fit';
import { measureGroups, tableLayout } from '../../webviews/panel/layout';
import { lineRows } from '../../webviews/panel/model';
import { displaysOf } from '../../webviews/panel/displays';
import type { Report } from '../../extension/protocol/report';
import { hitmReport, peerReport } from './hitm-report';
import { measuredBy, panelLine } from './report-builder';

const layoutOf = ({ evidence, lines }: Report, width: number, chosen: Record<string, GroupState> = {}) =>
  tableLayout(measureGroups(evidence, measuredBy(lines)), width, chosen, 'all HITMs');
const keysOf = ({ evidence, lines }: Report): string[] =>
  groupsOf(measuredBy(lines), evidence).flatMap(({ columns }) => columns.map(({ key }) => key));

describe('panel columns', () => {
  it('are those of c2c, with the numbers of lines and accesses', () => {
    const { evidence, lines } = hitmReport();
    const [first] = lines;
    assert.ok(first);
    const values = (of: (column: ReturnType<typeof groupsOf>[number]['columns'][number]) => Value): Record<string, Value> =>
      Object.fromEntries(groupsOf(measuredBy(lines), evidence).flatMap(({ columns }) => columns.map((column) => [column.key, of(column)])));
    assert.deepEqual(
      values(({ line }) => line(panelLine(first))),
      {
        'hitm.total': 312,
        'hitm.local': 125,
        'hitm.remote': 187,
        records: 637,
        loads: 352,
        'stores.total': 285,
        'stores.l1Hit': 250,
        'stores.l1Miss': 35,
        'stores.na': 0,
        'ld.l1': 40,
        'ld.fillBuffer': 7,
        'ld.l2': 3,
        'ld.llc': 5,
        'llc.hitm': 125,
        'ld.remoteHit': 2,
        'remote.hitm': 187,
        'ld.localDram': 4,
        'ld.remoteDram': 1,
        'cycles.mean': 357,
        'cycles.rmt': undefined,
        'cycles.lcl': undefined,
        'cycles.load': undefined,
        'cycles.p50': undefined,
        'cycles.p95': undefined,
        'cycles.max': undefined,
        'memory.node': '0',
        'memory.pa': 1,
        'who.threads': 2,
        'who.cpus': undefined,
        'who.nodes': '0, 1',
      },
    );
    const [bump, store] = first.accesses;
    assert.ok(bump && store);
    const rows = [bump, store].map((one) => values(({ access }) => access(one)));
    const picked = (row: Record<string, Value> | undefined) =>
      ['hitm.total', 'stores.total', 'cycles.rmt', 'cycles.lcl', 'cycles.load', 'cycles.p95', 'cycles.max', 'who.cpus'].map(
        (key) => row?.[key],
      );
    assert.deepEqual(picked(rows[0]), [312, 230, 512, 210, 90, 1536, 60_233, 8]);
    assert.deepEqual(picked(rows[1]), [0, 55, undefined, undefined, undefined, undefined, undefined, 1]);
  });

  it('leave out what this evidence cannot say', () => {
    const peer = keysOf(peerReport());
    assert.deepEqual(
      peer.filter((key) => /hitm|rmt|lcl|memory/.test(key)),
      [],
    );
    assert.ok(peer.includes('peer.remote') && peer.includes('cycles.peer'));
    assert.ok(!keysOf(hitmReport()).some((key) => /peer/.test(key)));
    // Zeros of a kind that this evidence does not count say nothing either.
    const zeros = peerReport();
    for (const line of zeros.lines) line.hitm = { total: 0, local: 0, remote: 0 };
    assert.deepEqual(keysOf(zeros), peer);
    const noLevels = hitmReport();
    for (const line of noLevels.lines) {
      line.ld = null;
      line.stores = { ...line.stores, l1Hit: null, l1Miss: null };
      for (const one of line.accesses) one.stores = { ...one.stores, l1Hit: null, l1Miss: null };
    }
    const left = keysOf(noLevels);
    assert.ok(!left.includes('ld.l1') && !left.includes('stores.l1Hit') && left.includes('stores.na'));
  });

  it('say which displays there are', () => {
    assert.deepEqual(displaysOf(['hitm', 'latency']), ['tot', 'lcl', 'rmt']);
    assert.deepEqual(displaysOf(['peer']), ['peer']);
    assert.deepEqual(displaysOf(['hitm', 'peer']), ['tot', 'lcl', 'rmt', 'peer']);
    assert.deepEqual(displaysOf(['clock']), []);
  });

  it('tell zero from unknown and from nothing', () =>
    assert.deepEqual([0, 1234, '0, 1', null, undefined].map(valueText), ['0', '1,234', '0, 1', '', '']));

  it('are as wide as their longest text', () => {
    const by = measuredBy(hitmReport().lines);
    const column = (text: string, numbers: [number, number]) => ({
      key: 'k',
      name: text,
      title: '',
      line: () => numbers[0],
      access: () => numbers[1],
    });
    assert.equal(textLength(column('Total', [1, 2]), by), 5);
    assert.equal(textLength(column('N', [1, 12_345]), by), 6);
    assert.equal(textLength({ ...column('N', [1, 2]), line: () => '0, 1, 2, 3' }, by), 10);
    assert.equal(textLength({ ...column('N', [1, 2]), line: () => null }, by), 1);
  });

  it('sort the lines', () => {
    const { lines } = hitmReport();
    const by = (key: string, descending: boolean): string[] => {
      const column = layoutOf(hitmReport(), 4000).columns.find((one) => one.key === key);
      assert.ok(column);
      return lineRows(lines.map(panelLine), { key, descending }, 'hitm', column).map(({ line }) => line.address);
    };
    assert.deepEqual(by('stores.total', true), ['0x404080', '0x4040c0']);
    assert.deepEqual(by('stores.total', false), ['0x4040c0', '0x404080']);
    assert.deepEqual(by('cycles.mean', true), ['0x4040c0', '0x404080']);
    assert.deepEqual(
      lineRows(lines.map(panelLine), DEFAULT_SORT, 'hitm').map(({ line }) => line.address),
      ['0x404080', '0x4040c0'],
    );
  });
});

describe('panel layout', () => {
  const groups: FittedGroup[] = [
    { key: 'a', widths: [50, 50], priority: 0 },
    { key: 'b', widths: [50, 50], priority: 1 },
    { key: 'c', widths: [50], priority: 2 },
  ];

  it('opens the most important group, then shows and opens what fits', () => {
    assert.deepEqual(fitGroups(groups, 250, {}), { a: 'open', b: 'open', c: 'open' });
    assert.deepEqual(fitGroups(groups, 249, {}), { a: 'open', b: 'collapsed', c: 'open' });
    assert.deepEqual(fitGroups(groups, 199, {}), { a: 'open', b: 'collapsed', c: 'hidden' });
    assert.deepEqual(fitGroups(groups, 149, {}), { a: 'open', b: 'hidden', c: 'hidden' });
    assert.deepEqual(fitGroups(groups, 99, {}), { a: 'collapsed', b: 'hidden', c: 'hidden' });
    assert.deepEqual(fitGroups(groups, 0, {}), { a: 'collapsed', b: 'hidden', c: 'hidden' });
  });

  it('keeps what a person chose, however little room there is', () => {
    const states = fitGroups(groups, 0, { b: 'open', a: 'hidden' });
    assert.deepEqual(states, { a: 'hidden', b: 'open', c: 'hidden' });
    assert.equal(groupsWidth(groups, states), 100);
  });

  it('shows all columns where there is room, and fits a narrow panel', () => {
    const shown = hitmReport();
    const wide = layoutOf(shown, 4000);
    // Behind the groups comes the address.
    assert.equal(wide.columns.length, wide.fixed + keysOf(shown).length + 1);
    assert.equal(wide.columns.at(-1)?.key, 'address');
    assert.equal(
      wide.groups.reduce((sum, { span }) => sum + span, wide.fixed + 1),
      wide.columns.length,
    );
    for (const width of [440, 560, 800, 1200, 1800]) {
      const layout = layoutOf(shown, width);
      assert.ok((layout.grid?.width ?? Infinity) <= width, `${layout.grid?.width} of ${width}`);
      assert.equal(layout.grid?.template.match(/px(?=$| )|minmax\([^)]*\)/g)?.length, layout.columns.length);
      assert.equal(layout.groups[0]?.group.key, 'hitm');
      assert.equal(layout.columns.at(-1)?.key === 'address', width >= 800, 'the address gives way to names');
    }
  });

  it('has one row of titles for clock evidence', () => {
    const layout = layoutOf({ ...hitmReport(), evidence: ['clock'] }, 800);
    assert.deepEqual(layout.groups, []);
    assert.deepEqual(
      layout.columns.map(({ name }) => name),
      ['Data', 'Verdict', 'Share', 'Threads', 'W / R', 'Samples', 'Line'],
    );
  });
});
