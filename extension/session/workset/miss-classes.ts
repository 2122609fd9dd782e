// Classes of misses in words: what they rest on, and what helps against each.
import type { MissClass, MissClassName, WorksetDocument, WorksetSurvey } from '../../protocol/workset';
import { sentence, percent } from '../../protocol/words';
import { count, enumerate, plural } from '../text/terminal-text';
import { cacheName, cacheSize } from '../where/where-values';

const MOST_THREADS = 3;

const REMEDY: Record<MissClassName, string> = {
  'false sharing': 'Give the data of each thread a cache line of its own: `cacheline advise` says how.',
  'true sharing': 'Share less often: a copy for each thread that is merged later, or fewer updates. Moving data apart does not help.',
  conflict:
    'Spread the lines over the sets: add a cache line to each row, so that the stride is not a multiple of STRIDE, or shift arrays that are ' +
    'used together. Using less memory at a time does not help while the stride stays.',
  capacity:
    'Use less memory at a time: make types smaller, separate often-used members from the others, or work in blocks that fit. ' +
    'Moving data to other addresses does not help.',
};

export function explained(survey: WorksetSurvey): WorksetDocument {
  const missClasses = survey.missClasses.map((each) => ({ ...each, evidence: evidenceOf(each, survey), remedy: remedyOf(each, survey) }));
  return { ...survey, missClasses };
}

function remedyOf(each: MissClass, { lineSize }: WorksetSurvey): string | null {
  if (each.knowledge === 'not seen' || each.knowledge === 'not known') return null;
  return REMEDY[each.class].replace('STRIDE', `${count((each.sets?.count ?? 0) * lineSize)} bytes`);
}

function evidenceOf(each: MissClass, survey: WorksetSurvey): string {
  if (each.knowledge === 'not known')
    return sentence([each.reason ?? 'the samples do not say it', sizes(each, survey)].filter(Boolean).join('; '));
  if (each.class === 'conflict') return conflictText(each);
  if (each.class === 'capacity') return capacityText(each, survey);
  if (each.knowledge === 'not seen') return `No sample waits for another thread's data of this kind.`;
  const what = each.class === 'false sharing' ? 'beside data that other threads use' : 'at data that other threads use, too';
  return `${percent(each.share ?? 0)} of the samples wait ${what}: \`cacheline report\` says where.`;
}

/** "thread 4711", "threads 4711, 4712, 4713 and 5 more"; "the threads on the CPUs of one cache". */
function who({ threads }: MissClass): string {
  if (threads.length === 0) return 'the threads on the CPUs of one cache';
  const named = threads.slice(0, MOST_THREADS).map(String);
  const rest = threads.length - named.length;
  return `${threads.length === 1 ? 'thread' : 'threads'} ${enumerate([...named, ...(rest > 0 ? [`${count(rest)} more`] : [])])}`;
}

function conflictText(each: MissClass): string {
  const { sets } = each;
  if (each.knowledge === 'not seen' || sets === null)
    return 'No set of the first cache has more hot lines than it holds while others have room.';
  const is = `${plural(sets.oversubscribed, 'set')} of ${count(sets.count)} ${sets.oversubscribed === 1 ? 'has' : 'have'}`;
  return (
    `Of ${who(each)}: ${is} more hot lines than the ${count(sets.ways)} that a set of the first cache holds, up to ${count(sets.mostLines)}; ` +
    `the others have ${sets.elsewhere.toFixed(1)} on average. ${percent(each.share ?? 0)} of the samples are on such lines.`
  );
}

function nameOf(level: number | null, { caches }: WorksetSurvey): string {
  const found = caches.find((cache) => cache.level === level);
  return found === undefined ? 'the cache' : cacheName(found);
}

/** "at least 3,740 lines (233.8 KiB) are used at a time, and L1 data has 768 (48 KiB)"; empty where that is not known. */
function sizes({ lines, cacheLines, level }: MissClass, survey: WorksetSurvey): string {
  if (lines === null || cacheLines === null) return '';
  const size = (number: number): string => `${count(number)} (${cacheSize(number * survey.lineSize)})`;
  return `at least ${size(lines)} lines are used at a time, and ${nameOf(level, survey)} has ${size(cacheLines)}`;
}

function capacityText(each: MissClass, survey: WorksetSurvey): string {
  if (each.knowledge === 'not seen') return `The lines that most samples fall on fit into ${nameOf(each.level, survey)}.`;
  const farther = each.share === null ? '' : ` ${percent(each.share)} of its loads were answered from farther away.`;
  return `Of ${who(each)}: ${sizes(each, survey)}.${farther}`;
}
