// Finds the lines of a profile in a text that is not the one that was compiled, by the names that debug information gives them.
import type { FileWords, LineWords } from './line-words';

const WORD = /[\p{L}_][\p{L}\p{N}_]*/gu;
/** Comments and strings declare nothing. */
const WORDS_ONLY = /\/\/[^\n]*|\/\*[^]*?\*\/|"(?:\\.|[^"\\\n])*"/g;
/** Of a name on many lines the nearest are looked at: these many, and fewer where there are many names. */
const MOST_CANDIDATES = 200;
const FEWEST_CANDIDATES = 20;
const MOST_PAIRS = 400_000;

// What a line counts for that holds a name. A change of the shift costs more than one line brings that only happens to hold it.
const DECLARED = 2;
const MENTIONED = 0.5;
const USED = 0.35;
const SHIFT_CHANGE = 0.75;

/** A line of the profile and one of the text that holds its names. */
interface Pair {
  from: number;
  to: number;
  weight: number;
}

/**
 * Where lines of another text are in this one. Chosen is the chain of (line, line that holds its names), both increasing, that
 * explains most names with few changes of the shift between the two texts; lines between two of the chain with one shift move along.
 * @param lines 0-based
 * @returns line to line of the text; those that fit nowhere are absent. Where nothing that is declared is known, and nothing that
 * is used is found, lines stay as they are.
 */
export function placeByNames(text: readonly string[], words: FileWords, lines: Iterable<number>): Map<number, number> {
  const chain = bestChain(pairsOf(text, words), text.length);
  const declared = [...words.values()].some(({ declares, found }) => !found && declares.size > 0);
  if (chain.length === 0 && !declared) return unmoved(text, lines);
  const anchors = new Map(chain.map(({ from, to }) => [from, to]));
  const placed = new Map<number, number>();
  for (const line of lines) {
    const own = words.get(line);
    const named = own !== undefined && own.declares.size > 0;
    const now = own?.found === true ? line : (anchors.get(line) ?? (named ? undefined : moveAlong(line, chain)));
    if (now !== undefined && now < text.length) placed.set(line, now);
  }
  return placed;
}

function unmoved(text: readonly string[], lines: Iterable<number>): Map<number, number> {
  return new Map([...lines].filter((line) => line < text.length).map((line) => [line, line]));
}

/**
 * Whether a line holds none of its names any more, but one of the profile's that it did not hold before: it became something else.
 * What was renamed to something that the profile does not know is still the same.
 * @param before the line when it was profiled
 * @param names all that lines of the file declare
 */
export function isMisnamed(text: string, before: string, own: ReadonlySet<string>, names: ReadonlySet<string>): boolean {
  if (own.size === 0) return false;
  const now = wordsIn(text);
  for (const name of own) if (now.has(name)) return false;
  const others = [...now].filter((word) => names.has(word));
  return others.length > 0 && others.some((word) => !wordsIn(before).has(word));
}

function wordsIn(line: string): Set<string> {
  return new Set(line.replace(WORDS_ONLY, '').match(WORD));
}

function pairsOf(text: readonly string[], words: FileWords): Pair[] {
  const plain = text
    .join('\n')
    .replace(WORDS_ONLY, (part) => part.replace(/[^\n]/g, ' '))
    .split('\n');
  const places = linesOfWords(plain, words);
  const most = Math.max(FEWEST_CANDIDATES, Math.min(MOST_CANDIDATES, Math.floor(MOST_PAIRS / Math.max(1, words.size))));
  return [...words]
    .sort(([a], [b]) => a - b)
    .flatMap(([from, own]) => [...weights(from, own, places, most)].map(([to, weight]) => ({ from, to, weight })));
}

/** A line of the text with a name. */
interface Mention {
  line: number;
  /** It seems to declare it. */
  declared: boolean;
}

function linesOfWords(plain: readonly string[], words: FileWords): Map<string, Mention[]> {
  const places = new Map<string, Mention[]>();
  const declarations = new Map<string, RegExp>();
  for (const { declares, uses } of words.values()) {
    for (const name of declares) declarations.set(name, declarations.get(name) ?? declaration(name));
    for (const word of [...declares, ...uses]) places.set(word, []);
  }
  for (const [line, text] of plain.entries()) {
    for (const [word] of text.matchAll(WORD)) {
      const there = places.get(word);
      if (there && there.at(-1)?.line !== line) there.push({ line, declared: declarations.get(word)?.test(text) ?? false });
    }
  }
  return places;
}

/** What each line of the text counts for as the place of this one. */
function weights(
  from: number,
  { declares, uses, found }: LineWords,
  places: ReadonlyMap<string, readonly Mention[]>,
  most: number,
): Map<number, number> {
  const weighed = new Map<number, number>();
  if (found) return weighed;
  for (const name of declares) {
    for (const { line: to, declared } of nearest(places.get(name) ?? [], from, most))
      weighed.set(to, (weighed.get(to) ?? 0) + (declared ? DECLARED : MENTIONED) / declares.size);
  }
  if (declares.size > 0) return weighed;
  for (const word of uses)
    for (const { line: to } of nearest(places.get(word) ?? [], from, most))
      weighed.set(to, Math.min(2 * USED, (weighed.get(to) ?? 0) + USED));
  return weighed;
}

