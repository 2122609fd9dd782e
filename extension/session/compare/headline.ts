// What happened between two recordings, in sentences: how long a run takes, how much of it waits, and for what.
import type { Diff, DiffChange, DiffMeasure, DiffUnit } from '../../protocol/diff';
import { t } from '../../protocol/l10n';
import { percent } from '../../protocol/words';
import { factor } from '../advice/advice-words';
import { printable } from '../text/terminal-text';
import { duration } from '../threads/duration';
import { valueOf } from './measure';

/** Runs that differ by less take equally long: two runs of one program do. */
const EQUAL_RUNS = 1.05;
/** Of what remains, from here on it is most of it. */
const MOST = 0.5;

/** "1.25 times as fast; 25% less waiting a run (>99.9% sure); most of what remains: WorkerStats." Printable. */
export function headline(diff: Diff): string {
  const parts = [speed(diff), waiting(diff), remaining(diff)].filter((text) => text !== '').join('; ');
  return `${parts.charAt(0).toUpperCase()}${parts.slice(1)}.`;
}

/** The numbers of the headline. */
export function details(diff: Diff): string {
  const { program, unit, comparable } = diff;
  const { before, after } = program;
  if (before.contended === 0 && after.contended === 0) return '';
  const shares = t('{0} of all samples were contended before, {1} after.', percent(before.programShare), percent(after.programShare));
  if (!comparable) return shares;
  const perRun = unit === 'run' ? bothTexts('run', before, after) : '';
  const perSecond = unit === 'samples' ? '' : bothTexts('second', before, after);
  return [
    perRun === '' ? '' : t('Waiting of all threads in a run: {0}.', perRun),
    perSecond === '' ? '' : t('Waiting of all threads in a second: {0}.', perSecond),
    shares,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** How long the recorded runs took; empty where that says nothing. */
export function elapsedText({ before, after }: Diff): string {
  if (before.runSeconds === null || after.runSeconds === null) return '';
  return t(
    'The recorded runs took {0} before, {1} after. One run of each does not show how much runs vary, nor what else the machine did; "cacheline record --repeat" runs both in turn.',
    duration(before.runSeconds * 1e9),
    duration(after.runSeconds * 1e9),
  );
}

/** "1.40 s", "84.4%"; "?" where this evidence cannot say. */
export function waitingText(unit: DiffUnit, measure: DiffMeasure): string {
  const value = valueOf(unit, measure);
  return value === null ? '?' : unit === 'samples' ? percent(value) : duration(value);
}

function bothTexts(unit: DiffUnit, before: DiffMeasure, after: DiffMeasure): string {
  if (valueOf(unit, before) === null || valueOf(unit, after) === null) return '';
  return t('{0} before, {1} after', waitingText(unit, before), waitingText(unit, after));
}

function speed({ before: { runSeconds: before }, after: { runSeconds: after } }: Diff): string {
  if (before === null || after === null) return '';
  const ratio = before / after;
  if (Math.max(ratio, 1 / ratio) < EQUAL_RUNS) return t('a run takes as long as before');
  return ratio > 1 ? t('{0} times as fast', factor(ratio)) : t('a run takes {0} times as long', factor(1 / ratio));
}

interface UnitWords {
  less: string;
  more: string;
  times: string;
  same: string;
  unsure: string;
}

const WORDS: Record<DiffUnit, UnitWords> = {
  run: {
    less: t('{0} less waiting a run'),
    more: t('{0} more waiting a run'),
    times: t('{0} times as much waiting a run'),
    same: t('as much waiting a run as before'),
    unsure: t('whether a run waits less or more is unclear'),
  },
  second: {
    less: t('{0} less waiting each second'),
    more: t('{0} more waiting each second'),
    times: t('{0} times as much waiting each second'),
    same: t('as much waiting each second as before'),
    unsure: t('whether there is less or more waiting each second is unclear'),
  },
  samples: {
    less: t('{0} less waiting by its share of all samples'),
    more: t('{0} more waiting by its share of all samples'),
    times: t('{0} times as much waiting by its share of all samples'),
    same: t('as much waiting as before by its share of all samples'),
    unsure: t('whether there is less or more waiting by its share of all samples is unclear'),
  },
};

function waiting({ program, comparable, unit, unitReason }: Diff): string {
  const { before, after, status, confidence } = program;
  if (before.contended === 0 && after.contended === 0) return t('no sample was contended before or after');
  if (!comparable) return t('the amount of waiting cannot be compared');
  const reason = unitReason === null ? '' : t('not by the run: {0}', printable(unitReason));
  const sure = status === 'same' || status === 'unsure' ? '' : t('{0} sure', percent(confidence));
  const remark = [sure, reason].filter((text) => text !== '').join('; ');
  return `${changeText(program, unit)}${remark === '' ? '' : ` (${remark})`}`;
}

function changeText({ status, before, after }: DiffChange, unit: DiffUnit): string {
  const words = WORDS[unit];
  const [was, is] = [valueOf(unit, before) ?? 0, valueOf(unit, after) ?? 0];
  switch (status) {
    case 'gone':
      return t('the waiting is gone');
    case 'new':
      return t('the waiting is new');
    case 'better':
      return filled(words.less, partText(1 - is / was));
    case 'worse':
      return is >= 2 * was ? filled(words.times, factor(is / was)) : filled(words.more, partText(is / was - 1));
    case 'same':
      return words.same;
    case 'unsure':
      return words.unsure;
  }
}

/** A text of the tables above, which are translated already. */
function filled(text: string, value: string): string {
  return text.replace('{0}', value);
}

/** "25%"; exact where that would be none or all. */
function partText(part: number): string {
  return part < 0.01 || part >= 0.995 ? percent(part) : `${Math.round(part * 100)}%`;
}

function remaining({ program: { status }, remaining: left }: Diff): string {
  if (left === null) return '';
  const [name, share] = [printable(left.name), percent(left.share)];
  if (status !== 'better')
    return left.share >= MOST ? t('most of the waiting: {0}', name) : t('the largest part of the waiting: {0} ({1})', name, share);
  return left.share >= MOST ? t('most of what remains: {0}', name) : t('the largest part of what remains: {0} ({1})', name, share);
}
