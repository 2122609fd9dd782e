// The documented schemas of layouts, of their list and of a report's types hold, and miss nothing that the TypeScript types require.
import assert from 'node:assert/strict';
import type { Layout, TypeHeat } from '../../extension/protocol/layout';
import type { DataName, Report } from '../../extension/protocol/report';
import { reportFixture } from './fixtures';
import { connection, layoutOf, member, session, shape, summary } from './layout-builder';
import { schemaErrors, type SchemaName } from './schemas';

/** Each field of each object in the document, taken away alone, must be missed. */
function requiresAll(name: SchemaName, document: object, part: unknown = document): void {
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      visit(inner);
      if (Array.isArray(value)) continue;
      const holder = value as Record<string, unknown>;
      Reflect.deleteProperty(holder, key);
      assert.notDeepEqual(schemaErrors(name, document), [], `${key} is not required`);
      holder[key] = inner;
    }
  };
  assert.deepEqual(schemaErrors(name, document), []);
  visit(part);
}

const counter = layoutOf('Counter', 8, [member('value', 'long', 0, 8)]);
const heat = (): TypeHeat => ({
  name: 'Counter',
  object: 'program',
  binary: '/bin/program',
  instances: 2,
  nested: false,
  lines: 1,
  verdict: 'false sharing',
  verdictSure: true,
  falseShare: null,
  flags: ['straddling'],
  records: 10,
  loads: 4,
  stores: 6,
  contended: 9,
  contendedShare: 0.9,
  programShare: 0.1,
  hitm: { local: 3, remote: 0 },
  layout: structuredClone(counter),
  fields: [
    {
      offset: 0,
      size: 8,
      field: 'value',
      records: 10,
      loads: 4,
      stores: 6,
      contended: 9,
      falseShare: { value: 0.9, low: 0.7, high: 1 },
      hitm: null,
      peer: null,
      meanCycles: 12.5,
      readers: [1],
      writers: [2, 3],
    },
  ],
});

describe('layout schemas', () => {
  for (const [name, layout] of Object.entries({ connection, session, shape }))
    it(`cacheline-layout holds for ${name} and requires every field`, () => requiresAll('cacheline-layout', structuredClone(layout)));

  it('cacheline-layout takes a list of several, and none of one', () => {
    assert.deepEqual(schemaErrors('cacheline-layout', [shape, session]), []);
    assert.notDeepEqual(schemaErrors('cacheline-layout', [shape]), []);
    assert.notDeepEqual(schemaErrors('cacheline-layout', []), []);
  });

  it('cacheline-layout refuses wrong values', () => {
    for (const spoil of [
      (layout: Layout) => (layout.size = -1),
      (layout: Layout) => (layout.kind = 'record' as 'struct'),
      (layout: Layout) => (layout.members[0]!.role = 'mixin' as 'base'),
      (layout: Layout) => (layout.members[0]!.bitSize = '3' as never),
      (layout: Layout) => (layout.holes[0]!.bits = 0.5),
    ]) {
      const layout = structuredClone(connection);
      spoil(layout);
      assert.notDeepEqual(schemaErrors('cacheline-layout', layout), []);
    }
  });

  it('cacheline-layout-list holds and requires every field', () => {
    requiresAll('cacheline-layout-list', [summary('a'), summary('b', { kind: 'enum', file: '', line: 0 })]);
  });

  it('cacheline-report/1 takes types and typed data, and requires every field of a type', () => {
    const report: Report = reportFixture('false-sharing');
    report.types = [heat(), { ...heat(), hitm: null }];
    const typed: Partial<DataName> = {
      how: 'allocation',
      because: 'block of 24 bytes',
      type: 'Worker[8]',
      field: 'count',
      fieldOffset: 16,
      index: 2,
      allocation: { size: 192, function: 'make_workers', file: 'pool.cpp', line: 41 },
    };
    Object.assign(report.lines[0]!.accesses[0]!.data, typed);
    requiresAll('cacheline-report-1', report, report.types);
    requiresAll('cacheline-report-1', report, typed.allocation);
    Object.assign(report.lines[0]!.accesses[0]!.data, { how: 'guess' });
    assert.notDeepEqual(schemaErrors('cacheline-report-1', report), []);
  });
});
