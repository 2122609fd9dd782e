// Types of build.mjs for the tests.

export function bundleCommandLine(outdir: string): Promise<void>;

export function bundleProducts(options: { outdir: string; sourcemap: boolean }): Promise<void>;
