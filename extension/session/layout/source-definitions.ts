// Where a source text defines structures: for Rust and Go, whose compilers write into debug information what types look like,
// but not where they are defined.

export type SourceLanguage = 'rust' | 'go';

export interface SourceDefinition {
  /** Without modules and type parameters. */
  name: string;
  /** 1-based. */
  line: number;
  /** Lines of its own members, by their names in a layout: "hits", "0" of a tuple, "Circle.radius" of a variant. */
  members: Map<string, number>;
}

const CLOSING: Record<string, string> = { '{': '}', '(': ')', '[': ']' };
const RUST_TYPE = /\b(?:struct|enum|union)\s+(?:r#)?([\p{L}_][\p{L}\p{N}_]*)/gu;
const RUST_MEMBER = /^(?:pub(?:\s*\([^)]*\))?\s+)?(?:r#)?([\p{L}_][\p{L}\p{N}_]*)\s*:(?!:)/u;
const RUST_VARIANT = /^([\p{L}_][\p{L}\p{N}_]*)\s*([{(]?)/u;
const GO_TYPE = /(?:^|\btype)[ \t]*([\p{L}_][\p{L}\p{N}_]*)(?:\[[^\]\n]*\])?[ \t]+struct[ \t]*\{/gmu;
const GO_MEMBERS = /^([\p{L}_][\p{L}\p{N}_]*(?:\s*,\s*[\p{L}_][\p{L}\p{N}_]*)*)\s+[^\s.]/u;
const GO_EMBEDDED = /^\*?(?:[\p{L}_][\p{L}\p{N}_]*\.)?([\p{L}_][\p{L}\p{N}_]*)(?:\[.*\])?$/u;

export function sourceLanguage(file: string): SourceLanguage | undefined {
  return file.endsWith('.rs') ? 'rust' : file.endsWith('.go') ? 'go' : undefined;
}

/** Structures, unions and (Rust) enums in the order of the text. */
export function definitionsIn(source: string, language: SourceLanguage): SourceDefinition[] {
  const text = withoutWords(source, language);
  const starts = lineStarts(text);
  const lineAt = (offset: number): number => lineOf(starts, offset);
  return language === 'rust' ? rustDefinitions(text, lineAt) : goDefinitions(text, lineAt);
}

type LineAt = (offset: number) => number;

function rustDefinitions(text: string, lineAt: LineAt): SourceDefinition[] {
  return [...text.matchAll(RUST_TYPE)].flatMap((match) => {
    const [keyword, name = ''] = match;
    const open = rustBody(text, match.index + keyword.length);
    if (open === undefined || (keyword.startsWith('union') && text[open] !== '{')) return []; // "union" is a name elsewhere
    const members = new Map<string, number>();
    if (text[open] !== ';') rustMembers(text, open, keyword.startsWith('enum'), '', members, lineAt);
    return [{ name, line: lineAt(match.index), members }];
  });
}

/** Where `{`, `(` or `;` stands behind a name, its parameters and what is asked of them. */
function rustBody(text: string, behindName: number): number | undefined {
  let at = behindName;
  if (/^\s*</.test(text.slice(at, at + 80))) {
    at = text.indexOf('<', at);
    for (const [, to] of parts(text, at, ',')) at = to;
    ++at;
  }
  const rest = /^(?:\s*([{(;])|\s+where\b[^{;]*([{;]))/.exec(text.slice(at));
  return rest ? at + rest[0].length - 1 : undefined;
}

function rustMembers(text: string, open: number, variants: boolean, path: string, members: Map<string, number>, lineAt: LineAt): void {
  let index = 0;
  for (const [from, to] of parts(text, open, ',')) {
    const part = text.slice(from, to).replace(/^(?:\s*#\[[^\]]*\])*\s*/, (attributes) => ' '.repeat(attributes.length));
    const at = from + (part.length - part.trimStart().length);
    const found = (variants ? RUST_VARIANT : RUST_MEMBER).exec(part.trim());
    if (variants && found) {
      const inner = found[2] ? text.indexOf(found[2], at) : -1;
      if (inner >= 0) rustMembers(text, inner, false, `${path}${found[1] ?? ''}.`, members, lineAt);
    } else if (!variants && text[open] === '(' && part.trim() !== '') members.set(`${path}${index++}`, lineAt(at));
    else if (found) members.set(`${path}${found[1] ?? ''}`, lineAt(at));
  }
}

function goDefinitions(text: string, lineAt: LineAt): SourceDefinition[] {
  let end = 0;
  return [...text.matchAll(GO_TYPE)].flatMap((match) => {
    if (match.index < end) return []; // a member that is a structure
    const [declaration, name = ''] = match;
    const open = match.index + declaration.length - 1;
    const members = new Map<string, number>();
    for (const [from, to] of parts(text, open, '\n;')) {
      const part = text.slice(from, to);
      const line = lineAt(from + (part.length - part.trimStart().length));
      const plain = part.trim();
      const embedded = GO_EMBEDDED.exec(plain);
      const names = embedded ? [embedded[1] ?? ''] : (GO_MEMBERS.exec(plain)?.[1] ?? '').split(/\s*,\s*/);
      for (const member of names) if (member !== '') members.set(member, line);
      end = to;
    }
    return [{ name, line: lineAt(match.index + declaration.indexOf(name)), members }];
  });
}

/** The parts inside of the bracket at `open`, as offsets; separators in brackets inside of it, or in `<>`, separate nothing. */
function* parts(text: string, open: number, separators: string): Generator<[number, number]> {
  const expected: string[] = [];
  let from = open + 1;
  for (let at = open; at < text.length; ++at) {
    const character = text[at] ?? '';
    const closing = CLOSING[character];
    if (closing !== undefined) expected.push(closing);
    else if (character === '<' && separators === ',') expected.push('>');
    else if (character === expected.at(-1) && text[at - 1] !== '-') expected.pop();
    if (expected.length === 0 || (expected.length === 1 && separators.includes(character))) {
      yield [from, at];
      from = at + 1;
    }
    if (expected.length === 0) return;
  }
}

/** Comments and literals become blanks: what stands in them defines nothing. Offsets and lines stay. */
export function withoutWords(text: string, language: SourceLanguage): string {
  const words =
    language === 'rust'
      ? /\/\/[^\n]*|\/\*[^]*?\*\/|\br(#*)"[^]*?"\1|"(?:\\[^]|[^"\\])*"|'(?:\\[^\n']+|[^\\'\n])'/g
      : /\/\/[^\n]*|\/\*[^]*?\*\/|`[^`]*`|"(?:\\.|[^"\\\n])*"|'(?:\\[^\n']+|[^\\'\n])'/g;
  return text.replace(words, (word) => word.replace(/[^\n]/g, ' '));
}

/** Offsets at which lines begin. */
export function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The line of an offset, 1-based. */
export function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
