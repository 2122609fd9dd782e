// A type that a binary does not have: which of its types was probably meant.
import type { TypeSummary } from '../../protocol/layout';
import { alternatives, count, enumerate, plural, printable, shortenMiddle } from '../text/terminal-text';

const SHOWN = 3;
const SHOWN_INSTANCES = 10;
const LONGEST_NAME = 80;
/** Of the longer name's letters, how many may differ. */
const TOLERATED = 0.4;
/** A name that only contains the asked one is a worse guess than one that is a typing error away. */
const CONTAINED = 0.3;
/** As is the same template with other arguments. */
const SAME_TEMPLATE = 0.35;

/** Debug information without types is that of -g1 in most cases. */
export const NO_TYPES =
  'The debug information of this binary defines no type with a name. Compile with -g: -g1, -gline-tables-only and debug = 1 of Cargo leave types out.';

/** One sentence on what is missing, and one on what to try. */
export function unknownType(asked: string, binary: string, types: readonly TypeSummary[]): { message: string; nextStep: string } {
  const message = `There is no type '${asked}' in ${binary}.`;
  if (types.length === 0) return { message, nextStep: NO_TYPES };
  const instances = instancesOf(asked, types);
  if (instances.length > 0)
    return {
      message: `${quote(asked)} is a template, and ${binary} has ${plural(instances.length, 'instance')}: ${instanceText(instances)}.`,
      nextStep: `Name one of them with its arguments; cacheline layout --list --in ${binary} lists all types.`,
    };
  const near = nearestNames(asked, types);
  return {
    message,
    nextStep: near.length > 0 ? `Did you mean ${quoted(near)}?` : `See what there is: cacheline layout --list --in ${binary}`,
  };
}

/** The names most like the asked one, best first; empty: none is like it. */
export function nearestNames(asked: string, types: readonly TypeSummary[]): string[] {
  const [whole, last] = [asked.toLowerCase(), tail(asked).toLowerCase()];
  const template = /^[^<]+</.exec(last)?.[0];
  const best = new Map<string, number>();
  for (const { name } of types) {
    if (best.has(name)) continue;
    const lower = name.toLowerCase();
    const far = Math.min(
      difference(whole, lower),
      difference(last, tail(lower)),
      last.length > 2 && lower.includes(last) ? CONTAINED : 1,
      template !== undefined && tail(lower).startsWith(template) ? SAME_TEMPLATE : 1,
    );
    if (far <= TOLERATED) best.set(name, far);
  }
  return [...best]
    .sort(([a, farA], [b, farB]) => farA - farB || a.length - b.length || (a < b ? -1 : 1))
    .slice(0, SHOWN)
    .map(([name]) => name);
}

/** `ns::Ring<int>` and `ns::Ring<long>` of `Ring` or `ns::Ring`; `main.Ring[int]` of Go's. */
function instancesOf(asked: string, types: readonly TypeSummary[]): string[] {
  const instances = types.flatMap(({ name }) => {
    const last = tail(name);
    const plain = name.slice(0, name.length - last.length) + last.replace(/[<[].*$/s, '');
    const isInstance = plain !== name && (plain === asked || plain.endsWith(`::${asked}`) || plain.endsWith(`.${asked}`));
    return isInstance ? [name] : [];
  });
  return [...new Set(instances)];
}

function instanceText(names: readonly string[]): string {
  const more = names.length - SHOWN_INSTANCES;
  return enumerate([...names.slice(0, SHOWN_INSTANCES).map(quote), ...(more > 0 ? [`${count(more)} more`] : [])]);
}

function quote(name: string): string {
  return `'${shortenMiddle(printable(name), LONGEST_NAME)}'`;
}

function quoted(names: readonly string[]): string {
  return alternatives(names.map(quote));
}

/** `Pool<a::B>` of `ns::Pool<a::B>`, `Board` of Go's `main.Board`: behind the last scope that is not inside of brackets. */
function tail(name: string): string {
  let depth = 0;
  for (let i = name.length - 1; i > 0; i--) {
    const character = name[i];
    if (character === '>') depth++;
    else if (character === '<') depth--;
    else if (depth === 0 && (character === '.' || (character === ':' && name[i - 1] === ':'))) return name.slice(i + 1);
  }
  return name.replace(/^(struct|class|union|enum)\s+/, '');
}

/** Letters to change, add, drop or swap with their neighbour, as a share of the longer name; 1 where lengths alone rule it out. */
function difference(a: string, b: string): number {
  const longest = Math.max(a.length, b.length);
  if (longest === 0 || Math.abs(a.length - b.length) > longest * TOLERATED) return 1;
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let steps = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps = Math.min(steps, (before[j - 2] ?? 0) + 1);
      row.push(steps);
    }
    before = last;
    last = row;
  }
  return (last[b.length] ?? longest) / longest;
}
