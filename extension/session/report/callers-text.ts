// Who called the code of a line's accesses, where call chains were recorded and asked for.
import type { Access, CallerFrame } from '../../protocol/report';
import { t } from '../../protocol/l10n';
import { isUnknownCaller, ownParts, shortPlace } from '../lines/source-path';
import { percent } from '../../protocol/words';
import { plural, printable, shortenMiddle, wrap } from '../text/terminal-text';

const MAX_CHAINS = 3;
/** Of a chain, inlined ones counted. */
const MAX_FUNCTIONS = 8;
const LONGEST_NAME = 60;
/** Instead of the caller of code that keeps no frame pointer: the kernel passed it over. */
const UNKNOWN = t('unknown (record --call-graph dwarf tells)');

/**
 * One entry a line, none wider than `width`: for each function and offset the commonest call chains, innermost caller first, with their
 * shares of the samples there.
 */
export function callersText(accesses: readonly Access[], width: number): string[] {
  const called = new Map<string, { samples: number; chains: Map<string, number> }>();
  for (const access of accesses) {
    const { callers = [], offset, records } = access;
    if (callers.length === 0) continue;
    const code = shortenMiddle(printable(access.symbol) || access.codeAddress, LONGEST_NAME);
    const head = `${code} at offset ${offset} was called from`;
    const use = called.get(head) ?? { samples: 0, chains: new Map<string, number>() };
    called.set(head, use);
    use.samples += records;
    for (const chain of callers) {
      const text = chainText(chain.frames);
      use.chains.set(text, (use.chains.get(text) ?? 0) + chain.records);
    }
  }
  return [...called].flatMap(([head, { samples, chains }]) => {
    const sorted = [...chains].sort(([, a], [, b]) => b - a);
    const rest = sorted.length - MAX_CHAINS;
    return [
      ...wrap(head, width, '  '),
      ...sorted
        .slice(0, MAX_CHAINS)
        .flatMap(([text, records]) => wrap(text, width, `    ${percent(records / Math.max(1, samples)).padStart(6)}  `)),
      ...(rest > 0 ? wrap(`${plural(rest, 'more call chain')} (--format json lists them)`, width, '    ') : []),
    ];
  });
}

/** Innermost first, up to the outermost own code: what starts threads and programs says nothing. */
export function chainFunctions(frames: readonly CallerFrame[]): string[] {
  const own = frames.findLastIndex((frame) => ownParts(frame).length > 0) + 1;
  return frames.slice(0, own === 0 ? frames.length : own).flatMap(functionTexts);
}

function chainText(frames: readonly CallerFrame[]): string {
  const told = chainFunctions(frames);
  return [...told.slice(0, MAX_FUNCTIONS), ...(told.length > MAX_FUNCTIONS ? ['…'] : [])].join(' < ');
}

/** Inlined functions are callers, too. */
function functionTexts(frame: CallerFrame): string[] {
  if (isUnknownCaller(frame)) return [UNKNOWN];
  const { codeAddress, symbol, object, file, line } = frame;
  if (symbol === '') return [`${codeAddress} in ${printable(object) || 'unknown code'}`];
  const own = ownParts(frame);
  return (own.length > 0 ? own : [{ function: symbol, file, line }]).map((shown) => {
    const name = shortenMiddle(printable(shown.function), LONGEST_NAME);
    return shown.file === '' ? name : `${name} (${printable(shortPlace(shown))})`;
  });
}
