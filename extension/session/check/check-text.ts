// The result of a check as text, as GitHub's workflow commands, and as Markdown for the summary of a step.
import type { Check, CheckFinding, FindingState } from '../../protocol/check';
import { readablePlace, shortPlace } from '../lines/source-path';
import { headField, joinBlocks } from '../report/report-blocks';
import { codeSpan, markdownTable, prose } from '../text/markdown';
import { percent } from '../../protocol/words';
import { count, printable, shortenMiddle, wrap, type Style } from '../text/terminal-text';
import { formatOneRowTable, type Cell, type Column } from '../text/text-table';
import { findingName } from './check';
import { checkSentence, findingMessage, findingTitle, verdictOf } from './finding-words';
import { findingPlace } from './repository';

export interface CheckTextOptions {
  width: number;
  style: Style;
  /** Of the repository. */
  root: string;
}

const STATE_STYLE: Partial<Record<FindingState, keyof Style>> = { new: 'red', grown: 'red', known: 'dim', accepted: 'dim' };
/** GitHub keeps a summary of at most 1 MiB. */
const MOST_IN_SUMMARY = 100;

/** Lines joined by newlines, with one at the end; none is wider than `width` columns. */
export function checkText(check: Check, { width, style, root }: CheckTextOptions): string {
  return joinBlocks([
    headField('Check', check.recording, { width, style }),
    wrap(printable(checkSentence(check)), width).map((line) => style[isPass(check) ? 'green' : 'red'](line)),
    table(check, { width, style, root }),
    check.notes.flatMap((note) => wrap(printable(note), width)),
  ]);
}

function isPass({ failed, noPass }: Check): boolean {
  return !failed && noPass === null;
}

function table({ findings }: Check, { width, style, root }: { width: number; style: Style; root: string }): string[] {
  if (findings.length === 0) return [];
  const wide = width >= 120;
  const columns: Column[] = [
    { title: 'state', align: 'left' },
    { title: 'of all', align: 'right' },
    { title: 'falsely', align: 'right' },
    { title: 'verdict', align: 'left' },
    { title: 'data', align: 'left', shorten: shortenMiddle },
    ...(wide ? [{ title: 'object', align: 'left', shorten: shortenMiddle } as const] : []),
    { title: 'place', align: 'left', shorten: shortenMiddle },
  ];
  const rows = findings.map((finding): Cell[] => {
    const styled = STATE_STYLE[finding.state];
    return [
      { text: finding.state, ...(styled === undefined ? {} : { style: styled }) },
      { text: percent(finding.programShare) },
      { text: percent(finding.falselyWaiting) },
      { text: verdictOf(finding.rule) },
      { text: printable(findingName(finding)), style: 'bold' },
      ...(wide ? [{ text: printable(finding.object) }] : []),
      { text: placeText(finding, wide ? root : undefined) },
    ];
  });
  return formatOneRowTable(columns, rows, { width, indent: 0, style });
}

/** @param root absent: the file's name alone */
function placeText({ declared, accessed }: CheckFinding, root?: string): string {
  const place = declared ?? accessed;
  if (place === null) return '';
  return printable(root === undefined ? shortPlace(place) : readablePlace(place, root));
}

/** One command a finding: https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
export function githubCommands(check: Check, { root }: Pick<CheckTextOptions, 'root'>): string {
  const commands = check.findings.map((finding) => {
    const place = findingPlace(finding, root);
    const where = place === undefined ? '' : `file=${property(place.file)},line=${place.line},`;
    const level = finding.state === 'new' || finding.state === 'grown' ? 'error' : 'notice';
    return `::${level} ${where}title=${property(findingTitle(finding))}::${data(findingMessage(finding))}`;
  });
  const end = `::${isPass(check) ? 'notice' : 'error'} title=${property('cacheline check')}::${data(checkSentence(check))}`;
  return `${[...commands, end].join('\n')}\n`;
}

/** What a value holds could end the command or begin another one: control characters are visible escapes already. */
function data(text: string): string {
  return printable(text).replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
}

function property(text: string): string {
  return data(text).replace(/:/g, '%3A').replace(/,/g, '%2C');
}

export function checkMarkdown(check: Check, { root }: Pick<CheckTextOptions, 'root'>): string {
  const shown = check.findings.slice(0, MOST_IN_SUMMARY);
  const rows = shown.map((finding) => [
    finding.state,
    percent(finding.programShare),
    percent(finding.falselyWaiting),
    verdictOf(finding.rule),
    codeSpan(findingName(finding)),
    codeSpan(placeText(finding, root)),
  ]);
  const rest = check.findings.length - shown.length;
  return joinBlocks([
    ['## Cache-line contention'],
    [prose(checkSentence(check))],
    rows.length === 0 ? [] : markdownTable(['state', 'of all samples:', 'falsely waiting:', 'verdict', 'data', 'place'], rows),
    rest > 0 ? [`${count(rest)} more.`] : [],
    check.notes.map((note) => `- ${prose(note)}`),
  ]);
}
