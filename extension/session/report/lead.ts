// What the first paragraph of a report speaks of: the findings that it names, and in which words.
import type { Finding } from '../../protocol/finding';
import { t } from '../../protocol/l10n';
import type { Access, CacheLine, Report, Verdict } from '../../protocol/report';
import { percent, VERDICT_WORDS } from '../../protocol/words';
import { count, plural } from '../text/terminal-text';
import { isUnnamedType, quoted } from './data-text';
import { shortPlace } from '../lines/source-path';
import { cannotTell, verdictText } from './verdict-text';

/** Of the contended samples: what waits falsely for less does not lead. */
const LEAST = 0.1;
const MOST = 3;

/** What leads, and how many more wait as much. */
export interface Lead {
  /** What waits falsely, most contended first, and behind it what has more contended samples than these, if there is such; never empty. */
  findings: Finding[];
  more: number;
}

/** @param contended samples (or loads) in all. Undefined where nobody waits. */
export function leadOf({ findings }: Pick<Report, 'findings'>, contended: number): Lead | undefined {
  const [top] = findings;
  if (top === undefined) return undefined;
  const falsely = findings.filter((finding) => finding.contended >= LEAST * contended && waitsFalsely(finding));
  const shown = falsely.slice(0, MOST);
  if (!shown.includes(top)) shown.push(top);
  return { findings: shown, more: falsely.length - Math.min(MOST, falsely.length) };
}

/** Somebody would gain from moving data apart, as far as samples can tell. */
export function waitsFalsely({ verdict, falseShare, ...rest }: Finding): boolean {
  return (verdict === 'false sharing' || verdict === 'mixed') && !cannotTell({ verdict, falseShare, ...rest });
}

/** The accesses that count for a finding, of the lines that are at hand. */
export function accessesOfFinding(report: Report, finding: Finding): { access: Access; line: CacheLine; samples: number }[] {
  const index = report.findings.indexOf(finding);
  return report.lines.flatMap((line) =>
    line.accesses.filter((access) => access.finding === index).map((access) => ({ access, line, samples: access.contended })),
  );
}

/** The finding that most of what waits at these accesses counts for; undefined where nothing waits. */
export function findingAt({ findings }: Pick<Report, 'findings'>, accesses: readonly Access[]): Finding | undefined {
  const samples = new Map<number, number>();
  for (const { finding, contended } of accesses) if (finding !== null) samples.set(finding, (samples.get(finding) ?? 0) + contended);
  const [most] = [...samples].sort(([, a], [, b]) => b - a);
  return most === undefined ? undefined : findings[most[0]];
}

/** "38 objects of type 'session'", "'counters'", "3 blocks named '24 bytes allocated in make_node'". */
export function findingName({ kind, subject: { type, object }, objects, definition }: Finding): string {
  if (object !== '' && (kind !== 'block' || objects < 2)) return quoted(object);
  if (kind === 'block') return t('{0} named {1}', plural(objects, 'block'), quoted(object));
  if (isUnnamedType(type) && definition !== null) {
    const place = shortPlace(definition);
    return objects === 1 ? t('an object of the type at {0}', place) : t('{0} of the type at {1}', plural(objects, 'object'), place);
  }
  return objects === 1 ? t('an object of type {0}', quoted(type)) : t('{0} of type {1}', plural(objects, 'object'), quoted(type));
}

/**
 * "62.1% of these are on 'descriptors', spread over 19 lines: mixed; 12.0% are on 'stats': false sharing."
 * @param these what the shares are of: "of these", "of these HITMs"
 * @param where behind a finding's name: of which process it is
 */
export function leadText(
  report: Report,
  { findings, more }: Lead,
  contended: number,
  these: string,
  where: (finding: Finding) => string,
): string {
  const parts = findings.map((finding, index) => {
    const { contended: own, lineCount } = finding;
    const name = `${findingName(finding)}${where(finding)}${lineCount > 1 ? t(', spread over {0} lines', count(lineCount)) : ''}`;
    const share = percent(own / Math.max(1, contended));
    const mostly = mostlyOf(report, finding);
    const verdict = verdictText({ ...finding, verdictSure: finding.sure }) + (mostly === undefined ? '' : ` (${mostly.counts})`);
    return index === 0 ? t('{0} {1} are on {2}: {3}', share, these, name, verdict) : t('{0} are on {1}: {2}', share, name, verdict);
  });
  if (more > 0) parts.push(t('and {0} more wait falsely', plural(more, 'object')));
  return `${parts.join('; ')}.`;
}

/** Of what is mixed because its lines differ: the verdict that most of its samples have, the lines with it, and how many have which. */
export function mostlyOf(report: Report, finding: Finding): { verdict: Verdict; lines: CacheLine[]; counts: string } | undefined {
  if (finding.verdict !== 'mixed') return undefined;
  const byVerdict = new Map<Verdict, { lines: Set<CacheLine>; samples: number }>();
  for (const { line, samples } of accessesOfFinding(report, finding)) {
    const those = byVerdict.get(line.verdict) ?? { lines: new Set(), samples: 0 };
    byVerdict.set(line.verdict, those);
    those.lines.add(line);
    those.samples += samples;
  }
  const sorted = [...byVerdict].sort(([, a], [, b]) => b.samples - a.samples);
  const [most] = sorted;
  if (most === undefined || sorted.length < 2 || most[0] === 'mixed') return undefined;
  const counts = sorted.map(([of, { lines }], i) =>
    i === 0 ? t('{0} on {1} of them', VERDICT_WORDS[of], count(lines.size)) : t('{0} on {1}', VERDICT_WORDS[of], count(lines.size)),
  );
  return { verdict: most[0], lines: [...most[1].lines], counts: counts.join(', ') };
}
