// Types of run.mjs for the tests.
export class ScriptError extends Error {}
export function goFirst(pid: number): void;
