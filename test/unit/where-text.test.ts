// The text and the drawing of `cacheline where`, of made-up values.
import assert from 'node:assert/strict';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { LiveWhere, Where } from '../../extension/protocol/where';
import { COLOURED, displayWidth } from '../../extension/session/text/terminal-text';
import { recordedWhere } from '../../extension/session/where/recorded-where';
import { whereSvg } from '../../extension/session/where/where-svg';
import { whereText } from '../../extension/session/where/where-text';
import { cacheSize, cpuList, overTime } from '../../extension/session/where/where-values';
import { matchGolden } from './golden';
import { statsOf } from './report-builder';
import { schemaErrors } from './schemas';
import { typeErrors } from './typed';
import { machineOf, threadOn, whereOfOneNode, whereOfTwoNodes } from './where-builder';
import { checkXml } from './xml';

const ESCAPE = '\u001b';

describe('where text', () => {
  const values: Record<string, LiveWhere> = {
    'two-nodes': whereOfTwoNodes(),
    'one-node': whereOfOneNode(),
  };

  for (const [name, where] of Object.entries(values)) {
    it(`of ${name} has values as documented`, () => {
      assert.deepEqual(schemaErrors('cacheline-where-1', where), []);
      assert.deepEqual(
        typeErrors([`import type { Where } from '../../extension/protocol/where';`], [{ type: 'Where', text: JSON.stringify(where) }]),
        [],
      );
    });
  }

  /** In words, wherever lines break. */
  const flat = (where: Where): string => whereText(where, { width: 80 }).replace(/\s+/g, ' ');

  it('of two nodes in 80 columns', () => matchGolden('where-two-nodes-80.txt', whereText(whereOfTwoNodes(), { width: 80 })));

  it('of one node says that all memory is equally near, and why it is not known where memory is', () => {
    const text = flat(whereOfOneNode());
    assert.match(text, /^Machine 1 package, 1 NUMA node, 4 cores, 8 CPUs .* L3 cache, 32 MiB, .* CPUs 0-7 /);
    assert.match(text, / Memory of server \(process 4711\) not known: \/proc\/4711\/numa_maps is not readable [^.]* root\. /);
    assert.match(text, / thread name ran CPUs 4713 worker 3\.00 s 5 1 thread did not run\. 0\.12 s of CPU time are missing/);
    assert.match(text, / Conclusion .*one NUMA node: all memory is equally near/);
    assert.doesNotMatch(text, /numactl/);
  });

  it('of a recording says what it holds, and what not', () => {
    const stats = statsOf({ ldL1: 60, ldL2: 10, ldLlc: 4, localDram: 1, remoteHitm: 20, remoteHit: 3, remoteDram: 2, ldFillBuffer: 900 });
    const machine = machineOf(2);
    const placement = {
      seconds: 1.4,
      looks: 3,
      nodes: whereOfTwoNodes().nodes,
      threads: [{ tid: 4713, pid: 4711, name: 'worker', cpuRunNs: { 0: 1e9, [machine.nodes[1]!.cpus[0]!]: 3e9 } }],
    };
    const recording = { topology: machine, placement } as unknown as RecordingMeta;
    const recorded: Record<string, Where> = {
      'recorded-looks': recordedWhere({ stats, recording, warnings: [] }),
      'recorded-bare': recordedWhere({ stats, recording: null, warnings: ['the recording was not finished'] }),
      'recorded-clock': recordedWhere({
        stats: { ...stats, ldL1: null, ldL2: null, ldLlc: null, localDram: null, remoteHitm: null, remoteHit: null, remoteDram: null },
        recording: { topology: machineOf(1) } as unknown as RecordingMeta,
        warnings: [],
      }),
    };
    assert.deepEqual(
      Object.values(recorded).map(({ remoteShare }) => remoteShare),
      [0.25, 0.25, null],
    );
    assert.deepEqual(recorded['recorded-looks']!.threads[0]!.runNs, { 0: 1e9, 1: 3e9 });
    const looks = flat(recorded['recorded-looks']!);
    assert.match(
      looks,
      / Memory node huge heap stack other total share 0 512\.0 MB .* 92\.0% 1 0\.0 kB .* all 512\.0 MB .* 1\.0 GB 100\.0% /,
    );
    assert.match(looks, / Threads, looked at 3 times in 1\.4 s thread name ran node 0 node 1 CPUs 4713 worker 4\.00 s 25% 75% 4, 0 /);
    assert.match(looks, / Conclusion .*25\.0% [^.]*another node/);
    const bare = flat(recorded['recorded-bare']!);
    assert.match(
      bare,
      /^Machine not known: .* Memory not known: .*meta\.json .* Threads not known Conclusion .* Warnings The recording was not finished/,
    );
    const clock = flat(recorded['recorded-clock']!);
    assert.match(clock, / Memory not known: [^.]*one node .* Threads not known Conclusion [^%]* only a memory PMU/);
    for (const where of Object.values(recorded)) {
      assert.deepEqual(schemaErrors('cacheline-where-1', where), []);
      for (const width of [60, 120])
        for (const line of whereText(where, { width }).split('\n')) assert.ok(displayWidth(line) <= width, line);
    }
  });

  it('of a recording that was cut says so, and by what', () => {
    const whole = { target: { kind: 'command' }, durationSeconds: 1, interrupted: false, program: { exitStatus: 0, signal: null } };
    const warningsOf = (more: object): string[] =>
      recordedWhere({ stats: statsOf({}), recording: { ...whole, ...more } as unknown as RecordingMeta, warnings: ['more'] }).warnings;
    assert.deepEqual(warningsOf({}), ['more']);
    assert.deepEqual(warningsOf({ durationSeconds: 0, program: null }), [
      'The recording is incomplete: it is still running, or its recorder was killed.',
      'more',
    ]);
    const stopped = { interrupted: true, program: { exitStatus: null, signal: 15 } };
    assert.deepEqual(warningsOf(stopped), ['The recording was stopped before its program ended.', 'more']);
    assert.deepEqual(warningsOf({ ...stopped, target: { kind: 'processes' }, program: null }), ['more']);
    assert.deepEqual(warningsOf({ program: { exitStatus: null, signal: 9 } }), ['The recorded program was killed by signal 9.', 'more']);
  });

  it('cacheline-where/1 requires every field of the types', () => {
    const where = whereOfTwoNodes() as unknown as Record<string, unknown>;
    const unnoticed: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        const holder = value as Record<string, unknown>;
        if (!Array.isArray(value) && !/^\d+$/.test(key)) {
          Reflect.deleteProperty(holder, key);
          if (schemaErrors('cacheline-where-1', where).length === 0) unnoticed.push(`${path}/${key}`);
          holder[key] = inner;
        }
        if (!/^[1-9]\d*$/.test(key)) visit(inner, `${path}/${key}`); // of lists the first
      }
    };
    visit(where, '');
    assert.deepEqual(unnoticed, []);
    assert.notDeepEqual(schemaErrors('cacheline-where-1', { ...where, remoteShare: 2 }), []);
    assert.notDeepEqual(schemaErrors('cacheline-where-1', { ...where, schema: 'cacheline-where/2' }), []);
  });

  it('fits any width but for the command, hides control characters, and colours change no word', () => {
    for (const where of [...Object.values(values), { ...whereOfTwoNodes(), machine: machineOf(4) }]) {
      for (const width of [60, 80, 120, 200]) {
        const text = whereText(where, { width });
        for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width || line.includes('numactl'), `${width}: ${line}`);
        assert.ok(!text.includes(ESCAPE));
        const coloured = whereText(where, { width, style: COLOURED });
        assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), text);
      }
    }
  });

  it('counts the threads that it does not list', () => {
    const machine = machineOf(2);
    const where = { ...whereOfTwoNodes(), threads: Array.from({ length: 40 }, (_, i) => threadOn(machine, 100 + i, 'w', i % 16)) };
    const text = whereText(where, { width: 100 });
    assert.match(text, /16 more threads ran less/);
    assert.equal(text.match(/^ +1\d\d {2}w /gm)?.length, 24);
  });
});

