// Types of ctest.mjs for the tests.
import type { Results } from './summary.mjs';

export function readResults(junit: string, output: string): Results;
