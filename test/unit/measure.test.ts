// What heat counts: which metrics a report's evidence allows, what they add up to, and where the heat is then.
import assert from 'node:assert/strict';
import { amountOf, loadCycles, measureOf, whyMissing, wholeOf, HEAT_METRICS, type HeatMetric } from '../../extension/protocol/measure';
import type { Display, Report } from '../../extension/protocol/report';
import { heatText } from '../../extension/session/profile/heat';
import { hitmReport, peerReport, pmuAccess, pmuLine } from './hitm-report';
import { access, cacheLine, report, statsOf } from './report-builder';
import { heatsOf } from './report-lookups';

const FILE = '/build/agent/src/stats.c';
const missing = (of: Report): HeatMetric[] => HEAT_METRICS.filter((metric) => whyMissing(of, metric) !== '');

function displayed(display: Display): Report {
  const { c2c } = hitmReport();
  return hitmReport(c2c && { c2c: { ...c2c, display } });
}

describe('measure', () => {
  const clock = report([cacheLine([access({ writes: 10 })])]);

  it('offers what the evidence allows and says why not the rest', () => {
    assert.deepEqual(missing(hitmReport()), []);
    assert.deepEqual(missing(peerReport()), []);
    assert.deepEqual(missing(clock), ['hitm', 'latency']);
    for (const metric of missing(clock)) assert.match(whyMissing(clock, metric), /^Clock samples .* memory PMU\.$/);
    const untimed = hitmReport();
    for (const one of untimed.lines.flatMap(({ accesses }) => accesses)) one.meanCycles = null;
    assert.deepEqual(missing(untimed), ['latency']);
    const latency = hitmReport({ evidence: ['latency'] });
    assert.deepEqual(missing(latency), ['hitm']);
    assert.doesNotMatch(whyMissing(latency, 'hitm'), /Clock/);
  });

  it('takes the strongest metric where the wanted one is not there', () => {
    assert.deepEqual(measureOf(clock, 'hitm'), { metric: 'contended', measure: 'contended' });
    assert.deepEqual(measureOf(clock, 'auto'), { metric: 'contended', measure: 'contended' });
    assert.deepEqual(measureOf(hitmReport(), 'auto'), { metric: 'hitm', measure: 'hitm' });
    assert.deepEqual(measureOf(hitmReport(), 'contended'), { metric: 'contended', measure: 'contended' });
    assert.deepEqual(measureOf(hitmReport({ evidence: ['latency'] }), 'hitm'), { metric: 'latency', measure: 'latency' });
  });

  it('counts peer hits of peer evidence, and what the lines are displayed by', () => {
    assert.equal(measureOf(peerReport(), 'hitm').measure, 'peer');
    assert.equal(measureOf(displayed('lcl'), 'auto').measure, 'localHitm');
    assert.equal(measureOf(displayed('rmt'), 'auto').measure, 'remoteHitm');
  });

  it('adds up samples and cycles', () => {
    const shown = hitmReport();
    const [first, second] = shown.lines;
    assert.ok(first?.accesses[0] && second);
    assert.deepEqual([amountOf(first, 'hitm'), amountOf(first, 'localHitm'), amountOf(first, 'remoteHitm')], [312, 125, 187]);
    assert.equal(loadCycles(first.accesses[0]), 125 * 210 + 187 * 512 + 40 * 90);
    assert.equal(amountOf(first, 'latency'), loadCycles(first.accesses[0]));
    assert.equal(wholeOf(shown, 'hitm'), 401);
    assert.equal(wholeOf(shown, 'latency'), amountOf(first, 'latency') + 89 * 700);
    const [poll] = peerReport().lines[0]?.accesses ?? [];
    assert.equal(poll && loadCycles(poll), 30 * 150 + 70 * 300 + 20 * 20);
    assert.equal(poll && loadCycles({ ...poll, meanCycles: { remoteHitm: 0, localHitm: 0, peer: 200, load: 20 } }), 100 * 200 + 20 * 20);
    assert.equal(poll && loadCycles({ ...poll, meanCycles: null }), 0);
  });
});

describe('heat of data sources', () => {
  const heats = (of: Report, metric: HeatMetric) => heatsOf(of, measureOf(of, metric).measure).get(FILE) ?? [];

  it('is the HITMs of each source line, and the stores that caused them', () => {
    assert.deepEqual(
      heats(hitmReport(), 'hitm').map(({ line, amount, caused, step }) => ({ line, amount, caused, step })),
      [
        { line: 21, amount: 312, caused: 0, step: 5 },
        { line: 33, amount: 0, caused: 312, step: 1 },
        { line: 47, amount: 89, caused: 0, step: 4 },
      ],
    );
    assert.deepEqual(heats(hitmReport(), 'hitm').map(heatText), [
      '312 HITMs (78%), 2 threads read and write',
      'stores to lines with 312 HITMs, 1 thread writes',
      '89 HITMs (22%), 1 thread reads',
    ]);
  });

  it('follows the display of the lines', () => {
    assert.deepEqual(
      heats(displayed('lcl'), 'hitm').map(({ amount, share }) => [amount, share]),
      [
        [125, 1],
        [0, 0],
      ],
    );
  });

  it('says peer hits, never HITM', () => {
    assert.deepEqual(heats(peerReport(), 'hitm').map(heatText), ['100 peer hits (100%), 2 threads read']);
  });

  it('weighs latencies', () => {
    const shown = hitmReport();
    const [hot] = heats(shown, 'latency');
    assert.ok(hot);
    assert.equal(hot.amount, 125 * 210 + 187 * 512 + 40 * 90);
    assert.equal(heatText(hot), '67% of load cycles, 2 threads read and write');
  });

  it('has no heat where nothing was hit', () => {
    const quiet = hitmReport({
      stats: statsOf({ localHitm: 0, remoteHitm: 0 }),
      lines: [pmuLine([pmuAccess({ plain: 10, stores: [5, 0, 0] })])],
    });
    assert.deepEqual([...heatsOf(quiet, 'hitm')], []);
  });
});