describe('where drawing', () => {
  it('is well-formed XML that shows each CPU and each thread, whatever the names are', () => {
    const where = whereOfTwoNodes();
    where.threads[0]!.name = '<script>"&\ufffe';
    const svg = whereSvg(where);
    checkXml(svg);
    assert.match(svg, /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" width="960" height="\d+"/);
    for (let cpu = 0; cpu < 16; cpu++) assert.match(svg, new RegExp(`>${cpu}</text>`));
    for (const { tid } of where.threads.slice(0, 4)) assert.match(svg, new RegExp(`>${tid} `));
    assert.match(svg, /4713 &lt;script&gt;&quot;&amp;\ufffd/);
    assert.match(svg, />node 0 \(package 0\): memory 920\.0 MB, 92\.0%</);
    assert.match(svg, />L3 32 MiB</);
    assert.match(svg, / L1 data 48 KiB for 2 CPUs, L1 instruction 32 KiB for 2 CPUs, L2 2 MiB for 2 CPUs\.</);
    assert.ok(!svg.includes(ESCAPE));
    matchGolden('where-two-nodes.svg', whereSvg(whereOfTwoNodes()));
  });

  it('is made of one node, of many and of a machine without caches', () => {
    checkXml(whereSvg(whereOfOneNode()));
    assert.match(whereSvg(whereOfOneNode()), /memory not known/);
    const many = { ...whereOfTwoNodes(), machine: machineOf(16) };
    many.nodes = many.machine.nodes.map(({ id, cpus }) => ({ id, cpus, bytes: 0, kinds: { huge: 0, heap: 0, stack: 0, other: 0 } }));
    checkXml(whereSvg(many));
    const bare = whereOfOneNode();
    bare.machine.caches = [];
    bare.machine.cores = [];
    assert.match(whereSvg(bare), />CPUs</);
  });
});

describe('where values', () => {
  it('are written as the kernel writes them', () => {
    assert.equal(cpuList([]), '');
    assert.equal(cpuList([0, 1, 2, 5, 7, 8]), '0-2,5,7-8');
    assert.equal(cacheSize(48 * 1024), '48 KiB');
    assert.equal(cacheSize(266240 * 1024), '260 MiB');
    assert.equal(cacheSize(null), '');
  });

  it('over time are those seen most often in each stretch', () => {
    const thread = threadOn(machineOf(1), 1, 'a', 3, 0, 0);
    thread.cpuOverTime = [1, 1, 2, null, null, null, 4];
    assert.deepEqual(overTime(thread, 3), [1, null, 4]);
    assert.deepEqual(overTime({ ...thread, cpuOverTime: [] }, 3), []);
  });
});
