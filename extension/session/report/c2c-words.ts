// The first paragraphs about a recording with data sources: what is contended, how much, what it costs, what to look at.
import { t } from '../../protocol/l10n';
import type { TextPart } from '../../protocol/panel';
import type { Access, CacheLine, Display, Report } from '../../protocol/report';
import { allContendedLoads, contendedLoads, displayOf, meanContendedCycles, measuresHitm, usedObjects } from './c2c-facts';
import { withBlindness } from './blindness';
import { codePart, codeText } from './code-text';
import { namedFields, offsetText, type UsedData } from './data-text';
import { GO_MEANING, joinWords, meaningOf, name, type FirstWords } from './plain-words';
import { accessesOfFinding, leadOf, leadText, type Lead } from './lead';
import { rolesText, threadRoles } from './sharing-facts';
import { percent } from '../../protocol/words';
import { count, enumerate, plural, printable } from '../text/terminal-text';
import { cannotTell, recordLonger, verdictText } from './verdict-text';

const MAX_OBJECTS = 3;
const UNLISTED = t('They are on lines that are not listed: none of these has 0.1% of them (--show-all lists them).');

/** One and many of the loads that a report is sorted by. */
export const LOAD_WORDS: Record<Display, [string, string]> = {
  tot: [t('HITM'), t('HITMs')],
  lcl: [t('local HITM'), t('local HITMs')],
  rmt: [t('remote HITM'), t('remote HITMs')],
  peer: [t('peer hit'), t('peer hits')],
};

const LOAD_MEANING: Record<Display, string> = {
  tot: t('they hit a cache line that another core had modified and still held'),
  lcl: t('they hit a cache line that another core of the same node had modified and still held'),
  rmt: t('they hit a cache line that a core of another node had modified and still held'),
  peer: t('another core’s cache answered them'),
};

/** Paragraphs of printable text, not wrapped. */
export function c2cWords(report: Report): string[] {
  return withBlindness(report, joinWords(c2cParts(report)));
}

/** The same in parts, without what could not be seen. */
export function c2cParts(report: Report): FirstWords {
  const display = displayOf(report);
  const [top] = report.lines.filter((line) => contendedLoads(line, display) > 0);
  const none = top === undefined && (report.contendedLeftOut ?? 0) === 0;
  return none ? { paragraphs: nothingFound(report, display), lookFirst: [] } : found(report, top, display);
}

function nothingFound(report: Report, display: Display): string[] {
  const loads = report.stats['loads'] ?? 0;
  const [, many] = LOAD_WORDS[display];
  const unknown = report.stats['noParse'] ?? 0;
  if (loads === 0 && unknown > 0) {
    return [
      t(
        '{0} says where its data came from, so nothing can be said about contention. Virtual machines and some events leave that out; record on the machine itself, with the events of perf c2c record.',
        unknown === report.samples.total ? t('No sample') : t('None of {0}', plural(unknown, 'sample')),
      ),
    ];
  }
  if (loads === 0) {
    return [
      t(
        'The recording holds no loads ({0}), and contention shows in loads, so nothing can be said about it. Record loads too, as perf c2c record does.',
        plural(report.stats['stores'] ?? 0, 'store'),
      ),
    ];
  }
  if (display !== 'peer' && !measuresHitm(report)) return [unmeasured(report)];
  const all = allContendedLoads(report, display);
  if (all > 0) {
    return [
      t(
        '{0} in {1}, and none at an address in a known mapping, so no cache line can be shown for them.',
        loadsText(all, display),
        plural(loads, 'sampled load'),
      ),
    ];
  }
  const others = otherDisplay(report, display);
  return [
    t('None of {0} was a {1}.{2}', plural(loads, 'sampled load'), LOAD_WORDS[display][0], others),
    t(
      'It means that no sampled load {0}. It does not mean that no line is contended: only a part of all accesses is sampled, loads faster than the event’s threshold (ldlat) are left out, stores that wait for a line are not counted as {1}, and code that did not run was not measured.',
      display === 'peer' ? t('was answered by another core’s cache') : t('found its cache line modified in another core’s cache'),
      many,
    ),
  ];
}

