// What of a recording fails a check, and what of it is new: the report's findings held against a limit, a baseline and what is accepted.
import { isUnnamedType } from '../report/data-text';
import type { Acceptance, Check, CheckFinding, FindingKey, Rule, Waiting } from '../../protocol/check';
import { isMostlyBlind } from '../../protocol/blindness';
import type { Finding, FindingMember } from '../../protocol/finding';
import type { CacheLine, Report, SourcePlace, Verdict } from '../../protocol/report';
import { differenceOf, proportion } from '../compare/chance';
import { withoutAddress, type Sums } from '../compare/sums';
import { percent } from '../../protocol/words';
import { findingName as subjectName } from '../report/lead';
import { cannotTell, secondsToTell } from '../report/verdict-text';
import { turnsWords } from '../report/turns-words';

/** Of all samples, at one object: waiting that is worth a finding where nothing else is asked for. */
export const USUAL_LIMIT = 0.02;
/** Of all samples: what may be written at lines with fewer is no reason not to pass. */
const WORTH_A_DOUBT = 0.05;
/** Of what the object waits, a member has at least this where it is named. */
const WORTH = 0.05;
/** Growth that counts: beyond chance, and more than two runs of one program differ. */
const GROWTH = 1.1;
const SIGNIFICANT = 0.01;
const MOST_BELOW = 1000;

export interface CheckOptions {
  /** All contended samples of an object are held against it, of all samples; absent: USUAL_LIMIT, of what waits falsely. */
  maxContended?: number;
  /** Only what has such a verdict; then all of its contended samples count. */
  failOn?: Rule[];
  baseline?: Baseline;
  accept?: readonly Acceptance[];
  /** That half of the samples or more say nothing, or that a writer cannot be excluded, is a pass, too. */
  allowBlind?: boolean;
  /** Of the program that was recorded for the check. */
  programStatus?: number;
  /** The day, as `until` has it. */
  today: string;
}

/** What is compared with: of a check, or of another recording. */
export interface Baseline {
  /** As it was asked for. */
  path: string;
  evidence: Report['evidence'];
  /** All samples. */
  samples: number;
  waiting: readonly Waiting[];
}

/** A member of a subject, with the subject's verdict. */
interface Part extends Waiting {
  object: string;
  judgement: Finding;
  accessed: SourcePlace | null;
}

export function checkOf(sums: Sums, options: CheckOptions): Check {
  const { report } = sums;
  const { samples, recording } = report;
  const limit = limitOf(options);
  const parts = partsOf(report);
  const measure = (part: Waiting): number => {
    if (limit.rules !== null && !limit.rules.includes(part.rule)) return 0;
    return limit.of === 'contended' ? part.programShare : part.falselyWaiting;
  };
  const isBeyond = (share: number): boolean => (options.maxContended === undefined ? share >= limit.share : share > limit.share);
  const merged = mergedParts(parts);
  const found = foundKeys(parts, measure, isBeyond);
  const findings = merged
    .filter((part) => found.has(keyOf(part)))
    .map((part) => findingOf(part, samples.total, options, report))
    .sort((x, y) => measure(y) - measure(x) || compare(keyOf(x), keyOf(y)));
  return {
    schema: 'cacheline-check/1',
    failed: findings.some(({ state }) => state === 'new' || state === 'grown'),
    noPass: noPassOf(report, options, limit),
    recording: sums.path,
    command: recording?.command ?? [],
    collector: report.collector,
    evidence: report.evidence,
    samples: { total: samples.total, contended: samples.contended },
    blindShare: report.blind?.share ?? 0,
    limit,
    findings,
    below: merged
      .filter((part) => !found.has(keyOf(part)))
      .slice(0, MOST_BELOW)
      .map(({ rule, type, member, contended, programShare, falselyWaiting }) => ({
        rule,
        type,
        member,
        contended,
        programShare,
        falselyWaiting,
      })),
    notes: notesOf(report, findings, options),
  };
}

/** What a check of it would compare with. */
export function baselineOf(sums: Sums): Baseline {
  const { report, path } = sums;
  return { path, evidence: report.evidence, samples: report.samples.total, waiting: mergedParts(partsOf(report)) };
}

