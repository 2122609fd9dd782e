// Types of build.mjs for the tests.

export function bundleCommandLine(outdir: string): Promise<void>;
