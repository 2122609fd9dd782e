// A recording as Markdown, for an issue or a pull request: what is contended, by type, member, object and function.
import type { Report } from '../../protocol/report';
import type { TableKey, TableRow } from '../../protocol/table';
import { isUnknown } from '../compare/sums';
import { joinArguments } from '../record/launch';
import { joinBlocks } from '../report/report-blocks';
import { codeSpan, markdownTable, prose } from '../text/markdown';
import { percent } from '../../protocol/words';
import { count, plural } from '../text/terminal-text';
import { duration } from '../threads/duration';

export const MARKDOWN_TABLES: TableKey[][] = [['type'], ['type', 'member'], ['object'], ['function']];

const TITLES = ['Types', 'Members', 'Objects', 'Functions'];
const MOST_ROWS = 20;

/** @param report without lines */
export function reportMarkdown(report: Report, tables: readonly (readonly TableRow[])[]): string {
  const { samples, recording, seconds, collector, evidence } = report;
  const program = recording === null || recording.command.length === 0 ? '' : ` of ${codeSpan(joinArguments(recording.command))}`;
  const share = samples.total === 0 ? 0 : samples.contended / samples.total;
  const blocks = tables.flatMap((rows, i): string[][] => {
    const contended = rows.filter((row) => row.contended > 0 && !isUnknown(Object.values(row.key)[0] ?? ''));
    if (contended.length === 0) return [];
    const shown = contended.slice(0, MOST_ROWS);
    const rest = contended.length - shown.length;
    return [
      [`### ${TITLES[i] ?? ''}`, '', ...markdownTable(['of all samples:', 'time:', 'falsely:', 'verdict', 'name'], shown.map(cells))],
      ...(rest > 0 ? [[`${count(rest)} more.`]] : []),
    ];
  });
  return joinBlocks([
    ['## Cache-line contention'],
    [
      `${plural(samples.total, 'sample')}${program} in ${seconds.toFixed(1)} s (${[collector, ...evidence].filter((one, i, all) => all.indexOf(one) === i).join(', ')}); ` +
        `${count(samples.contended)} contended, ${percent(share)} of all.`,
    ],
    ...blocks,
    report.warnings.map((warning) => `- ${prose(warning)}`),
  ]);
}

function cells({ key, programShare, contendedNs, falseShare, verdict }: TableRow): string[] {
  const { type, member, object, function: code } = key;
  const name = member === undefined ? (type ?? object ?? code ?? '') : `${type ?? ''}.${member}`;
  return [
    percent(programShare),
    contendedNs === null ? '' : duration(contendedNs),
    falseShare === null ? '' : percent(falseShare),
    verdict ?? '',
    codeSpan(name),
  ];
}
