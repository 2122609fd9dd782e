// Types of summary.mjs for the tests.
export interface Results {
  passed: number;
  failed: number;
  skipped: number;
  failures: { name: string; message: string }[];
  skips: string[];
  retries: string[];
  times: { name: string; ms: number }[];
}

export const none: Results;
export function summaryLines(results: (Results & { name: string; time: string })[]): string[];
export function lastLines(output: string): string;
