// Findings as SARIF 2.1.0 (OASIS), as GitHub's code scanning takes it.
import { createHash } from 'node:crypto';
import { RULES, type Check, type CheckFinding, type FindingKey, type Rule } from '../../protocol/check';
import { VERDICT_MEANING } from '../../protocol/words';
import { printable } from '../text/terminal-text';
import { findingName } from './check';
import { findingMessage, findingTitle, verdictOf } from './finding-words';
import { findingPlace } from './repository';

/** GitHub takes 5,000 of a run. */
const MOST_RESULTS = 5000;

export interface SarifOptions {
  /** Of Cacheline Lens. */
  version: string;
  /** Of the repository: paths are relative to it. */
  root: string;
}

/**
 * One rule a verdict. Results are the 5,000 findings with the largest rank, the largest first; those whose data and code stand in no file of
 * the repository are left out, since code scanning refuses results without a place: a notification counts them. A check that is no pass is no
 * success.
 */
export function sarifLog(
  { findings, notes, noPass }: Pick<Check, 'findings' | 'notes' | 'noPass'>,
  { version, root }: SarifOptions,
): object {
  const rules = RULES.filter((rule) => findings.some((finding) => finding.rule === rule));
  const placed = findings.flatMap((finding) => {
    const place = findingPlace(finding, root);
    return place === undefined ? [] : [{ finding, place }];
  });
  placed.sort((x, y) => rankOf(y.finding) - rankOf(x.finding));
  const results = placed.slice(0, MOST_RESULTS).map(({ finding, place }) => resultOf(finding, rules.indexOf(finding.rule), place));
  const withoutPlace = findings.length - placed.length;
  const tooMany = placed.length - results.length;
  const said = [
    ...(noPass === null ? [] : [notification('error', `No pass: ${noPass}.`)]),
    ...[
      ...notes,
      ...(withoutPlace === 0 ? [] : [`${withoutPlace} more in no file of the repository, and so not in this list.`]),
      ...(tooMany === 0 ? [] : [`${tooMany} more with smaller shares, and so not in this list.`]),
    ].map((text) => notification('note', text)),
  ];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'Cacheline Lens', semanticVersion: version, rules: rules.map(ruleOf) } },
        columnKind: 'utf16CodeUnits',
        invocations: [
          {
            executionSuccessful: noPass === null,
            ...(said.length === 0 ? {} : { toolExecutionNotifications: said }),
          },
        ],
        results,
      },
    ],
  };
}

function notification(level: 'error' | 'note', text: string): object {
  return { level, message: { text: printable(text) } };
}

function ruleOf(rule: Rule): object {
  const meaning = VERDICT_MEANING[verdictOf(rule)];
  return {
    id: rule,
    name: rule.replace(/(^|-)(\w)/g, (_, _dash, letter: string) => letter.toUpperCase()),
    shortDescription: { text: `${verdictOf(rule)} of cache lines` },
    fullDescription: { text: meaning },
    help: { text: `${meaning} "cacheline advise" says what to change.` },
    defaultConfiguration: { level: 'warning' },
    properties: { tags: ['performance', 'concurrency'] },
  };
}

/** From 0 to 100: all that waits, in percent of the samples, whatever the check held against its limit. */
function rankOf({ programShare }: CheckFinding): number {
  return Math.min(100, 100 * programShare);
}

function resultOf(finding: CheckFinding, ruleIndex: number, place: { file: string; line: number }): object {
  const { rule, state, programShare, falselyWaiting, reason } = finding;
  const isNew = state === 'new' || state === 'grown';
  return {
    ruleId: rule,
    ruleIndex,
    level: isNew ? 'warning' : 'note',
    message: { text: printable(`${findingTitle(finding)}: ${findingMessage(finding)}`) },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: place.file.split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' },
          region: { startLine: place.line },
        },
        logicalLocations: [{ fullyQualifiedName: printable(findingName(finding)), kind: 'member' }],
      },
    ],
    partialFingerprints: { primaryLocationLineHash: fingerprint(finding) },
    baselineState: { new: 'new', grown: 'updated', known: 'unchanged', accepted: 'unchanged' }[state],
    rank: rankOf(finding),
    ...(reason === null ? {} : { suppressions: [{ kind: 'external', justification: printable(reason) }] }),
    properties: { programShare, falselyWaiting },
  };
}

/** Of type, member and verdict alone: it stays where lines move. The form is that of GitHub's own: 16 hex digits and a count. */
export function fingerprint({ rule, type, member }: FindingKey): string {
  return `${createHash('sha256')
    .update(JSON.stringify([type, member, rule]))
    .digest('hex')
    .slice(0, 16)}:1`;
}
