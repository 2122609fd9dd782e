// Untrusted names made harmless: for terminals, the editor and its pages.

/** Controls (C0, DEL, C1), line and paragraph separators, and all invisible format characters: bidi overrides, zero width, tags. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

/** Names out of recordings and binaries could drive a terminal or hide text: such characters become visible escapes. */
export function printable(text: string): string {
  if (isPlain(text)) return text;
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0x0a) return '\\n';
    if (code === 0x09) return '\\t';
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

const PLAIN_TEXT = /^[\x20-\x7e]*$/;

/** Whether all of it is printable ASCII, a column a character, as nearly every text is. */
export function isPlain(text: string): boolean {
  return PLAIN_TEXT.test(text);
}

/** Text of a list to choose from, where VS Code makes `$(name)` an icon: a name could look like the editor's own words. */
export function pickerText(text: string): string {
  return printable(text).replaceAll('$(', '$\u200b(');
}

/**
 * Text of a notification of VS Code, which renders `[text](command:…)` and `[text](https:…)` as links: a name in it must not
 * become one. Line breaks are spaces there.
 */
export function notificationText(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, ' ')).replaceAll('](', '] (');
}
