// The types of corpus.mjs, for the tests.
export interface CorpusMember {
  marker: string;
  object: string | null;
  names: string[];
}

export interface CorpusProgram {
  name: string;
  language: string;
  control: boolean;
  contended: string;
  fixed: string | null;
  parted: string | null;
  why: string | null;
  patchable: string | null;
  definition: string | null;
  members: CorpusMember[];
}

export const corpusFolder: string;
export const corpusFlags: readonly string[];
export function readCorpus(): Promise<CorpusProgram[]>;
export function contendedMarkers(source: string): Map<number, string[]>;
export function definitionMarkers(source: string): Map<number, string[]>;
