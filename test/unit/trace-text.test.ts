// The text and the drawing of `cacheline trace`, of made-up values.
import assert from 'node:assert/strict';
import type { Trace } from '../../extension/protocol/trace';
import { COLOURED, displayWidth, PLAIN } from '../../extension/session/text/terminal-text';
import { withCosts } from '../../extension/session/trace/trace-costs';
import { traceSvg } from '../../extension/session/trace/trace-svg';
import { traceText } from '../../extension/session/trace/trace-text';
import { timeText } from '../../extension/session/trace/trace-values';
import { matchGolden } from './golden';
import { schemaErrors } from './schemas';
import { costedPackets, hostileTrace, noObjects, packets, variable } from './trace-builder';
import { typeErrors } from './typed';
import { checkXml } from './xml';

const values: Record<string, Trace> = {
  packets: packets(),
  costs: costedPackets(),
  hostile: hostileTrace(),
  variable: variable(),
  none: noObjects(),
};

describe('trace text', () => {
  for (const [name, trace] of Object.entries(values)) {
    it(`of ${name} is no wider than it may be, and its values are as documented`, () => {
      assert.deepEqual(schemaErrors('cacheline-trace-1', trace), []);
      const type = { type: 'Trace', text: JSON.stringify(trace) };
      assert.deepEqual(typeErrors([`import type { Trace } from '../../extension/protocol/trace';`], [type]), []);
      for (const width of [80, 120]) {
        const text = traceText(trace, { width, style: PLAIN });
        for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width, line);
        assert.ok(!text.includes('\u001b'));
      }
    });

    it(`the drawing of ${name} is a whole document with all names escaped`, () => {
      const svg = traceSvg(trace);
      checkXml(svg);
      assert.ok(!svg.includes('\u001b') && !svg.includes('<script'));
    });
  }

  it('in 80 columns', () => matchGolden('trace-costs-80.txt', traceText(costedPackets(), { width: 80, style: PLAIN })));

  it('of a variable has windows of time, which nobody allocates or frees', () => {
    const text = traceText(variable(), { width: 80, style: PLAIN });
    assert.match(text, /^packet\n {2}212 windows [^]*\nPath 1: 212 windows \(100\.0%\)\n/);
    assert.doesNotMatch(text, /objects|allocates|free|samples/);
  });

  it('of no object has no path', () => {
    const text = traceText(noObjects(), { width: 80, style: PLAIN });
    assert.match(text, /^packet\n {2}0 objects followed/);
    assert.doesNotMatch(text, /Path/);
  });

  it('shows hostile names as text, and of many members how many more there are', () => {
    const text = traceText(hostileTrace(), { width: 80, style: PLAIN });
    assert.match(text, /\n {2}<script>alert\("1"\)<\/script>&\\x1b\[2J cannot be read\.\n/);
    assert.match(text, / writes\n(?: +<script>alert….*\n){8} +and 32 more\n/);
  });

  it('gives a step the samples of its function, its kind of access and its members', () => {
    const { costReason, paths } = costedPackets();
    assert.equal(costReason, null);
    assert.deepEqual(
      paths[2]!.steps.map((step) => [step.function, step.access, step.cost]),
      [
        ['make_packet', 'write', 0.03],
        ['route_packet', 'read', 0.1],
        ['route_packet', 'write', 0],
        ['poll', 'read-write', 0.05],
        ['(unknown)', 'unknown', null],
      ],
    );
    const without = withCosts(packets(), [], 1000);
    assert.equal(without.costReason, 'the samples have none at objects of the type packet');
    assert.deepEqual(without.paths, packets().paths);
  });

  it('marks where the object gets to another CPU, in colour where there is one', () => {
    const crossings = (style: typeof PLAIN): number =>
      traceText(packets(), { width: 80, style })
        .split('\n')
        .filter((line) => line.includes('another CPU')).length;
    const wanted = packets()
      .paths.flatMap(({ steps, freed }) => [...steps, freed])
      .filter((step) => step?.cpuChanged === true).length;
    assert.equal(crossings(PLAIN), wanted);
    assert.equal(crossings(COLOURED), wanted);
    assert.equal(traceSvg(packets()).match(/class="x"/g)?.length, wanted);
  });

  it('shows the ten most frequent paths and counts the rest', () => {
    const trace = packets();
    trace.paths = Array.from({ length: 13 }, () => structuredClone(trace.paths[1]!));
    const text = traceText(trace, { width: 80, style: PLAIN });
    assert.match(text, /^Path 10:/m);
    assert.doesNotMatch(text, /^Path 11:/m);
    assert.match(text, /^3 more paths of 33 objects; JSON has all\.$/m);
  });

  it('writes times with three digits', () => {
    assert.deepEqual([0, 999, 1000, 52_400, 1_234_567, 2.5e9].map(timeText), ['0 ns', '999 ns', '1.0 us', '52.4 us', '1.23 ms', '2.50 s']);
  });
});
