// Types of rows.mjs for the tests.
export interface MeasuredRows<Value> {
  rows: Map<string, Value>;
  missing: string[];
  broken: string[];
}

export function chooseRows(names: readonly string[], patterns: readonly string[]): string[];
export function measureRows<Value>(
  bench: string,
  options: {
    names: readonly string[];
    chosen: readonly string[];
    resume: boolean;
    code: string;
    how: string;
    measure: (name: string) => Promise<Value | undefined>;
    show?: (name: string, value: Value) => void;
    folder?: string;
    say?: (line: string) => void;
  },
): Promise<MeasuredRows<Value>>;
export function endRows(
  bench: string,
  result: Pick<MeasuredRows<unknown>, 'missing' | 'broken'>,
  write: (() => Promise<void>) | null,
  say?: (line: string) => void,
): Promise<number>;
