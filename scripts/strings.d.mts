// Types of strings.mjs for the tests.

export interface FoundString {
  /** Counts from 1. */
  line: number;
  kind: string;
  text: string;
}

export function typescriptStrings(file: string, source: string): FoundString[];
export function cppStrings(source: string): FoundString[];
export function manifestStrings(source: string): FoundString[];
export function documentStrings(source: string, options: { prose: boolean }): FoundString[];
export function projectStrings(): Promise<(FoundString & { file: string })[]>;
