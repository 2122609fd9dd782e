// `cacheline report` on a recording with data sources beside which heap blocks were recorded.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../extension/protocol/report';
import { Command, root } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const synth = join(root, 'build/release/native/tests/cacheline_synth');

const PAGE = 4096;
const LINE = 64;
const ALLOCATE = 1n;

/** An `allocations` file (docs/allocations.md) of blocks of a line each, from 1 ns on, whose call chains are not known. */
function allocationsOf(pid: number, addresses: readonly bigint[]): Buffer {
  const file = Buffer.alloc(2 * PAGE);
  file.write('CLHEAP1\0', 0);
  file.writeUInt32LE(1, 8);
  file.writeUInt32LE(PAGE, 12);
  const words = [64n, 64n, 20_000n, 10_000n, 16n, 0n, 0n, 0n, 0n, 0n, 2n, 1n, 0n, 0n];
  words.forEach((word, i) => file.writeBigUInt64LE(word, 16 + 8 * i));
  file.write('CLCHUNK\0', PAGE);
  file.writeBigUInt64LE(BigInt(PAGE), PAGE + 8);
  [1, pid, pid, 0].forEach((word, i) => file.writeUInt32LE(word, PAGE + 16 + 4 * i));
  const records = addresses.flatMap((address) => [ALLOCATE | (4n << 8n) | (address << 16n), 1n, BigInt(LINE), 0n]);
  records.forEach((word, i) => file.writeBigUInt64LE(word, PAGE + 80 + 8 * i));
  return file;
}

describe('cacheline report of heap blocks beside data sources', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  let recording: string;

  const output = async (...args: string[]): Promise<string> => {
    const { status, stdout, stderr } = await command.run(['report', '-i', recording, ...args], { cwd: folder.path });
    assert.equal(status, 0, stderr);
    return stdout;
  };
  const json = async (): Promise<Report> => {
    const report = JSON.parse(await output('--format', 'json')) as Report;
    assert.deepEqual(schemaErrors('cacheline-report-1', report), []);
    return report;
  };
  const heapLines = ({ lines }: Report): Report['lines'] =>
    lines.filter(({ space, accesses }) => space === 'pid 5000' && accesses.every(({ data }) => data.object === '[heap]'));

  beforeEach(() => {
    assert.ok(existsSync(synth), `${synth} is missing: run "npm run build" first`);
    recording = join(folder.path, 'synth.cacheline');
    mkdirSync(recording);
    const numbers = ['--samples', '20000', '--lines', '40', '--codes', '12', '--seed', '7'];
    execFileSync(synth, ['intel', '-o', join(recording, 'perf.data'), ...numbers]);
  });

  it('says in which block an access is, in every format, and counts as without the blocks', async () => {
    const before = await json();
    assert.ok(!(await output()).includes('Heap blocks of the data above'));
    const [line] = heapLines(before);
    assert.ok(line);
    writeFileSync(join(recording, 'allocations'), allocationsOf(5000, [BigInt(line.address)]));

    const after = await json();
    assert.deepEqual(after.warnings, before.warnings);
    assert.deepEqual(after.stats, before.stats);
    assert.deepEqual(
      after.lines.map(({ address, records, verdict }) => [address, records, verdict]),
      before.lines.map(({ address, records, verdict }) => [address, records, verdict]),
    );
    const inBlocks = after.lines.filter(({ accesses }) => accesses.some(({ data }) => (data.allocation ?? null) !== null));
    assert.deepEqual(
      inBlocks.map(({ address, space }) => [address, space]),
      [[line.address, 'pid 5000']],
    );
    for (const { data } of inBlocks[0]!.accesses) {
      assert.equal(data.how, 'allocation');
      assert.equal(data.base, line.address);
      assert.equal(data.allocation?.size, LINE);
    }
    const text = await output('--width', '100');
    assert.match(
      text,
      new RegExp(`\\nHeap blocks of the data above\\n${line.address}: a block of 64 bytes allocated in an unknown function\\n`),
    );
    const csv = await output('--format', 'csv');
    assert.ok(csv.split('\n').some((row) => row.includes(line.address) && row.includes('64 bytes allocated in an unknown function+')));
  });

  it('warns where the blocks cannot be read', async () => {
    writeFileSync(join(recording, 'meta.json'), JSON.stringify({ heap: { sampling: 64, blocks: 1, lost: 0 } }));
    const missing = JSON.parse(await output('--format', 'json')) as Report;
    assert.ok(
      missing.warnings.some((text) => text.includes('no file `allocations`')),
      missing.warnings.join('\n'),
    );
    writeFileSync(join(recording, 'allocations'), 'nothing of the kind');
    const damaged = JSON.parse(await output('--format', 'json')) as Report;
    assert.ok(
      damaged.warnings.some((text) => text.includes('/allocations')),
      damaged.warnings.join('\n'),
    );
  });
});
