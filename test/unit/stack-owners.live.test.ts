// Whose stack it is that threads fight over: a real program, recorded by the clock and by the agent.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Access, Report } from '../../extension/protocol/report';
import { mappingText, memoryName } from '../../extension/protocol/stack-owner';
import { objectName } from '../../extension/session/report/data-text';
import { lineHoverText } from '../../extension/session/hover/hover-text';
import { Command, root } from './command';
import { temporaryFolder } from './fixtures';
import { access, cacheLine, panelLine, report } from './report-builder';
import { schemaErrors } from './schemas';

describe('owners of stacks', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();

  const run = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await command.run(args, { cwd: folder.path });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const hottest = (accesses: readonly Access[]): Access => accesses.reduce((a, b) => (b.records > a.records ? b : a));

  for (const optimization of ['-O0', '-O2'])
    for (const collector of ['clock', 'agent'])
      it(`are named in a program built with ${optimization}, by the ${collector}`, async () => {
        const name = `stacks${optimization}-${collector}`;
        const program = join(folder.path, `program${optimization}`);
        execFileSync('gcc', [optimization, '-g', '-pthread', '-o', program, join(root, 'test/fixtures/lent-stacks.c')]);
        await run('record', '--collector', collector, '-o', name, '--', program);
        const result = JSON.parse(await run('report', name, '--format', 'json')) as Report;
        assert.deepEqual(schemaErrors('cacheline-report-1', result), []);
        const found = result.lines
          .filter(({ contended, accesses }) => contended > 0 && accesses.some(({ data }) => (data.stackOwner ?? null) !== null))
          .map((line) => {
            const { data } = hottest(line.accesses);
            assert.ok(data.stackOwner, JSON.stringify(line));
            const isMain = data.stackOwner.tid === data.stackOwner.pid;
            assert.ok(!isMain || data.stackOwner.pid === hottest(line.accesses).processes[0]);
            assert.ok(!line.threads.some(({ tid }) => tid === data.stackOwner?.tid), 'the owner itself does not use it');
            return `${line.verdict}: ${data.type}, ${isMain ? 'main' : data.stackOwner.comm}`;
          });
        assert.deepEqual(found.sort(), ['false sharing: int, main', 'false sharing: pair, lender']);
        const text = await run('report', name);
        assert.match(text, /in the stack of main\n/);
        assert.match(text, /in\s+the\s+stack\s+of\s+lender\s+\d+\n/);
      });

  it('are part of the names of what has no other, and of nothing else', () => {
    const worker = { pid: 10, tid: 12, comm: 'worker' };
    const data = { object: '[stack]', offset: 0, definition: null };
    const names = [{ ...worker, tid: 10 }, worker, { ...worker, comm: '' }, null].map((stackOwner) => memoryName({ ...data, stackOwner }));
    assert.deepEqual(names, ['[stack of main]', '[stack of worker 12]', '[stack of thread 12]', '[stack]']);
    assert.equal(objectName({ ...data, stackOwner: worker }), '[stack of worker 12]');
    assert.equal(objectName({ ...data, how: 'code', type: 'pair', stackOwner: worker }), 'pair (stack of worker 12)');
    assert.equal(objectName({ ...data, how: 'code', type: 'pair', stackOwner: null }), 'pair (stack)');
    assert.equal(memoryName(data), '[stack]', 'of reports of older versions');
    assert.equal(memoryName({ object: 'counters' }), 'counters');
  });

  it('are told by the panel and the hover', () => {
    const data = { object: '[stack]', offset: 8, definition: null, stackOwner: { pid: 10, tid: 12, comm: 'worker' } };
    const line = cacheLine([access({ data, writes: 9, threads: [1] }), access({ data, writes: 8, threads: [2] })], { mapping: '//anon' });
    assert.equal(mappingText(line), 'the stack of worker 12');
    assert.equal(mappingText(cacheLine([access()], { mapping: '//anon' })), 'anonymous memory');
    assert.equal(panelLine(line).objects, '[stack of worker 12]+8');
    const own = line.accesses.map((one) => ({ cacheLine: line, access: one }));
    assert.match(lineHoverText(report([line]), own, 'contended'), /\*\*`\[stack of worker 12\]\+8`\*\*/);
  });
});
