// The block of `cacheline threads` on contended code: functions, who calls them and what they call.
import type { ContendedFunction, FunctionName, ThreadsDocument } from '../../protocol/threads';
import { percent } from '../../protocol/words';
import { count, plural, printable, shortenMiddle, wrap, type Style } from '../text/terminal-text';
import { formatTwoRowTable, type Column } from '../text/text-table';
import { duration } from './duration';

const MOST_FUNCTIONS = 10;
const MOST_CALLS = 3;
const LONGEST_NAME = 60;
/** Of all contended time: what has less is not listed. */
const LEAST_SHARE = 0.01;

/** None where nothing is contended. */
export function contendedCodeText(list: ThreadsDocument, { width, style }: { width: number; style: Style }): string[] {
  const functions = list.functions ?? [];
  const all = functions.reduce((sum, { selfNs }) => sum + selfNs, 0);
  const listed = functions.filter(({ totalNs }) => totalNs >= LEAST_SHARE * all).slice(0, MOST_FUNCTIONS);
  if (all === 0 || listed.length === 0) return [];
  const columns: Column[] = [
    { title: 'itself', align: 'right' },
    { title: 'with callees', align: 'right' },
    { title: 'function', align: 'left', shorten: shortenMiddle },
  ];
  const rows = listed.map((each) => [{ text: duration(each.selfNs) }, { text: duration(each.totalNs) }, { text: nameText(each) }]);
  const rest = functions.length - listed.length;
  return [
    style.bold('Contended code'),
    ...formatTwoRowTable(columns, [], rows, { width, indent: 2, style }),
    ...listed.flatMap((each) => callsText(each, width)),
    ...(rest > 0 ? wrap(`${plural(rest, 'more function')}: --format json has up to ${count(100)}.`, width, '  ') : []),
    ...(list.callChains ? [] : wrap('Callers are not recorded: cacheline record -g records them.', width, '  ')),
  ];
}

function callsText(each: ContendedFunction, width: number): string[] {
  const parts = [...callText('is called by', each.callers, each.totalNs), ...callText('calls', each.callees, each.totalNs)];
  return parts.length === 0 ? [] : wrap(`${nameText(each)} ${parts.join('; it ')}`, width, '  ', '    ');
}

function callText(what: string, calls: ContendedFunction['callers'], totalNs: number): string[] {
  const named = calls.slice(0, MOST_CALLS).map((call) => `${nameText(call)} ${percent(Math.min(1, call.ns / Math.max(1, totalNs)))}`);
  const rest = calls.length - named.length;
  return named.length === 0 ? [] : [`${what} ${named.join(', ')}${rest > 0 ? ` and ${count(rest)} more` : ''}`];
}

function nameText({ name, object }: FunctionName): string {
  return shortenMiddle(name === '' ? `unnamed code${object === '' ? '' : ` of ${printable(object)}`}` : printable(name), LONGEST_NAME);
}
