// What a finding says to a person: the same words in texts, annotations and SARIF.
import type { Check, CheckFinding, Rule } from '../../protocol/check';
import type { Verdict } from '../../protocol/report';
import { shortPlace } from '../lines/source-path';
import { percent } from '../../protocol/words';
import { findingName } from './check';

export function verdictOf(rule: Rule): Verdict {
  return rule.replace('-', ' ') as Verdict;
}

/** "False sharing of Worker.ticks". Holds an untrusted name, as does all here. */
export function findingTitle(finding: Pick<CheckFinding, 'rule' | 'type' | 'member'>): string {
  const verdict = verdictOf(finding.rule);
  const kind = finding.rule === 'mixed' ? 'Mixed sharing' : `${verdict.charAt(0).toUpperCase()}${verdict.slice(1)}`;
  return `${kind} of ${findingName(finding)}`;
}

/** What it costs, where, and whether it is new: sentences. */
export function findingMessage({ programShare, falselyWaiting, object, type, accessed, state, before, reason }: CheckFinding): string {
  const inside = object === '' || type === '' ? '' : ` (in ${object})`;
  const code = accessed === null ? '' : `, mostly at ${shortPlace(accessed)}`;
  const states: Record<CheckFinding['state'], string> = {
    new: before === null ? '' : ` It was ${percent(before)}.`,
    grown: ` It has grown from ${percent(before ?? 0)}.`,
    known: ` It is known: the baseline has ${percent(before ?? 0)}.`,
    accepted: ` It is accepted: ${reason ?? ''}.`,
  };
  return `${percent(programShare)} of all samples wait for it${inside}${code}; ${percent(falselyWaiting)} of all wait for data that they do not use.${states[state]}`;
}

/** How the check ended, and why. */
export function checkSentence({ findings, failed, limit, noPass }: Check): string {
  const failing = findings.filter(({ state }) => state === 'new' || state === 'grown').length;
  const others = findings.length - failing;
  const beyond = `${percent(limit.share)} of all samples ${limit.of === 'contended' ? 'contended' : 'waiting falsely'} at one object`;
  const known = others === 0 ? '' : ` ${others} more ${others === 1 ? 'is' : 'are'} known or accepted.`;
  if (failed) return `Failed: ${failing === 1 ? '1 finding' : `${failing} findings`}, at the limit of ${beyond}.${known}`;
  if (noPass !== null) return `No pass: ${noPass}.${known}`;
  return `Passed: nothing ${findings.length === 0 ? '' : 'new '}reaches ${beyond}.${known}`;
}
