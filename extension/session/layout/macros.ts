// Macros in a source text: where one is defined and used, and which of them make Rust structures. What a macro declares has its
// place on the line that uses it, so a hover on the definition has to lead there.
import { lineOf, lineStarts, withoutWords } from './source-definitions';

const C_DEFINE = /^\s*#\s*define\s+([\p{L}_][\p{L}\p{N}_]*)(?:\([^)]*\))?(.*)/su;
const C_WORDS = /\/\*.*?(?:\*\/|$)|\/\/.*|"(?:\\.|[^"\\])*"/gs;
const C_DECLARES = /\b(?:struct|class|union|enum)\b|;|##/;
const RUST_MACRO = /\bmacro_rules!\s*([\p{L}_][\p{L}\p{N}_]*)\s*(?=[{([])/gu;
const MAKES_TYPE = /\b(?:struct|enum|union)\s+\$/;
/** Characters of a macro, or of its use, whose closing bracket is missing. */
const MAX_UNCLOSED = 2000;

/** A use of a macro that makes Rust types. */
export interface MacroUse {
  /** 1-based line of the first time that each word stands in it. */
  words: Map<string, number>;
}

/** The macro that declares something and whose definition a line of C, C++ or Rust belongs to. @param line 0-based */
export function macroAround(text: string, line: number, language: 'c' | 'rust'): string | undefined {
  return language === 'c' ? cMacroAround(text.split('\n'), line) : rustMacroAround(text, line);
}

/** Lines that use the macro, 0-based; its definition is none. */
export function macroUses(text: string, macro: string, language: 'c' | 'rust'): number[] {
  const use = new RegExp(`(?<![\\p{L}\\p{N}_])${macro}${language === 'c' ? '(?![\\p{L}\\p{N}_])' : '!'}`, 'u');
  const uses: number[] = [];
  for (const [line, here] of text.split('\n').entries()) if (use.test(here) && !(language === 'c' && /^\s*#/.test(here))) uses.push(line);
  return uses;
}

/** Names of the macros that define structures by the words of those who use them. */
export function typeMakers(rust: string): string[] {
  return rustMacros(withoutWords(rust, 'rust')).flatMap(({ name, body }) => (MAKES_TYPE.test(body) ? [name] : []));
}

/** Where these macros are used. */
export function usesOfMakers(rust: string, makers: ReadonlySet<string>): MacroUse[] {
  if (makers.size === 0) return [];
  const text = withoutWords(rust, 'rust');
  const starts = lineStarts(text);
  const closing = closingBrackets(text);
  return [...text.matchAll(/(?<![\p{L}\p{N}_])([\p{L}_][\p{L}\p{N}_]*)!\s*(?=[{([])/gu)].flatMap(({ 0: head, 1: name = '', index }) => {
    if (!makers.has(name)) return [];
    const open = index + head.length;
    const words = new Map<string, number>();
    let line = lineOf(starts, open);
    for (const [word] of text.slice(open, endOf(open, closing)).matchAll(/\n|[\p{L}_][\p{L}\p{N}_]*/gu))
      if (word === '\n') ++line;
      else if (!words.has(word)) words.set(word, line);
    return [{ words }];
  });
}

function cMacroAround(lines: readonly string[], line: number): string | undefined {
  let first = line;
  while (first > 0 && /\\\r?$/.test(lines[first - 1] ?? '')) --first;
  let last = first;
  while (/\\\r?$/.test(lines[last] ?? '')) ++last;
  const [, name, body = ''] = C_DEFINE.exec(lines.slice(first, last + 1).join('\n')) ?? [];
  return C_DECLARES.test(body.replace(C_WORDS, ' ')) ? name : undefined;
}

function rustMacroAround(rust: string, line: number): string | undefined {
  if (!rust.includes('macro_rules!')) return undefined;
  const text = withoutWords(rust, 'rust');
  const starts = lineStarts(text);
  const [begin = Infinity, end = Infinity] = starts.slice(line, line + 2);
  const around = rustMacros(text).find(({ from, to }) => from < end && to >= begin);
  return around && MAKES_TYPE.test(around.body) ? around.name : undefined;
}

function rustMacros(text: string): { name: string; body: string; from: number; to: number }[] {
  const closing = closingBrackets(text);
  return [...text.matchAll(RUST_MACRO)].map(({ 0: head, 1: name = '', index }) => {
    const to = Math.min(text.length, endOf(index + head.length, closing));
    return { name, body: text.slice(index, to), from: index, to };
  });
}

/** Offset behind the bracket that closes the one at `open`. */
function endOf(open: number, closing: ReadonlyMap<number, number>): number {
  return closing.get(open) ?? open + MAX_UNCLOSED;
}

/** Offsets behind closing brackets, by those of the opening ones. */
function closingBrackets(text: string): Map<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: bracket, index } of text.matchAll(/[{}()[\]]/g)) {
    if ('{(['.includes(bracket)) open.push(index);
    else closing.set(open.pop() ?? -1, index + 1);
  }
  return closing;
}
