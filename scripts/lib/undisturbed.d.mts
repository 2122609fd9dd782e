// The types of undisturbed.mjs, for the tests.
export function buildCputime(): Promise<void>;
