// What verdicts and evidence classes mean, why there is nothing to say, and how a share is written: the same words in hovers,
// reports and the panel.
import { t } from './l10n';
import type { Evidence, LineFlag, Report, Verdict } from './report';

/** The verdicts' own words. */
export const VERDICT_WORDS: Record<Verdict, string> = {
  'false sharing': t('false sharing'),
  'true sharing': t('true sharing'),
  mixed: t('mixed'),
  'read-shared': t('read-shared'),
  private: t('private'),
};

export const VERDICT_MEANING: Record<Verdict, string> = {
  'false sharing': t('Threads wait for a cache line because others write data on it that they do not use.'),
  'true sharing': t('Threads wait for data that they really share: they use it alike, and at least one writes it.'),
  mixed: t('Some of the waiting for this cache line is for data that threads share, some for data that merely lies beside it.'),
  'read-shared': t('Several threads read this cache line and none writes it: every core keeps its own copy.'),
  private: t('One thread uses this cache line, or several that never overlap in time.'),
};

/** The page that says how to read a verdict and what to do about it; below the folder of the documents. */
export const VERDICT_PAGES: Record<Verdict, string> = {
  'false sharing': 'verdicts/false-sharing.md',
  'true sharing': 'verdicts/true-sharing.md',
  mixed: 'verdicts/mixed.md',
  'read-shared': 'verdicts/no-contention.md',
  private: 'verdicts/no-contention.md',
};

/** What else is to be known of a line, beside its verdict. */
export const FLAG_WORDS: Record<LineFlag, string> = {
  straddling: t('straddling'),
  adjacent: t('adjacent'),
  'mixed-use': t('mixed use'),
  latent: t('latent'),
  lock: t('lock'),
  turns: t('taken in turns'),
  'one-core': t('used on one core'),
};

export const FLAG_MEANING: Record<LineFlag, string> = {
  straddling: t('An object begins on this cache line and ends on the next one.'),
  adjacent: t('The prefetcher moves this cache line and its neighbour as a pair, and threads use both.'),
  'mixed-use': t('A word that threads often write lies beside members that others only read.'),
  latent: t('Objects would share a cache line if they lay elsewhere.'),
  lock: t('There is a lock on this cache line.'),
  turns: t('Threads took turns on one CPU, whose cache kept the line: they did not wait for each other.'),
  'one-core': t('Threads used it on the CPUs of one core, whose cache kept the line: no other core was waited for.'),
};

export const EVIDENCE_MEANING: Record<Evidence, string> = {
  hitm: t('loads that hit a line modified in another core’s cache, counted by the memory PMU'),
  peer: t('loads served by another core’s cache, counted by the memory PMU'),
  latency: t('load latencies measured by the memory PMU'),
  watch: t('accesses trapped by debug registers: exact about who, not about how many'),
  clock: t('time sampled at these accesses; cache misses were not counted'),
};

/** Where there is no evidence class. */
export const NO_EVIDENCE = t('none: no sample says where its data came from');

/** Of recordings whose samples all stayed without an address: their binaries are gone, or no instruction of them could be read. */
export const NOTHING_ATTRIBUTED = t('None of the samples could be attributed to a memory access, so nothing can be said about sharing.');

/** A share of 0 to 1 as "50.8%"; what would round to 0.0% or 100.0% but is neither says so. */
export function percent(share: number): string {
  if (share > 0 && share < 0.0005) return '<0.1%';
  if (share < 1 && share >= 0.9995) return '>99.9%';
  return `${(share * 100).toFixed(1)}%`;
}

/** A clause as the engine writes it, "asked for 9 samples a second, recorded 4", as a sentence. A path at its beginning stays as it is. */
export function sentence(clause: string): string {
  if (/^\S*[/.]\S/.test(clause)) return withFullStop(clause);
  return `${clause.charAt(0).toUpperCase()}${withFullStop(clause.slice(1))}`;
}

/** So that another sentence can follow. */
export function withFullStop(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Of a report without samples, in paragraphs: that nothing can be said, and why. The recorder knows best. Holds untrusted names. */
export function whyNoSamples({ samples, recording }: Pick<Report, 'samples' | 'recording'>): string[] {
  const filtered = samples.filtered ?? 0;
  if (filtered > 0)
    return [
      filtered === 1
        ? t('The filters left none of 1 sample: widen the window, or name other threads or CPUs.')
        : t('The filters left none of {0} samples: widen the window, or name other threads or CPUs.', filtered.toLocaleString('en-US')),
    ];
  const nothing = t('The recording holds no samples, so nothing can be said');
  const said = recording?.warnings ?? [];
  if (said.length > 0) return [`${nothing}.`, said.map(sentence).join(' ')];
  // A recording without a command was attached to what ran already.
  return recording?.command.length === 0
    ? [t('{0}: the target used no CPU time while sampling was on. It waited, or sampling was paused throughout.', nothing)]
    : [
        t(
          '{0}: the program used too little CPU time for the sampling rate, or the recording was cut short. Let it run longer, or record at a higher rate.',
          nothing,
        ),
      ];
}
