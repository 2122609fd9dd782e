// Types of gtest.mjs for the tests.
import type { Results } from './summary.mjs';

interface Options {
  without?: RegExp;
  again?: RegExp;
  timeoutSeconds: number;
  tell?: (text: string) => void;
}

export function testPrograms(folder: string): string[];
export function runPrograms(programs: string[], options: Options): Promise<Results>;
