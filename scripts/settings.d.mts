// Types of settings.mjs for the tests.

export const settingsFile: string;
export function settingsReference(): Promise<string>;