/** @param lines in the order of the text */
function nearest(lines: readonly Mention[], from: number, most: number): readonly Mention[] {
  if (lines.length <= most) return lines;
  const distance = (index: number): number => Math.abs((lines[index]?.line ?? Infinity) - from);
  let [first, end] = [0, lines.length - most]; // of the window: moved on while the line behind it is nearer than its first one
  while (first < end) {
    const middle = (first + end) >> 1;
    if (distance(middle) > distance(middle + most)) first = middle + 1;
    else end = middle;
  }
  return lines.slice(first, first + most);
}

/** Matches a line that seems to declare the name: behind a type or a keyword, before what ends a declarator or opens a body. */
function declaration(plainName: string): RegExp {
  const name = plainName.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  const word = String.raw`(?<![\p{L}\p{N}_])${name}(?![\p{L}\p{N}_])`;
  const notBehind = String.raw`(?<!\b(?:return|else|goto|throw|case|delete)\s+${name})`;
  const behind = String.raw`(?<=(?:[\p{L}\p{N}_>\]}*&]\s+(?:[\p{L}\p{N}_]+::)*|[\p{L}\p{N}_>]\s*[*&]+\s*|,\s*)${name})`;
  const before = String.raw`(?=\s*(?:[;=,[{()]|:(?!:)|$))`;
  const attributed = String.raw`(?<=\)\s*${name})(?=\s*(?:[{:]|$))`; // struct alignas(64) name {
  const first = String.raw`(?<=^\s*${name})(?=\s*:(?!:))`; // name: type
  return new RegExp(`${word}(?:${notBehind}${behind}${before}|${attributed}|${first})`, 'u');
}

/** The chain of pairs, both sides increasing, with the highest sum of weights less the changes of the shift. */
function bestChain(pairs: readonly Pair[], lineCount: number): Pair[] {
  const score = new Float64Array(pairs.length);
  const previous = new Int32Array(pairs.length).fill(-1);
  const upTo = new PrefixBest(lineCount, score);
  const ofShift = new Map<number, number>(); // the best pair so far with this shift
  let best = -1;
  const better = (a: number, b: number): boolean => b < 0 || (score[a] ?? 0) > (score[b] ?? 0);
  for (let first = 0; first < pairs.length;) {
    let end = first;
    for (; end < pairs.length && pairs[end]?.from === pairs[first]?.from; ++end) {
      const { from, to, weight } = pairs[end] ?? { from: 0, to: 0, weight: 0 };
      const same = ofShift.get(to - from) ?? -1;
      const any = upTo.below(to);
      const going = same >= 0 ? (score[same] ?? 0) : to === from ? 0 : -SHIFT_CHANGE; // as the text begins: without a shift
      const changing = any >= 0 ? (score[any] ?? 0) - SHIFT_CHANGE : -SHIFT_CHANGE;
      previous[end] = changing > going ? any : same;
      score[end] = weight + Math.max(going, changing);
    }
    for (; first < end; ++first) {
      const { from, to } = pairs[first] ?? { from: 0, to: 0 };
      upTo.add(to, first);
      if (better(first, ofShift.get(to - from) ?? -1)) ofShift.set(to - from, first);
      if ((score[first] ?? 0) > 0 && better(first, best)) best = first;
    }
  }
  const chain: Pair[] = [];
  for (let at = best; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair) chain.push(pair);
  }
  return chain.reverse();
}

/** The pair with the highest score among those on lines below one (a Fenwick tree of maxima). */
class PrefixBest {
  private readonly tree: Int32Array;

  constructor(
    size: number,
    private readonly score: Float64Array,
  ) {
    this.tree = new Int32Array(size + 1).fill(-1);
  }

  add(line: number, pair: number): void {
    for (let at = line + 1; at < this.tree.length; at += at & -at) this.tree[at] = this.higher(this.tree[at] ?? -1, pair);
  }

  /** -1: none. */
  below(line: number): number {
    let best = -1;
    for (let at = line; at > 0; at -= at & -at) best = this.higher(best, this.tree[at] ?? -1);
    return best;
  }

  private higher(a: number, b: number): number {
    if (a < 0 || b < 0) return Math.max(a, b);
    return (this.score[b] ?? 0) > (this.score[a] ?? 0) ? b : a;
  }
}

/** A line without a name moves with its neighbours in the chain where they agree; where nothing moved at all it stays. */
function moveAlong(line: number, chain: readonly Pair[]): number | undefined {
  let [low, high] = [0, chain.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chain[middle]?.from ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  const shift = (pair: Pair | undefined): number => (pair ? pair.to - pair.from : 0); // the first line is the first line
  const above = shift(chain[low - 1]);
  if (low < chain.length) return above === shift(chain[low]) ? line + above : undefined;
  return chain.length > 0 && chain.every((pair) => shift(pair) === 0) ? line : undefined;
}
