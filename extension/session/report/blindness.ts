// What a report says of the samples that it knows nothing of: how many, in which code, and whose shares are too low for it.
import { blindText, isMostlyBlind, type Seen, type UnseenPlace, type UnseenReason } from '../../protocol/blindness';
import type { Access, CacheLine, Report } from '../../protocol/report';
import { t } from '../../protocol/l10n';
import { codeText } from './code-text';
import { percent } from '../../protocol/words';
import { wrap } from '../text/terminal-text';

/** Places with less of the samples are not worth a sentence. */
const WORTH = 0.01;
const MAX_PLACES = 5;

/** How near code is whose lost samples can be those of an access in the same function: source lines, and bytes where these are unknown. */
const NEAR_LINES = 3;
const NEAR_BYTES = 64;

const WHERE_LOST: Record<UnseenReason, string> = {
  noInstruction: t('at code that could not be decoded'),
  clobbered: t('after an access whose address register was overwritten'),
  unmapped: t('at an access to an address in no known mapping'),
};

/** Code whose place is known. */
type CodePlace = UnseenPlace & { codeAddress: string };

/** Puts what could not be seen into the first of the paragraphs, from half of the samples on at its front. */
export function withBlindness(report: Seen, [first = '', ...others]: readonly string[]): string[] {
  const text = blindText(report);
  const parts = isMostlyBlind(report) ? [text, first] : [first, text];
  return [parts.filter((part) => part !== '').join(' '), ...others];
}

/** Samples of which something is known, if only that no memory was waited for. */
export function seenSamples({ samples }: Report): number {
  return samples.attributed + samples.unattributed.noMemoryOperand + samples.unattributed.threadLocal;
}

/** Sentences, wrapped: in which functions and lines samples are of which nothing can be said. */
export function unseenPlaces(report: Report, width: number): string[] {
  return codePlaces(report)
    .slice(0, MAX_PLACES)
    .flatMap((place) => wrap(t('{0}: what is accessed there is not known.', placeText(place)), width));
}

/** A sentence where samples of these lines' code are among the lost ones; else empty. */
export function lowerBound(report: Report, lines: readonly CacheLine[]): string {
  const place = lostNear(report, lines);
  if (place === '') return '';
  return lines.length === 1
    ? t('Its share is a lower bound: close to its accesses, {0}.', place)
    : t('Their share is a lower bound: close to their accesses, {0}.', place);
}

/** A clause: how many of the lost samples are in these lines' code, and where; empty: none are. */
export function lostNear(report: Report, lines: readonly CacheLine[]): string {
  const accesses = lines.flatMap((line) => line.accesses.filter(({ records }) => records > 0));
  const place = codePlaces(report).find((one) => accesses.some((access) => isNear(access, one)));
  return place === undefined ? '' : placeText(place);
}

function codePlaces({ unseen }: Report): CodePlace[] {
  return (unseen ?? []).filter((place): place is CodePlace => place.codeAddress !== null && place.share >= WORTH);
}

/** "12.3% of the samples are in 'f' (a.c:10), after an access whose address register was overwritten". */
function placeText(place: CodePlace): string {
  return t('{0} of the samples are in {1}, {2}', percent(place.share), codeText(place), WHERE_LOST[place.reason]);
}

/** In the same function, on the same source line or some lines further; by address where no debug information has lines. */
function isNear(access: Access, place: CodePlace): boolean {
  if (access.object !== place.object || access.symbol !== place.symbol) return false;
  if (access.line > 0 && place.line > 0) return access.file === place.file && Math.abs(access.line - place.line) <= NEAR_LINES;
  const [a, b] = [access.elfAddress, place.elfAddress ?? undefined];
  return a !== undefined && b !== undefined && Math.abs(Number(BigInt(a) - BigInt(b))) <= NEAR_BYTES;
}
