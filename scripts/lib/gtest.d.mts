// Types of gtest.mjs for the tests.
import type { Results } from './summary.mjs';

interface Options {
  timeoutSeconds: number;
  tell?: (text: string) => void;
}

export const folderPrograms: readonly string[];
export const liveProgram: string;
export function testPrograms(folder: string, names?: string[]): string[];
export function runPrograms(programs: string[], options: Options): Promise<Results>;
