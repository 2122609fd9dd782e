// Types of package.mjs for the tests.
export const glibcMaximum: [number, number];
export const systemLibraries: RegExp[];
export const privateLibraries: RegExp[];
