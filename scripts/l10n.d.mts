// Types of l10n.mjs for the tests.

export const bundleFile: string;
export function l10nBundle(): Promise<string>;
export function textsOf(file: string, source: string): string[];