function unmeasured({ evidence }: Report): string {
  const instead = evidence.includes('peer') ? t(' Loads that another core’s cache answered were: -d peer shows them.') : '';
  return t('This recording cannot tell HITMs: the processor does not say whether a line was modified in another core’s cache.{0}', instead);
}

/** Where the chosen loads do not occur but others do. */
function otherDisplay(report: Report, display: Display): string {
  const other: Display = display === 'peer' ? 'tot' : display === 'tot' ? 'peer' : 'tot';
  const loads = other === 'tot' && !measuresHitm(report) ? 0 : allContendedLoads(report, other);
  return loads === 0 ? '' : t(' There are {0}: -d {1} shows them.', loadsText(loads, other), other);
}

/** "12 HITMs". */
function loadsText(loads: number, display: Display): string {
  const [one, many] = LOAD_WORDS[display];
  return `${count(loads)} ${loads === 1 ? one : many}`;
}

/** `top`: undefined where contended loads are on lines that are not listed alone. */
function found(report: Report, top: CacheLine | undefined, display: Display): FirstWords {
  const all = allContendedLoads(report, display);
  const [, many] = LOAD_WORDS[display];
  const loads = report.stats['loads'] ?? 0;
  const ofLoads = `${plural(loads, 'sampled load')}${loads > 0 ? ` (${percent(all / loads)})` : ''}`;
  const head =
    (all === 1
      ? t('{0} of {1} was a {2}: {3}.', count(all), ofLoads, LOAD_WORDS[display][0], LOAD_MEANING[display])
      : t('{0} of {1} were {2}: {3}.', count(all), ofLoads, many, LOAD_MEANING[display])) +
    (display === 'peer' && !measuresHitm(report) ? t(' This processor does not say whether they found the line modified.') : '');
  const lead = leadOf(report, all);
  const isOneLine = top !== undefined && lead?.findings.every(({ lineCount, lines }) => lineCount === 1 && lines[0] === top.address);
  const about =
    lead !== undefined && !isOneLine ? aboutLead(report, lead, display) : top === undefined ? undefined : aboutLine(top, display);
  const paragraphs = [
    [
      head,
      lead === undefined || isOneLine ? '' : leadText(report, lead, all, t('of these {0}', many), () => ''),
      top === undefined ? (lead === undefined ? UNLISTED : '') : where(top, all, display),
      // What else there is to say is said of what has most.
      ...(top !== undefined && isOneLine ? [who(top), cost(top, display)] : []),
    ],
    about?.meaning ?? [],
    [goText(report, top, isOneLine ? undefined : lead, display)],
  ];
  const joined = paragraphs.map((texts) => texts.filter((text) => text !== '').join(' '));
  return { paragraphs: joined, lookFirst: about?.look ?? [] };
}

interface About {
  meaning: string[];
  look: TextPart[];
}

function where(line: CacheLine, all: number, display: Display): string {
  const own = contendedLoads(line, display);
  const [, many] = LOAD_WORDS[display];
  return t(
    '{0} on the line {1} ({2}), which holds {3}: {4}.',
    own === all ? t('They are') : t('{0} of these {1} are', percent(own / all), many),
    line.address,
    printable(line.space),
    objects(line, display),
    verdictText(line),
  );
}

/** Who shares is told by threads here, also of goroutines. */
function goText(report: Report, top: CacheLine | undefined, lead: Lead | undefined, display: Display): string {
  const [first] = lead?.findings ?? [];
  const accesses = first ? accessesOfFinding(report, first).map(({ access }) => access) : (top?.accesses ?? []);
  const verdict = first?.verdict ?? top?.verdict;
  return verdict !== 'false sharing' && accesses.some((access) => isGo(access) && contendedLoads(access, display) > 0) ? GO_MEANING : '';
}

function isGo({ file }: Access): boolean {
  return file.endsWith('.go');
}

