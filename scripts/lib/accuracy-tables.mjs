// What bench:accuracy says: a row for each program and build, and the targets.
import { isAlarm } from './accuracy.mjs';
import { gainShare, shareOfGain } from './accuracy-advice.mjs';
import { row, verdict } from './bench-table.mjs';
import { median } from './median.mjs';

/** Contended / fixed: a form that costs at least so much has to be found. */
const findCost = 1.15;
/** From here a patch has to reach the gain of the fix by hand. */
const patchCost = 1.3;
/** Of the contended samples at marked lines, that have to name the marked member. */
const memberShare = 0.95;

/** Where the ratios of a form's pairs differ by more, its cost is not known well enough to judge a prediction by. */
const spreadForPrediction = 0.05;
/** |predicted / measured - 1| of most predictions, and their median. */
const predictionError = 0.25;
const medianPredictionError = 0.12;
const predictedShare = 0.8;
/** Of plain accesses: how often the measured speedup has to lie within the bounds, and how far apart those may be. */
const boundShare = 0.9;
const widestBounds = 2;
/** A control must not be promised more. */
const noGain = 1.05;

const percent = (part, all) => (all === 0 ? '-' : `${((100 * part) / all).toFixed(1)}%`);

/** Whether a patch of this program has to gain something, by what the fix by hand gains. */
export const worthPatching = ({ control, patchable }, { ratio }) => !control && patchable !== null && ratio >= patchCost;

const mustBeFound = ({ program, cost }) => !program.control && cost.ratio >= findCost;

function costCell({ ratio, low, high, disturbed }) {
  return ratio === null ? '-' : `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})${disturbed > 0 ? '*' : ''}`;
}

function foundCell(form, { found, verdicts, disturbed }) {
  const mark = disturbed ? '*' : '';
  if (form.program.control) return `${verdicts.join(', ') || 'none'}${mark}`;
  if (found) return `found${mark}`;
  return `${mustBeFound(form) ? 'MISSED' : 'not found'}${verdicts.length > 0 ? ` (${verdicts.join(', ')})` : ''}${mark}`;
}

function adviceCell({ program, cost, advice }) {
  if (advice === null) return 'not available';
  if (program.control) return advice.partings.join(', ') || 'nothing parted';
  if (advice.patch === null) return '-';
  const { step, cost: patched } = advice.patch;
  if (patched === null) return step === 'none' ? 'no patch' : step;
  if (step === 'same code') return `${patched.ratio.toFixed(2)}, the code of the fix`;
  return `${patched.ratio.toFixed(2)}, ${percent(shareOfGain(cost.ratio, patched.ratio), 1)} of the gain`;
}

const alarmCell = (alarm) => `${percent(alarm.share, 1)}${isAlarm(alarm) ? ' ALARM' : ''}`;

/** What waits falsely in the patched form, by collector; null where there is none that runs. */
const patchedAlarms = ({ advice }) => (advice?.patch?.cost ? advice.patch.alarms : null);

/** By whichever collector sees most. */
function patchedCell(form) {
  const alarms = patchedAlarms(form);
  if (alarms === null) return '-';
  return alarmCell(Object.values(alarms).reduce((most, alarm) => (alarm.share > most.share ? alarm : most)));
}

/** What the advice is to gain by: its patch where that was measured, else the fix by hand. */
const gainedBy = ({ cost, advice }) => advice.patch?.cost ?? cost;

function predictionCell({ advice }) {
  if (advice === null) return 'not available';
  const { predicted } = advice;
  if (predicted === null) return 'nothing';
  const { low, mid, high, bound } = predicted;
  const bounds = `${low.toFixed(2)} to ${high.toFixed(2)}`;
  return bound ? bounds : `${mid.toFixed(2)} (${bounds})`;
}

/** One row for each form, with a head. */
export function formRows(judged, collectors) {
  return [
    row(
      'program',
      'cost',
      ...collectors.flatMap((name) => [name, 'right member', 'falsely waiting if quiet']),
      'predicted',
      'advice',
      'falsely waiting if patched',
    ),
    ...judged.map((form) =>
      row(
        form.title,
        costCell(form.cost),
        ...collectors.flatMap((name) => {
          if (form.collectors[name] === undefined) return ['-', '-', '-'];
          const { right, marked, alarm } = form.collectors[name];
          return [foundCell(form, form.collectors[name]), percent(right, marked), alarmCell(alarm)];
        }),
        predictionCell(form),
        adviceCell(form),
        patchedCell(form),
      ),
    ),
  ];
}

/** One row for each target: what was measured, the target, whether it is reached. */
export function targetRows(judged, collectors) {
  const rows = [row('', 'measured', 'target', '')];
  for (const name of collectors) {
    const recorded = judged.filter((form) => form.collectors[name] !== undefined);
    const costly = recorded.filter(mustBeFound);
    const found = costly.filter((form) => form.collectors[name].found).length;
    rows.push(
      row(`found of what costs ${findCost} or more, ${name}`, `${found} of ${costly.length}`, 'all', verdict(found === costly.length)),
    );
    const alarms = recorded.filter((form) => isAlarm(form.collectors[name].alarm)).length;
    rows.push(row(`false alarms, ${name}`, `${alarms} of ${recorded.length}`, 'none', verdict(alarms === 0)));
    const sum = (value) => recorded.reduce((all, form) => all + form.collectors[name][value], 0);
    rows.push(
      row(
        `contended samples with the right member, ${name}`,
        percent(sum('right'), sum('marked')),
        percent(memberShare, 1),
        verdict(sum('marked') > 0 && sum('right') >= memberShare * sum('marked')),
      ),
    );
  }
  return [...rows, ...adviceTargets(judged)];
}

