// In what two recordings differ, and what cannot be compared for that.
import { basename } from 'node:path';
import type { Report } from '../../protocol/report';
import { percent } from '../../protocol/words';
import { enumerate } from '../text/terminal-text';
import { rateText } from '../report/report-blocks';

export interface Comparability {
  /** Shares of samples mean the same. */
  shares: boolean;
  /** Sentences. They hold untrusted names. */
  notes: string[];
}

type Head = Pick<Report, 'evidence' | 'collector' | 'c2c' | 'recording' | 'samples' | 'blind' | 'seconds' | 'lineSize'>;

export function comparability(before: Head, after: Head): Comparability {
  const shares = kindOf(before) === kindOf(after);
  return {
    shares,
    notes: [
      ...(shares
        ? []
        : [
            `${kindOf(before)} before, ${kindOf(after)} after: shares cannot be compared, only what is gone and what is new. Record both with the same collector.`,
          ]),
      ...programs(before, after),
      ...(shares && before.collector !== after.collector
        ? [
            `Recorded by ${before.collector} before and by ${after.collector} after: shares can be compared, but small differences may come from the collectors.`,
          ]
        : []),
      ...machines(before, after),
      ...rates(before, after),
      ...(['before', 'after'] as const).flatMap((side) => quality(side === 'before' ? before : after, side)),
    ],
  };
}

/** What `contended` counts. */
function kindOf({ evidence, c2c }: Head): string {
  if (c2c === undefined) return 'Time at contended accesses';
  if (evidence.length === 0) return 'Samples without data sources';
  return { tot: 'HITMs', lcl: 'Local HITMs', rmt: 'Remote HITMs', peer: 'Loads that a peer answered' }[c2c.display];
}

function programs(before: Head, after: Head): string[] {
  const [a, b] = [before, after].map(({ recording }) => basename(recording?.command[0] ?? ''));
  if (a === b || a === undefined || b === undefined || a === '' || b === '') return [];
  return [`The programs are called ${a} and ${b}: data and functions with the same name are compared.`];
}

function machines({ recording: a, lineSize }: Head, { recording: b, lineSize: other }: Head): string[] {
  if (a === null || b === null) return [];
  const facts = ([{ cpu, cpus, kernel }, size]: [typeof a.machine, number]): Record<string, string> => ({
    'CPU model': cpu,
    'number of CPUs': String(cpus),
    kernel: kernel,
    'line size': String(size),
  });
  const [one, two] = [facts([a.machine, lineSize]), facts([b.machine, other])];
  const differing = Object.keys(one).filter((name) => one[name] !== two[name]);
  if (differing.length === 0) return [];
  const values = differing.map((name) => `${name} (${one[name] || 'unknown'}, then ${two[name] || 'unknown'})`);
  return [`The machines differ in ${enumerate(values)}: times and HITMs per second cannot be compared, shares only roughly.`];
}

function rates(before: Head, after: Head): string[] {
  const [a, b] = [before.recording, after.recording];
  if (a === null || b === null) return [];
  const [one, two] = [a, b].map((recording) => rateText(recording));
  const filter = (a.ldlat ?? 0) === (b.ldlat ?? 0) ? [] : [`loads from ${a.ldlat ?? 0} cycles on before, from ${b.ldlat ?? 0} on after`];
  const differing = [...(one === two ? [] : [`${one} before, ${two} after`]), ...filter];
  if (differing.length === 0) return [];
  const effect =
    before.c2c === undefined ? 'shares and times can be compared, numbers of samples cannot' : 'HITMs per second cannot be compared';
  return [`Recorded at different rates (${differing.join('; ')}): ${effect}.`];
}

/** What makes one of them say less. */
function quality({ samples, blind }: Head, side: 'before' | 'after'): string[] {
  const lost = samples.lost / Math.max(1, samples.lost + samples.total);
  const few = 200;
  return [
    ...(blind === null
      ? []
      : [`Nothing can be said about ${percent(blind.share)} of the samples ${side}: what is missing there may just not have been seen.`]),
    ...(lost >= 0.1 ? [`${percent(lost)} of the samples ${side} were lost while recording.`] : []),
    ...(samples.total < few ? [`There are only ${samples.total} samples ${side}: small differences cannot be told from chance.`] : []),
  ];
}