function limitOf({ maxContended, failOn }: CheckOptions): Check['limit'] {
  return {
    share: maxContended ?? USUAL_LIMIT,
    of: maxContended === undefined && failOn === undefined ? 'falsely waiting' : 'contended',
    rules: failOn ?? null,
  };
}

function ruleOf(verdict: Verdict): Rule {
  return verdict.replace(' ', '-') as Rule;
}

function partsOf({ findings, samples }: Report): Part[] {
  const total = Math.max(1, samples.total);
  return findings.flatMap((judgement) =>
    judgement.members.map((member): Part => {
      const { contended, file, line } = member;
      return {
        rule: ruleOf(judgement.verdict),
        ...nameOf(judgement, member),
        contended,
        programShare: contended / total,
        falselyWaiting: (contended * (member.falseShare?.value ?? judgement.falseShare?.value ?? 0)) / total,
        object: judgement.subject.object,
        judgement,
        accessed: file === '' ? null : { file, line },
      };
    }),
  );
}

/** The type and member; of what has no members, or a type without a name, the object's name. */
function nameOf({ kind, subject: { type, object } }: Finding, { name }: FindingMember): Pick<FindingKey, 'type' | 'member'> {
  if (kind === 'type' && !(isUnnamedType(type) && object !== '')) return { type, member: name };
  return { type: '', member: withoutAddress(name === '' ? object : `${object}.${name}`) };
}

function keyOf({ rule, type, member }: FindingKey): string {
  return [rule, type, member].join('\n');
}

/** By rule, type and member, of whatever objects; the largest share first, with the object that has most. */
function mergedParts(parts: readonly Part[]): Part[] {
  const merged = new Map<string, Part>();
  for (const part of parts) {
    const known = merged.get(keyOf(part));
    if (known === undefined) {
      merged.set(keyOf(part), { ...part });
      continue;
    }
    known.contended += part.contended;
    known.programShare += part.programShare;
    known.falselyWaiting += part.falselyWaiting;
  }
  return [...merged.values()].sort((x, y) => y.programShare - x.programShare || compare(keyOf(x), keyOf(y)));
}

/** Of each subject that is beyond the limit, what has most of its waiting. */
function foundKeys(parts: readonly Part[], measure: (part: Part) => number, isBeyond: (share: number) => boolean): Set<string> {
  const subjects = new Map<Finding, Part[]>();
  for (const part of parts) subjects.set(part.judgement, [...(subjects.get(part.judgement) ?? []), part]);
  const found = new Set<string>();
  for (const members of subjects.values()) {
    const sum = members.reduce((all, part) => all + measure(part), 0);
    if (sum === 0 || !isBeyond(sum)) continue;
    const most = Math.max(...members.map(measure));
    for (const part of members) if (measure(part) > 0 && (measure(part) >= WORTH * sum || measure(part) === most)) found.add(keyOf(part));
  }
  return found;
}

function findingOf(part: Part, samples: number, { baseline, accept = [], today }: CheckOptions, report: Report): CheckFinding {
  const { rule, type, member, contended, programShare, falselyWaiting, object, accessed } = part;
  const accepted = accept.find((one) => keyOf(one) === keyOf(part) && (one.until === undefined || one.until >= today));
  const before = baseline?.waiting.find((one) => keyOf(one) === keyOf(part));
  const state =
    before === undefined || baseline === undefined ? 'new' : hasGrown(before, baseline, part, samples, report) ? 'grown' : 'known';
  return {
    ...{ rule, type, member, contended, programShare, falselyWaiting, object },
    state: accepted === undefined ? state : 'accepted',
    declared: declarationOf(part, report),
    accessed,
    before: before?.programShare ?? null,
    reason: accepted?.reason ?? null,
  };
}

/** Shares of other evidence mean something else: what was there is known. */
function hasGrown(before: Waiting, baseline: Baseline, now: Waiting, samples: number, { evidence }: Report): boolean {
  if (evidence.includes('clock') !== baseline.evidence.includes('clock')) return false;
  const difference = differenceOf(proportion(before.contended, baseline.samples), proportion(now.contended, samples));
  return now.programShare > GROWTH * before.programShare && difference.p <= SIGNIFICANT;
}

/** Of the type's member, else of the type, or of the variable. */
function declarationOf({ type, member, judgement }: Part, { types = [] }: Report): SourcePlace | null {
  const layout = types.find((one) => one.name === type)?.layout;
  const own = layout?.members.find(({ name }) => name.replace(/\[[^\]]*\]/g, '[]') === member);
  if (layout !== undefined && layout.file !== '' && own?.line) return { file: own.file ?? layout.file, line: own.line };
  return judgement.definition;
}

