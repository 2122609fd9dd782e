// The types of accuracy-advice.mjs, for the tests.
import type { Advice } from '../../extension/protocol/advice';
import type { Alarm } from './accuracy.mjs';
import type { CorpusProgram } from './corpus.mjs';

type Advise = (options: string[]) => Promise<{ status: number; stdout: string; stderr: string }>;

export interface PatchResult {
  step: 'none' | 'does not apply' | 'does not compile' | 'has another result' | 'same code' | 'measured';
  detail: string;
  cost: { ratio: number; low: number; high: number; disturbed: number } | null;
  alarms: Record<string, Alarm>;
}

export const gainShare: number;
export function readAdvice(advise: Advise): Promise<Advice[] | null>;
export function partings(advice: readonly Advice[]): string[];
export function judgeAdvice(
  advice: readonly Advice[],
  program: Pick<CorpusProgram, 'why' | 'definition'>,
  source: string,
): { why: boolean; definition: boolean };
export function tryPatch(
  advise: Advise,
  built: { source: string; program: string },
  fixed: { program: string } & Pick<PatchResult, 'cost' | 'alarms'>,
  form: { builder: { command: (level: string, out: string, source: string) => string[] }; level: string },
  options: {
    folder: string;
    count: number;
    tries: number;
    alarmsOf: (program: string, run: { seconds: number; stdout: string }) => Promise<Record<string, Alarm>>;
  },
): Promise<PatchResult>;
export function shareOfGain(fixedRatio: number, patchedRatio: number): number;
