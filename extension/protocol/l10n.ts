// Texts that have a translation (l10n/bundle.l10n.json lists them): of the pages, and of what the session says in the editor. Pages and
// session cannot use `vscode.l10n`; who starts them sets the editor's bundle. The command line sets none and speaks English.

let translations: Readonly<Record<string, string>> = {};

/**
 * From now on t() translates. Call it before modules that make texts are loaded: many make theirs then.
 * @param bundle of vscode.l10n; undefined where the editor speaks English
 */
export function useTranslations(bundle: Readonly<Record<string, string>> | undefined): void {
  translations = bundle ?? {};
}

/**
 * The text in the editor's language, in English where it has no translation.
 * @param text a literal, which `npm run l10n` finds; {0} stands for the first value
 */
export function t(text: string, ...values: (string | number)[]): string {
  const translated = translations[text] ?? text;
  return values.length === 0 ? translated : translated.replaceAll(/\{(\d+)\}/g, (place, index) => String(values[Number(index)] ?? place));
}