function adviceTargets(judged) {
  const advised = judged.filter(({ advice }) => advice !== null);
  const titles = [
    'controls with advice to part something',
    `patches that reach ${gainShare * 100}% of the gain`,
    'patched forms that still share falsely',
  ];
  if (advised.length === 0) return titles.map((title) => row(title, 'not available', '', ''));
  const controls = advised.filter(({ program }) => program.control);
  const parted = controls.filter(({ advice }) => advice.partings.length > 0).length;
  const worth = advised.filter(({ program, cost }) => worthPatching(program, cost));
  const good = worth.filter(
    ({ cost, advice: { patch } }) => patch !== null && patch.cost !== null && shareOfGain(cost.ratio, patch.cost.ratio) >= gainShare,
  ).length;
  const same = worth.filter(({ advice: { patch } }) => patch?.step === 'same code').length;
  const patched = advised.map(patchedAlarms).filter((alarms) => alarms !== null);
  const sharing = patched.filter((alarms) => Object.values(alarms).some(isAlarm)).length;
  const shared = advised.filter(mustBeFound);
  const count = (value) => `${shared.filter(({ advice }) => advice[value]).length} of ${shared.length}`;
  return [
    row(titles[0], `${parted} of ${controls.length}`, 'none', verdict(parted === 0)),
    row(titles[1], `${good} of ${worth.length}`, 'all', verdict(good === worth.length)),
    row('- that are the code of the fix by hand', `${same} of ${worth.length}`, '', ''),
    row(titles[2], `${sharing} of ${patched.length}`, 'none', verdict(sharing === 0)),
    ...predictionTargets(advised),
    row('advice with the expected reason', count('why'), '', ''),
    row('advice at the marked definition', count('definition'), '', ''),
  ];
}

function predictionTargets(advised) {
  const isQuiet = ({ ratio, low, high }) => (high - low) / ratio < spreadForPrediction;
  const all = advised.filter((form) => !form.program.control && form.advice.predicted !== null && gainedBy(form).ratio !== null);
  const errorOf = (form) => Math.abs(form.advice.predicted.mid / gainedBy(form).ratio - 1);
  const isNear = (form) => errorOf(form) <= predictionError;
  const isHeld = (form) => {
    const { low, high } = form.advice.predicted;
    const { ratio } = gainedBy(form);
    return low <= ratio && ratio <= high;
  };
  const isNarrow = ({ advice: { predicted } }) => predicted.high / predicted.low <= widestBounds;
  const judged = all.filter((form) => isQuiet(gainedBy(form)));
  const ofKind = (forms, bound) => forms.filter(({ advice }) => advice.predicted.bound === bound);
  const errors = ofKind(judged, false).map(errorOf);
  const controls = advised.filter(({ program }) => program.control);
  const promised = controls.filter(({ advice }) => (advice.predicted?.mid ?? 1) > noGain).length;
  /** Of the pairs that are judged; then, without a target, of all pairs, whose own times may differ by more than the prediction's error. */
  const shares = (title, bound, is, target) => {
    const [own, every] = [ofKind(judged, bound), ofKind(all, bound)];
    const part = own.filter(is).length;
    const met = own.length === 0 ? '' : verdict(part >= target * own.length);
    return [
      row(title, `${part} of ${own.length}`, percent(target, 1), met),
      row('- of all pairs, noisy ones too', `${every.filter(is).length} of ${every.length}`, '', ''),
    ];
  };
  return [
    ...shares(`predicted speedup within ${predictionError * 100}%`, false, isNear, predictedShare),
    row(
      'median error of predicted speedups',
      errors.length === 0 ? '-' : percent(median(errors), 1),
      `at most ${percent(medianPredictionError, 1)}`,
      errors.length === 0 ? '' : verdict(median(errors) <= medianPredictionError),
    ),
    ...shares('plain accesses: measured speedup within the predicted bounds', true, isHeld, boundShare),
    ...shares(`plain accesses: bounds at most ${widestBounds} apart`, true, isNarrow, boundShare),
    row('controls that are promised a gain', `${promised} of ${controls.length}`, 'none', verdict(promised === 0)),
  ];
}

/** What was not found, what else was named, and what alarmed. */
export function detailRows(judged, collectors) {
  const rows = [];
  for (const form of judged) {
    for (const name of collectors.filter((one) => form.collectors[one] !== undefined)) {
      const { found, verdicts, wrong, alarm } = form.collectors[name];
      if (!form.program.control && !found) rows.push(row(form.title, name, `not found: ${verdicts.join(', ') || 'no contended samples'}`));
      for (const one of wrong) rows.push(row(form.title, name, `not right: ${one}`));
      if (isAlarm(alarm)) rows.push(row(form.title, name, `${percent(alarm.share, 1)} wait falsely at ${alarm.object}`));
    }
    const { patch } = form.advice ?? {};
    for (const [name, alarm] of Object.entries(patchedAlarms(form) ?? {}))
      if (isAlarm(alarm)) rows.push(row(form.title, name, `patched: ${percent(alarm.share, 1)} wait falsely at ${alarm.object}`));
    if (patch?.detail) rows.push(row(form.title, 'patch', `${patch.step}: ${patch.detail.split('\n')[0]}`));
  }
  return rows;
}
