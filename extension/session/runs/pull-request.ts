// What a reviewer asks for, as Markdown: what was found, what was changed, the layout before and after, what was promised and what was measured.
import type { Advice } from '../../protocol/advice';
import type { RunPair, Runs, Speedup } from '../../protocol/runs';
import { doText, isBound } from '../advice/advice-words';
import { markdownTable, prose } from '../text/markdown';
import { percent } from '../../protocol/words';
import { enumerate, plural, printable } from '../text/terminal-text';

/** Processors: from here on what others used is worth a word. */
const DISTURBING = 0.2;

export interface PullRequestFacts {
  runs: Runs;
  /** Of the report of the first program: plain text. */
  finding: string;
  /** Of the first program; undefined: nothing was advised. */
  advice: Advice | undefined;
  /** Of the type that the advice is about, as `cacheline layout` has it; null: it is not known there. */
  layout: { name: string; before: string | null; after: string | null } | null;
}

/** Lines joined by newlines, with one at the end. */
export function pullRequestText({ runs, finding, advice, layout }: PullRequestFacts): string {
  return (
    [
      `**Finding:** ${prose(finding)}`,
      ...(advice === undefined ? [] : [`**Advice:** ${adviceMarkdown(doText(advice).sentence)}`]),
      measuredTable(runs),
      ...speedupText(runs),
      ...(layout === null ? [] : [layoutBlock(layout)]),
    ].join('\n\n') + '\n'
  );
}

function measuredTable({ median, contendedShare, pairs }: Runs): string {
  const share = (value: number | null): string => (value === null ? 'not known' : percent(value));
  const recorded = pairs.filter((pair) => pair.recorded);
  const rows = [
    ['Median run time', secondsText(median.before), median.after === null ? undefined : secondsText(median.after)],
    [
      'From the fastest to the slowest run',
      spreadText(median.spread.before),
      median.after === null ? undefined : spreadText(median.spread.after ?? 0),
    ],
    ['Samples at a contended cache line', share(contendedShare.before), share(contendedShare.after)],
    ['Run time while recorded', recordedText(recorded, 'beforeNs'), recordedText(recorded, 'afterNs')],
  ] as const;
  const both = median.after !== null;
  return markdownTable(
    both ? ['', 'before:', 'after:'] : ['', 'measured:'],
    rows.map(([name, before, after]) => (both ? [name, before, after ?? ''] : [name, before])),
  ).join('\n');
}

function recordedText(pairs: readonly RunPair[], which: 'beforeNs' | 'afterNs'): string {
  return enumerate(pairs.flatMap((pair) => (pair[which] === null ? [] : [secondsText(pair[which])])));
}

function speedupText({ speedup, p, pairs, predicted, cpus, otherLoad }: Runs): string[] {
  const disturbed =
    otherLoad < DISTURBING ? [] : [`Other programs used ${otherLoad.toFixed(1)} processors meanwhile: run it again on a quiet machine.`];
  if (speedup === null || p === null) return disturbed;
  const count = pairs.filter(({ recorded }) => !recorded).length;
  const where = cpus === null ? '' : ` on CPUs ${prose(cpus)}`;
  const chance = p < 0.05 ? '' : ' Chance may explain this difference: run more pairs.';
  const promise = predicted === null ? 'Nothing was predicted.' : `Predicted from the first recording alone: ${promiseText(predicted)}.`;
  return [
    `**Measured:** ${factorText(speedup)} in ${plural(count, 'pair')} of runs in turn${where} ` +
      `(Wilcoxon signed-rank test: p = ${p.toPrecision(2)}).${chance} ${promise}`,
    ...disturbed,
  ];
}

function promiseText(predicted: NonNullable<Runs['predicted']>): string {
  const { low, high, basis } = predicted;
  return isBound(basis) ? `between ${low.toFixed(2)} and ${high.toFixed(2)} times as fast` : factorText(predicted);
}

/** "5.76 times as fast (5.60 to 5.90)". */
function factorText({ low, mid, high }: Speedup): string {
  return `${mid.toFixed(2)} times as fast (${low.toFixed(2)} to ${high.toFixed(2)})`;
}

function secondsText(nanoseconds: number): string {
  return nanoseconds < 1e9 ? `${(nanoseconds / 1e6).toFixed(1)} ms` : `${(nanoseconds / 1e9).toFixed(3)} s`;
}

function spreadText(spread: number): string {
  return `${percent(spread)} of it`;
}

function layoutBlock({ name, before, after }: NonNullable<PullRequestFacts['layout']>): string {
  const part = (title: string, text: string | null): string[] =>
    text === null ? [`${title}: the debug information does not have it.`] : [`${title}:`, fenced(text)];
  return [
    `<details><summary>Layout of ${prose(name)}</summary>`,
    ...part('Before', before),
    ...(withoutPlace(before) === withoutPlace(after) ? ['After: the same.'] : part('After', after)),
    '</details>',
  ].join('\n\n');
}

/** A layout without the comment that says where it is defined, which another file or line changes. */
function withoutPlace(layout: string | null): string | undefined {
  return layout?.replace(/^\/\*.*?\*\/\n/s, '');
}

/** What stands between backticks is code, and stays so. */
function adviceMarkdown(text: string): string {
  return text
    .split('`')
    .map((part, i) => (i % 2 === 1 ? `\`${printable(part)}\`` : prose(part)))
    .join('');
}

/** Untrusted text in a code block that no line of it ends. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}c\n${text.trimEnd()}\n${fence}`;
}
