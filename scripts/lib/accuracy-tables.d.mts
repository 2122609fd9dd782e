// The types of accuracy-tables.mjs, for the tests.
import type { Alarm } from './accuracy.mjs';
import type { PatchResult } from './accuracy-advice.mjs';
import type { CorpusProgram } from './corpus.mjs';

/** One program by one compiler at one level: all that bench:accuracy measures of it. */
export interface JudgedForm {
  title: string;
  program: Pick<CorpusProgram, 'control' | 'patchable'>;
  cost: { ratio: number; low: number; high: number; disturbed: number };
  collectors: Record<
    string,
    { found: boolean; marked: number; right: number; wrong: string[]; verdicts: string[]; alarm: Alarm; disturbed: boolean }
  >;
  advice: {
    partings: string[];
    predicted: { low: number; mid: number; high: number; bound: boolean } | null;
    patch: PatchResult | null;
    why: boolean;
    definition: boolean;
  } | null;
}

export function formRows(judged: readonly JudgedForm[], collectors: readonly string[]): string[][];
export function targetRows(judged: readonly JudgedForm[], collectors: readonly string[]): string[][];
export function detailRows(judged: readonly JudgedForm[], collectors: readonly string[]): string[][];
