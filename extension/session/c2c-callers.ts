// Who called the code of the rows, where call chains were recorded: each code address once, however many rows it has.
import type { Access, Report } from '../protocol/report';
import { share } from './c2c-lines';
import type { ParetoOptions } from './c2c-pareto';
import { readablePlace } from './source-path';
import { plural, printable, shortenMiddle, wrap } from './terminal-text';

/** Of a code address's call chains, those that explain most. */
const MAX_CHAINS = 5;
const LONGEST_NAME = 60;
const INDENT = '  ';

/** Nothing where the rows have no call chains. */
export function c2cCallers(report: Report, { width, style, folder, source }: ParetoOptions): string[] {
  const byCode = new Map<string, Access>();
  for (const { accesses } of report.lines) {
    for (const access of accesses) {
      if (access.callers === undefined || access.callers.length === 0) continue;
      const key = JSON.stringify([access.codeAddress, access.object]);
      if (!byCode.has(key)) byCode.set(key, access);
    }
  }
  if (byCode.size === 0) return [];
  return [
    style.bold('Callers of the code above'),
    ...wrap('Shares of all samples with a call chain at the code address, on whatever line; the innermost caller first.', width).map(
      (row) => style.dim(row),
    ),
    ...[...byCode.values()].flatMap((access) => {
      const callers = access.callers ?? [];
      const all = callers.reduce((sum, { records }) => sum + records, 0);
      const rest = callers.length - MAX_CHAINS;
      return [
        ...wrap(`${codeName(access)}:`, width),
        ...callers.slice(0, MAX_CHAINS).flatMap(({ records, frames }) => {
          const chain = frames.map((frame) =>
            source && frame.file !== '' ? `${codeName(frame)} (${printable(readablePlace(frame, folder))})` : codeName(frame),
          );
          return wrap(`${share(records, all)} from ${chain.join(' < ') || 'unknown'}`, width, INDENT, INDENT.repeat(2));
        }),
        ...(rest > 0 ? wrap(`${plural(rest, 'more call chain')} (--format json lists them)`, width, INDENT) : []),
      ];
    }),
  ];
}

function codeName({ codeAddress, symbol, object }: Pick<Access, 'codeAddress' | 'symbol' | 'object'>): string {
  if (symbol === '') return `${codeAddress} in ${printable(object) || 'unknown code'}`;
  return `${shortenMiddle(printable(symbol), LONGEST_NAME)} at ${codeAddress}`;
}