function aboutLine(line: CacheLine, display: Display): About {
  return { meaning: meaningOf(line.verdict, [line], line.accesses.some(isGo)), look: lookFirst(line.accesses, display) };
}

/** All of it may be on lines that are not listed. */
function aboutLead(report: Report, { findings: [first] }: Lead, display: Display): About {
  if (first === undefined) return { meaning: [], look: [] };
  const own = accessesOfFinding(report, first);
  const lines = [...new Set(own.map(({ line }) => line))];
  // The stores that make loads wait are contended by no count.
  const look = lookFirst(
    lines.flatMap(({ accesses }) => accesses),
    display,
  );
  return {
    meaning:
      cannotTell(first) && first.falseShare !== null
        ? [recordLonger(report, first.falseShare)]
        : meaningOf(
            first.verdict,
            lines,
            own.some(({ access }) => isGo(access)),
          ),
    look: look.length === 0 ? [t('--show-all lists its lines, and the code that uses them.')] : look,
  };
}

/** "'counters' at +0 to +8 and 'limit' at +0". */
function objects(line: CacheLine, display: Display): string {
  const uses = usedObjects(line, display);
  const shown = uses.slice(0, MAX_OBJECTS).map(objectText);
  if (uses.length > shown.length) shown.push(plural(uses.length - shown.length, 'other object'));
  return enumerate(shown) || t('unnamed data');
}

function objectText(use: UsedData): string {
  const fields = namedFields(use);
  if (fields !== undefined) return fields.map((field) => name(`${use.head}${field}`)).join(', ');
  const data = use.object === '' ? t('unnamed data') : name(use.object);
  const [first = '', last] = offsetText(use).split('..');
  if (first === '') return data;
  return last === undefined ? t('{0} at {1}', data, first) : t('{0} at {1} to +{2}', data, first, last);
}

/** "4 threads write to it and 2 read it; 62.0% of its HITMs came from another node." */
function who(line: CacheLine): string {
  const roles = rolesText(threadRoles(line), t(' it'));
  const { hitm } = line;
  const remote =
    hitm !== null && hitm.remote > 0 ? t('{0} of its HITMs came from another node', percent(hitm.remote / (hitm.local + hitm.remote))) : '';
  const facts = [roles, remote].filter((text) => text !== '').join('; ');
  return facts === '' ? '' : `${facts.charAt(0).toUpperCase()}${facts.slice(1)}.`;
}

/** Mean cycles of the line's contended loads, and how long the tail is where most of them are. */
function cost(line: CacheLine, display: Display): string {
  const mean = meanContendedCycles(line, display);
  if (mean === undefined) return '';
  const [one] = LOAD_WORDS[display];
  const hottest = hottestBy(line.accesses, (access) => contendedLoads(access, display));
  const tail =
    hottest?.cycles === null || hottest === undefined
      ? ''
      : t(
          '; at {0} 19 of 20 loads took up to {1}, the longest {2}',
          codeText(hottest),
          count(Math.round(hottest.cycles.p95)),
          count(Math.round(hottest.cycles.max)),
        );
  return t('A {0} on it took {1} cycles on average{2}.', one, count(Math.round(mean)), tail);
}

/** The loads that wait, and the stores that make them wait. */
function lookFirst(accesses: readonly Access[], display: Display): TextPart[] {
  const waits = hottestBy(accesses, (access) => contendedLoads(access, display));
  const writes = hottestBy(accesses, (access) => access.stores.total);
  if (waits === undefined) return [];
  const look: TextPart[] = [t('Look first at '), codePart(waits)];
  if (writes === undefined || codeText(writes) === codeText(waits)) return [...look, '.'];
  return [...look, t(', where most of these loads wait, and at '), codePart(writes), t(', which writes most.')];
}

function hottestBy(accesses: readonly Access[], heat: (access: Access) => number): Access | undefined {
  return accesses.reduce<Access | undefined>(
    (best, access) => (heat(access) > (best === undefined ? 0 : heat(best)) ? access : best),
    undefined,
  );
}
