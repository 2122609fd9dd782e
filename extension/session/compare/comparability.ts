// In what two recordings differ, and what cannot be compared for that.
import { basename } from 'node:path';
import { t } from '../../protocol/l10n';
import type { Report } from '../../protocol/report';
import { percent } from '../../protocol/words';
import { enumerate } from '../text/terminal-text';
import { rateText } from '../report/report-blocks';

export interface Comparability {
  /** Shares of samples mean the same. */
  shares: boolean;
  /** And so do times: the machines are alike. */
  times: boolean;
  /** Sentences. They hold untrusted names. */
  notes: string[];
}

type Head = Pick<Report, 'evidence' | 'collector' | 'c2c' | 'recording' | 'samples' | 'blind' | 'seconds' | 'lineSize'>;

export function comparability(before: Head, after: Head): Comparability {
  const shares = kindOf(before) === kindOf(after);
  const differing = differencesOf(before, after);
  return {
    shares,
    times: differing.length === 0,
    notes: [
      ...(shares
        ? []
        : [
            t(
              '{0} before, {1} after: shares cannot be compared, only what is gone and what is new. Record both with the same collector.',
              kindOf(before),
              kindOf(after),
            ),
          ]),
      ...programs(before, after),
      ...(shares && before.collector !== after.collector
        ? [
            t(
              'Recorded by {0} before and by {1} after: shares can be compared, but small differences may come from the collectors.',
              before.collector,
              after.collector,
            ),
          ]
        : []),
      ...machines(differing),
      ...kernels(before, after),
      ...rates(before, after),
      ...(['before', 'after'] as const).flatMap((side) => quality(side === 'before' ? before : after, side)),
    ],
  };
}

/** What `contended` counts. */
function kindOf({ evidence, c2c }: Head): string {
  if (c2c === undefined) return t('Time at contended accesses');
  if (evidence.length === 0) return t('Samples without data sources');
  return { tot: t('HITMs'), lcl: t('Local HITMs'), rmt: t('Remote HITMs'), peer: t('Loads that a peer answered') }[c2c.display];
}

function programs(before: Head, after: Head): string[] {
  const [a, b] = [before, after].map(({ recording }) => basename(recording?.command[0] ?? ''));
  if (a === b || a === undefined || b === undefined || a === '' || b === '') return [];
  return [t('The programs are called {0} and {1}: data and functions with the same name are compared.', a, b)];
}

/** In what the machines differ so that times do not compare. */
function differencesOf({ recording: a, lineSize }: Head, { recording: b, lineSize: other }: Head): string[] {
  if (a === null || b === null) return [];
  const facts = ({ cpu, cpus }: typeof a.machine, size: number): Record<string, string> => ({
    [t('CPU model')]: cpu,
    [t('number of CPUs')]: String(cpus),
    [t('line size')]: String(size),
  });
  const [one, two] = [facts(a.machine, lineSize), facts(b.machine, other)];
  const differing = Object.keys(one).filter((name) => one[name] !== two[name]);
  return differing.map((name) => t('{0} ({1}, then {2})', name, one[name] || t('unknown'), two[name] || t('unknown')));
}

function machines(differing: string[]): string[] {
  if (differing.length === 0) return [];
  return [t('The machines differ in {0}: times and HITMs per second cannot be compared, shares only roughly.', enumerate(differing))];
}

function kernels({ recording: a }: Head, { recording: b }: Head): string[] {
  const [one = '', two = ''] = [a, b].map((recording) => recording?.machine.kernel);
  if (one === two || one === '' || two === '') return [];
  return [t('The kernels differ ({0}, then {1}): small differences may come from that.', one, two)];
}

function rates(before: Head, after: Head): string[] {
  const [a, b] = [before.recording, after.recording];
  if (a === null || b === null) return [];
  const [one, two] = [rateText(a), rateText(b)];
  const filter =
    (a.ldlat ?? 0) === (b.ldlat ?? 0) ? [] : [t('loads from {0} cycles on before, from {1} on after', a.ldlat ?? 0, b.ldlat ?? 0)];
  const differing = [...(one === two ? [] : [t('{0} before, {1} after', one, two)]), ...filter];
  if (differing.length === 0) return [];
  const effect =
    before.c2c === undefined ? t('shares and times can be compared, numbers of samples cannot') : t('HITMs per second cannot be compared');
  return [t('Recorded at different rates ({0}): {1}.', differing.join('; '), effect)];
}

/** What makes one of them say less. */
function quality({ samples, blind }: Head, side: 'before' | 'after'): string[] {
  const when = side === 'before' ? t('before') : t('after');
  const lost = samples.lost / Math.max(1, samples.lost + samples.total);
  const few = 200;
  return [
    ...(blind === null
      ? []
      : [
          t(
            'Nothing can be said about {0} of the samples {1}: what is missing there may just not have been seen.',
            percent(blind.share),
            when,
          ),
        ]),
    ...(lost >= 0.1 ? [t('{0} of the samples {1} were lost while recording.', percent(lost), when)] : []),
    ...(samples.total < few ? [t('There are only {0} samples {1}: small differences may be chance.', samples.total, when)] : []),
  ];
}
