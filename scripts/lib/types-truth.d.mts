// The types of types-truth.mjs, for the tests.
import type { Report } from '../../extension/protocol/report';

export interface KnownObject {
  kind: string;
  from: bigint;
  to: bigint;
}

export interface KnownField {
  from: bigint;
  to: bigint;
  truth: string;
}

export interface Tally {
  all: number;
  typed: number;
  right: number;
  unmarked: number;
}

export interface Judgement {
  tallies: Record<string, Tally>;
  wrong: { line: number | string; truth: string; said: string; records: number }[];
}

export function readMarkers(source: string): Promise<Map<number, string[]>>;
export function readObjects(output: string): KnownObject[];
export function readFields(output: string): KnownField[];
export function judge(
  report: Report,
  source: string,
  markers: Map<number, string[]>,
  objects: readonly KnownObject[],
  fields: readonly KnownField[],
): Judgement;
