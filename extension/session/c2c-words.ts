// The first paragraphs about a recording with data sources: what is contended, how much, what it costs, what to look at.
import type { Access, CacheLine, Display, Report } from '../protocol/report';
import { allContendedLoads, contendedLoads, displayOf, meanContendedCycles, measuresHitm, usedObjects } from './c2c-facts';
import { namedFields, offsetText, type UsedData } from './data-text';
import { codeText, meaningOf, name } from './plain-words';
import { threadRoles } from './sharing-facts';
import { count, enumerate, percent, plural, printable } from './terminal-text';

const MAX_OBJECTS = 3;

/** One and many of the loads that a report is sorted by. */
const LOAD_WORDS: Record<Display, [string, string]> = {
  tot: ['HITM', 'HITMs'],
  lcl: ['local HITM', 'local HITMs'],
  rmt: ['remote HITM', 'remote HITMs'],
  peer: ['peer hit', 'peer hits'],
};

const LOAD_MEANING: Record<Display, string> = {
  tot: 'they hit a cache line that another core had modified and still held',
  lcl: 'they hit a cache line that another core of the same node had modified and still held',
  rmt: 'they hit a cache line that a core of another node had modified and still held',
  peer: 'another core’s cache answered them',
};

/** Paragraphs of printable text, not wrapped. */
export function c2cWords(report: Report): string[] {
  const display = displayOf(report);
  const [top] = report.lines.filter((line) => contendedLoads(line, display) > 0);
  return top === undefined ? nothingFound(report, display) : found(report, top, display);
}

function nothingFound(report: Report, display: Display): string[] {
  const loads = report.stats['loads'] ?? 0;
  const [, many] = LOAD_WORDS[display];
  const unknown = report.stats['noParse'] ?? 0;
  if (loads === 0 && unknown > 0) {
    return [
      `${unknown === report.samples.total ? 'No sample' : `None of ${plural(unknown, 'sample')}`} says where its data came from: whether cores compete for cache lines cannot be said. Virtual machines and some events leave that out; record on the machine itself, with the events of perf c2c record.`,
    ];
  }
  if (loads === 0) {
    return [
      `The recording holds no loads (${plural(report.stats['stores'] ?? 0, 'store')}), and contention shows in loads: whether cores compete for cache lines cannot be said. Record loads too, as perf c2c record does.`,
    ];
  }
  if (display !== 'peer' && !measuresHitm(report)) return [unmeasured(report)];
  const all = allContendedLoads(report, display);
  if (all > 0) {
    return [
      `${plural(all, LOAD_WORDS[display][0], many)} in ${plural(loads, 'sampled load')}, and none at an address in a known mapping, so that no cache line can be shown for them.`,
    ];
  }
  const others = otherDisplay(report, display);
  return [
    `None of ${plural(loads, 'sampled load')} was a ${LOAD_WORDS[display][0]}.${others}`,
    `It means that no sampled load ${display === 'peer' ? 'was answered by another core’s cache' : 'found its cache line modified in another core’s cache'}. ` +
      `It does not mean that no line is contended: only a part of all accesses is sampled, loads faster than the event’s threshold (ldlat) are left out, ` +
      `stores that wait for a line are not counted as ${many}, and code that did not run was not measured.`,
  ];
}

function unmeasured({ evidence }: Report): string {
  const instead = evidence.includes('peer') ? ' Loads that another core’s cache answered were: -d peer shows them.' : '';
  return `This recording cannot tell HITMs: the processor does not say whether a line was modified in another core’s cache.${instead}`;
}

/** Where the chosen loads do not occur but others do. */
function otherDisplay(report: Report, display: Display): string {
  const other: Display = display === 'peer' ? 'tot' : display === 'tot' ? 'peer' : 'tot';
  const loads = other === 'tot' && !measuresHitm(report) ? 0 : allContendedLoads(report, other);
  return loads === 0 ? '' : ` There are ${plural(loads, ...LOAD_WORDS[other])}: -d ${other} shows them.`;
}

