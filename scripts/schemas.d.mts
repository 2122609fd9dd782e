// Types of schemas.mjs for the tests.

export function schemas(): Promise<Map<string, string>>;
