// Types of gtest.mjs for the tests.
import type { Results } from './summary.mjs';

interface Options {
  chosen?: (program: string, test: string) => boolean;
  timeoutSeconds: number;
  tell?: (text: string) => void;
}

export function testPrograms(folder: string, names?: string[]): string[];
export function runPrograms(programs: string[], options: Options): Promise<Results>;
