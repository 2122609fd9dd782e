// Types of run.mjs for the tests.
export class ScriptError extends Error {}
export function goFirstToo(pid: number): void;
