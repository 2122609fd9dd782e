// What a report could not see, and the sentence that says so: the same words in reports, in notifications and in the panel.
import { t } from './l10n';
import { hasDataSources } from './measure';
import { printable } from './printable';
import type { NamedCode, Report } from './report';
import type { Address, Count, Share } from './values';
import { percent } from './words';

/** Samples that are charged to no memory access, by why. */
export type Unattributed = {
  /** Taken in the kernel. */
  kernel: Count;
  /** The code could not be read or decoded. */
  noInstruction: Count;
  /** No memory access at the sampled instruction or right before it. */
  noMemoryOperand: Count;
  /** The address register was overwritten before the sample. */
  clobbered: Count;
  /** fs: or gs: operand: its address is not in the registers. */
  threadLocal: Count;
  /** The address lies in no known mapping. */
  unmapped: Count;
};

export type UnattributedReason = keyof Unattributed;

/** Behind their number. */
export const UNATTRIBUTED_WORDS: Record<UnattributedReason, string> = {
  kernel: t('in the kernel'),
  noInstruction: t('code that could not be read'),
  noMemoryOperand: t('no memory access'),
  clobbered: t('address overwritten'),
  threadLocal: t('thread-local data'),
  unmapped: t('address in no known mapping'),
};

/** A key of `samples.unattributed`, or lost. */
export type BlindReason = 'kernel' | 'noInstruction' | 'clobbered' | 'unmapped' | 'lost';

/** Why nothing can be said about samples of some code: the key of `samples.unattributed` that counts them. */
export type UnseenReason = Exclude<BlindReason, 'kernel' | 'lost'>;

/** What a report could not see. */
export interface Blind {
  /** Of all samples, with those that are known to be lost. */
  share: Share;
  /**
   * Most samples first; a reason with several kinds of code is there once for each.
   * @minItems 1
   */
  reasons: {
    reason: BlindReason;
    /**
     * For a person, behind "in": "code that no file backs (JIT: Java)". It holds untrusted names.
     * @minLength 1
     */
    what: string;
    /** Of the same samples as the whole, which is the sum of these. */
    share: Share;
  }[];
}

/** Code whose samples say nothing. */
export interface UnseenPlace extends NamedCode {
  reason: UnseenReason;
  /** Of the access, in the process; null: all code of a binary that cannot be read, or that no file backs. */
  codeAddress: Address | null;
  /** In the binary's own numbering. */
  elfAddress: Address | null;
  /**
   * Why the function or the line is missing; absent where both are there.
   * @minLength 1
   */
  unnamed?: string;
  samples: Count;
  /** Of the same samples as `blind.share`. */
  share: Share;
}

/** From this share of the samples on, what could not be seen comes before all else. */
const MOST = 0.5;
/** Reasons with less than this share of all that could not be seen are not named. */
const WORTH = 0.02;

type Reason = Blind['reasons'][number];
/** What says how much was seen. */
export type Seen = Pick<Report, 'blind' | 'recording' | 'evidence'>;

/** Whether nothing can be said about half of the samples or more. */
export function isMostlyBlind({ blind }: Pick<Report, 'blind'>): boolean {
  return blind !== null && blind.share >= MOST;
}

/** Printable sentences; empty where the report could see enough. */
export function blindText(report: Seen): string {
  const { blind } = report;
  const [top, ...rest] = blind?.reasons ?? [];
  if (blind === null || top === undefined) return '';
  const timed = !hasDataSources(report);
  const of = `${report.recording?.target?.kind === 'system' ? t("this machine's") : t("this program's")} ${timed ? t('time') : t('samples')}`;
  const [was, it, they] = timed ? [t('was'), t('it'), t('it')] : [t('were'), t('them'), t('they')];
  const others = rest.filter(({ share }) => share >= blind.share * WORTH);
  const shares = (reasons: readonly Reason[], verb = ''): string =>
    enumerated(reasons.map((reason, i) => `${percent(reason.share)} ${i === 0 ? verb : ''}${placeText(reason, timed)}`));
  if (top.share >= MOST) {
    const nor = others.length === 0 ? '' : t(' Nor can anything be said about {0}.', shares(others));
    return t('Most of {0} ({1}) {2} {3}. Nothing can be said about {4}.{5}', of, percent(top.share), was, placeText(top, timed), it, nor);
  }
  if (isMostlyBlind(report))
    return t(
      'Most of {0} ({1}) {2} where nothing can be said about {3}: {4}.',
      of,
      percent(blind.share),
      was,
      it,
      shares([top, ...others]),
    );
  const where = others.length === 0 ? `${they} ${was} ${placeText(top, timed)}` : shares([top, ...others], `${was} `);
  return t('Nothing can be said about {0} of {1}: {2}.', percent(blind.share), of, where);
}

/** "in code that no file backs (a JIT: Java)". */
function placeText({ reason, what }: Reason, timed: boolean): string {
  return reason === 'lost' && !timed ? t('lost while recording') : t('in {0}', printable(what).replace('(JIT: ', '(a JIT: '));
}

function enumerated(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : t('{0} and {1}', texts.slice(0, -1).join(', '), texts.at(-1) ?? '');
}