function found(report: Report, top: CacheLine, display: Display): string[] {
  const all = allContendedLoads(report, display);
  const lines = report.lines.filter((line) => contendedLoads(line, display) > 0).length;
  const [, many] = LOAD_WORDS[display];
  const loads = report.stats['loads'] ?? 0;
  const head =
    `${count(all)} of ${plural(loads, 'sampled load')}${loads > 0 ? ` (${percent(all / loads)})` : ''} ${all === 1 ? 'was a' : 'were'} ${LOAD_WORDS[display][all === 1 ? 0 : 1]}: ${LOAD_MEANING[display]}.` +
    (display === 'peer' && !measuresHitm(report) ? ' Whether they found the line modified, this processor does not say.' : '');
  const own = contendedLoads(top, display);
  const where = `${lines === 1 ? 'They are' : `${percent(own / all)} of these ${many} are`} on the line ${top.address} (${printable(top.space)})`;
  return [
    [head, `${where}, which holds ${objects(top, display)}: ${top.verdict}.`, who(top), cost(top, display)]
      .filter((text) => text !== '')
      .join(' '),
    [...meaningOf(top.verdict, [top]), lookFirst(top, display)].filter((text) => text !== '').join(' '),
  ];
}

/** "'counters' at +0 to +8 and 'limit' at +0". */
function objects(line: CacheLine, display: Display): string {
  const uses = usedObjects(line, display);
  const shown = uses.slice(0, MAX_OBJECTS).map(objectText);
  if (uses.length > shown.length) shown.push(plural(uses.length - shown.length, 'other object'));
  return enumerate(shown) || 'data without a name';
}

function objectText(use: UsedData): string {
  const fields = namedFields(use);
  if (fields !== undefined) return fields.map((field) => name(`${use.head}${field}`)).join(', ');
  const offsets = offsetText(use).replace('..', ' to +');
  return `${use.object === '' ? 'unnamed data' : name(use.object)}${offsets === '' ? '' : ` at ${offsets}`}`;
}

/** "4 threads write it and 2 only read; 62.0 % of its HITMs came from another node." */
function who(line: CacheLine): string {
  const { writers, readers } = threadRoles(line);
  const roles = [
    writers > 0 ? `${plural(writers, 'thread')} ${writers === 1 ? 'writes' : 'write'} to it` : '',
    readers > 0 ? `${writers > 0 ? count(readers) : plural(readers, 'thread')} only ${readers === 1 ? 'reads' : 'read'} it` : '',
  ].filter((text) => text !== '');
  const { hitm } = line;
  const remote =
    hitm !== null && hitm.remote > 0 ? `${percent(hitm.remote / (hitm.local + hitm.remote))} of its HITMs came from another node` : '';
  const facts = [enumerate(roles), remote].filter((text) => text !== '').join('; ');
  return facts === '' ? '' : `${facts.charAt(0).toUpperCase()}${facts.slice(1)}.`;
}

/** Mean cycles of the line's contended loads, and how long the tail is where most of them are. */
function cost(line: CacheLine, display: Display): string {
  const mean = meanContendedCycles(line, display);
  if (mean === undefined) return '';
  const [one] = LOAD_WORDS[display];
  const hottest = hottestBy(line, (access) => contendedLoads(access, display));
  const tail =
    hottest?.cycles === null || hottest === undefined
      ? ''
      : `; at ${codeText(hottest)} 19 of 20 loads took up to ${count(Math.round(hottest.cycles.p95))}, the longest ${count(Math.round(hottest.cycles.max))}`;
  return `A ${one} on it took ${count(Math.round(mean))} cycles on average${tail}.`;
}

/** The loads that wait, and the stores that make them wait. */
function lookFirst(line: CacheLine, display: Display): string {
  const waits = hottestBy(line, (access) => contendedLoads(access, display));
  const writes = hottestBy(line, (access) => access.stores.total);
  if (waits === undefined) return '';
  if (writes === undefined || codeText(writes) === codeText(waits)) return `Look first at ${codeText(waits)}.`;
  return `Look first at ${codeText(waits)}, where most of these loads wait, and at ${codeText(writes)}, which writes most.`;
}

function hottestBy(line: CacheLine, heat: (access: Access) => number): Access | undefined {
  return line.accesses.reduce<Access | undefined>(
    (best, access) => (heat(access) > (best === undefined ? 0 : heat(best)) ? access : best),
    undefined,
  );
}