function noPassOf(report: Report, { allowBlind = false, programStatus = 0 }: CheckOptions, limit: Check['limit']): string | null {
  const open = limit.of === 'falsely waiting' ? openJudgement(report, limit.share) : undefined;
  if (!allowBlind) {
    if (report.samples.total === 0) return 'there are no samples';
    if (isMostlyBlind(report)) return `nothing can be said about ${percent(report.blind?.share ?? 0)} of the samples`;
    if (open?.falseShare) {
      const where = `whether threads wait falsely at ${subjectName(open)}`;
      return open.falseShare.value === null
        ? `no access was sampled that tells ${where}`
        : `there are too few samples to tell ${where}; record for about ${secondsToTell(report, open.falseShare)} seconds`;
    }
  }
  const doubtful = allowBlind ? null : doubtfulOf(report, limit);
  if (doubtful !== null) return doubtful;
  return programStatus === 0 ? null : `the program failed (exit status ${programStatus})`;
}

/** What could fail and is left open by the samples. */
function openJudgement({ findings }: Report, share: number): Finding | undefined {
  return findings.find(
    (one) =>
      cannotTell(one) && one.programShare * (one.falseShare?.high ?? 0) >= share && one.programShare * (one.falseShare?.value ?? 0) < share,
  );
}

/**
 * Lines of which reads were sampled alone, and which the code that reads them may write: what an object would wait at its lines if it did is
 * held against the limit.
 */
function doubtfulOf({ lines, samples }: Report, { share, of }: Check['limit']): string | null {
  const objects = new Map<string, { records: number; waits: number }>();
  let records = 0;
  for (const line of lines) {
    if (line.ifWritten === undefined) continue;
    const object = objectOf(line);
    const sum = objects.get(object) ?? { records: 0, waits: 0 };
    records += line.records;
    sum.records += line.records;
    sum.waits += line.ifWritten.contended * (of === 'contended' ? 1 : line.ifWritten.falseShare.high);
    objects.set(object, sum);
  }
  if (records < WORTH_A_DOUBT * samples.total) return null;
  const [most] = [...objects].filter(([, { waits }]) => waits >= share * samples.total).sort(([, x], [, y]) => y.records - x.records);
  if (most === undefined) return null;
  const [object, sum] = most;
  return `${percent(sum.records / samples.total)} of the samples read '${object}', and the code that reads it may write it: stores need not have samples`;
}

/** What most of the samples at a line are of. */
function objectOf({ accesses }: CacheLine): string {
  const most = accesses.reduce<CacheLine['accesses'][number] | undefined>(
    (best, access) => (access.records > (best?.records ?? 0) ? access : best),
    undefined,
  );
  return most?.data.object ?? '';
}

function notesOf(report: Report, findings: readonly CheckFinding[], { baseline, accept = [], today }: CheckOptions): string[] {
  const { evidence, samples } = report;
  const expired = accept.filter(({ until }) => until !== undefined && until < today);
  const unused = accept.filter((one) => !expired.includes(one) && !findings.some((finding) => keyOf(finding) === keyOf(one)));
  const name = ({ rule, type, member }: FindingKey): string => `${rule} of ${findingName({ type, member })}`;
  return [
    ...turnsWords(report).slice(0, 1),
    ...expired.map((one) => `What was accepted until ${one.until ?? ''} counts again: ${name(one)}.`),
    ...(unused.length === 0 ? [] : [`Accepted but not found: ${unused.map(name).join('; ')}.`]),
    ...(baseline !== undefined && baseline.evidence.includes('clock') !== evidence.includes('clock')
      ? ['The baseline has another kind of evidence: its findings count as known, but it is unclear whether they have grown.']
      : []),
    ...(samples.total < 200 ? [`There are only ${samples.total} samples: a share under 2% may be chance. Record for longer.`] : []),
  ];
}

/** "Worker.ticks"; of what has no type, or no member, its name. */
export function findingName({ type, member }: Pick<FindingKey, 'type' | 'member'>): string {
  if (type === '' || member === '') return type || member || 'unnamed memory';
  return `${type}.${member}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
