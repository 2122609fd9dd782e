// Whether a report of a program of test/corpus says what is known of it.
import path from 'node:path';
import { isRight } from './types-truth.mjs';

/** Shares of all samples that may wait falsely where padding gains nothing. */
export const alarmShare = 0.02;

/** Whether an access is to one of the members: by type and field, else by the object's name. */
const names = ({ data }, { object, names }) =>
  names.length > 0 ? isRight({ type: data.type ?? '', field: data.field ?? '' }, names) : data.object === object;

/** Whether an access is to the object of a member, or to the member itself. */
const isOf = (access, member) => (member.object !== null && access.data.object === member.object) || names(access, member);

/** Whether the line says that who accesses it here would gain from parting. */
const saysFalse = (line, access) =>
  line.falseShare !== null &&
  (line.verdict === 'false sharing' ||
    (line.verdict === 'mixed' && line.victims.some(({ words }) => access.word !== null && words.includes(access.word))));

/**
 * @param report cacheline-report/1 of the contended form
 * @param members of corpus.json: `marker`, `object`, `names`
 * @param source base name of the source
 * @param markers by line of the source, the markers of what is accessed there
 * @returns {{found: boolean, marked: number, right: number, wrong: string[], verdicts: string[]}} `found`: a member's object has contended samples
 * on a line of false sharing, or of mixed with it as a victim; `marked`: contended samples at the marked lines; `right`: those of them that name
 * the marked member; `wrong`: what the others name; `verdicts`: of the lines with contended samples of the members
 */
export function judgeContended(report, members, source, markers) {
  const result = { found: false, marked: 0, right: 0, wrong: [], verdicts: [] };
  const verdicts = new Set();
  const wrong = new Set();
  for (const line of report.lines) {
    for (const access of line.accesses) {
      if (access.contended === 0) continue;
      if (members.some((member) => isOf(access, member))) {
        verdicts.add(line.verdict);
        result.found ||= saysFalse(line, access);
      }
      const frame = [access, ...access.inlined].find(({ file, line }) => path.basename(file) === source && markers.has(line));
      if (frame === undefined) continue;
      result.marked += access.contended;
      const here = members.filter(({ marker }) => markers.get(frame.line).includes(marker));
      if (here.some((member) => names(access, member))) result.right += access.contended;
      else wrong.add(`${source}:${frame.line} ${access.data.object} ${access.data.type ?? ''}:${access.data.field ?? ''}`);
    }
  }
  return { ...result, wrong: [...wrong], verdicts: [...verdicts] };
}

/** @returns {{share: number, object: string}} the object with the most samples that wait falsely, as a share of all samples; '' where none does */
export function falselyWaiting({ objects, samples }) {
  let most = { share: 0, object: '' };
  for (const { object, contended, falseShare } of objects) {
    const share = samples.total === 0 ? 0 : (contended * (falseShare?.value ?? 0)) / samples.total;
    if (share > most.share) most = { share, object };
  }
  return most;
}

/** Whether that is more than a form without false sharing may have. */
export const isAlarm = ({ share }) => share > alarmShare;
