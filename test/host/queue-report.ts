// A report of examples/producer_limit/contended.c that is made by hand, so that every number and place is known.
import { readFileSync } from 'node:fs';
import type * as vscode from 'vscode';
import type { Report } from '../../extension/protocol/report';
import { access, cacheLine, report } from '../unit/report-builder';
import { field, layout, member, typeHeat } from '../unit/type-builder';

export const QUEUE_FILE = 'producer_limit/contended.c';

/** 1-based, of the first line of a text that has this in it; 0: none has. */
export function lineIn(text: string, part: string): number {
  return text.split('\n').findIndex((line) => line.includes(part)) + 1;
}

/** 620 samples of a writer, 310 of a reader, on one line; everything else of the program is private. */
export function queueReport({ fsPath: file }: vscode.Uri, text = readFileSync(file, 'utf8')): Report {
  const lineOf = (part: string): number => lineIn(text, part);
  const members = [
    member('produced', 0, 8, { type: 'atomic_long', line: lineOf('atomic_long produced;') }),
    member('limit', 8, 8, { type: 'atomic_long', line: lineOf('atomic_long limit;') }),
  ];
  const of = layout('queue', 16, members, { file, line: lineOf('struct queue {'), align: 8 });
  const heat = typeHeat(of, [field('produced', 0, { stores: 620, writers: [11] }), field('limit', 8, { loads: 310, readers: [12] })]);
  const data = { object: 'queue', definition: { file, line: lineOf('@variable queue') }, type: 'struct queue' };
  const produce = { file, line: lineOf('@contended queue.produced'), symbol: 'produce', writes: 620, threads: [11] };
  const consume = { file, line: lineOf('@contended queue.limit'), symbol: 'consume', reads: 310, threads: [12], offset: 8 };
  const accesses = [
    access({ ...produce, data: { ...data, offset: 0, field: 'produced' } }),
    access({ ...consume, data: { ...data, offset: 8, field: 'limit' } }),
  ];
  const made = report([cacheLine(accesses)], { types: [heat] });
  for (const finding of made.findings) finding.advice = 0;
  return made;
}
