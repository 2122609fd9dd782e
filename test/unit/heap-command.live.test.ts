// `cacheline record --heap` end to end: the agent beside the packaged addon, in real programs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordingMeta } from '../../extension/protocol/recording';
import type { Report } from '../../extension/protocol/report';
import { Command } from './command';
import { temporaryFolder } from './fixtures';
import { schemaErrors } from './schemas';

const LOOP = 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo "end $*"; exit 9';

/** Two threads add to a block from a function that allocates for everybody. */
const WRAPPED = `
#include <pthread.h>
#include <stdlib.h>
struct pair { long own[16]; };
static void *xmalloc(size_t size) {
  void *block = malloc(size);
  if (!block) abort();
  return block;
}
static struct pair *make_pair(void) { return xmalloc(sizeof(struct pair)); }
static void *body(void *word) {
  for (long i = 0; i < 50000000; i++) __atomic_fetch_add((long *)word, 1, __ATOMIC_SEQ_CST);
  return 0;
}
int main(void) {
  pthread_t threads[2];
  struct pair *pair = make_pair();
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, body, &pair->own[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
`;

describe('cacheline record --heap', function () {
  this.timeout(60_000);
  const command = new Command();
  command.install();
  const folder = temporaryFolder();
  const metaOf = (recording: string): RecordingMeta => {
    const meta = JSON.parse(readFileSync(join(recording, 'meta.json'), 'utf8')) as RecordingMeta;
    assert.deepEqual(schemaErrors('cacheline-recording-1', meta), []);
    return meta;
  };

  it('leaves output and status to the program, and says how many blocks there are', async () => {
    const recording = join(folder.path, 'heap');
    const args = ['record', '--heap', '--heap-sampling', '7', '-o', recording, '--', '/bin/sh', '-c', LOOP, 'sh', '--heap'];
    const { status, stdout, stderr } = await command.run(args, { cwd: folder.path });
    assert.equal(status, 9, stderr);
    assert.equal(stdout, 'end --heap\n');
    assert.deepEqual(readdirSync(recording).sort(), ['allocations', 'blocked.jsonl', 'meta.json', 'perf.data']);
    const { heap } = metaOf(recording);
    assert.equal(heap?.sampling, 7);
    assert.ok(heap.blocks > 0);
    assert.ok(stderr.includes(`, ${heap.blocks.toLocaleString('en')} heap blocks, recorded in `), stderr);
  });

  it('names who called what allocated a block', async () => {
    const [source, program, recording] = ['wrapped.c', 'wrapped', 'wrapped.cacheline'].map((name) => join(folder.path, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(source, WRAPPED);
    execFileSync('gcc', ['-g', '-O0', '-pthread', '-o', program, source]);
    const recorded = await command.run(['record', '--heap', '-F', '999', '-o', recording, '--', program], { cwd: folder.path });
    assert.equal(recorded.status, 0, recorded.stderr);
    const { status, stdout, stderr } = await command.run(['report', '-i', recording, '--format', 'json'], { cwd: folder.path });
    assert.equal(status, 0, stderr);
    const block = (JSON.parse(stdout) as Report).lines[0]?.accesses[0]?.data.allocation;
    assert.equal(block?.function, 'xmalloc');
    assert.deepEqual(
      block.callers?.map((caller) => caller.function),
      ['make_pair', 'main'],
    );
  });

  for (const { name, compiler, blocks } of [
    { name: 'two-blocks.c', compiler: 'gcc', blocks: ['long int[2] of make_hits:5', 'long int[3] of make_misses:9'] },
    { name: 'two-blocks.cpp', compiler: 'g++', blocks: ['Cursor of open_cursor:16', 'Session of open_session:12'] },
  ])
    it(`names the places of both small blocks on a line: ${name}`, async () => {
      const source = join(__dirname, '../fixtures', name);
      const [program, recording] = [join(folder.path, `of-${name}`), join(folder.path, `${name}.cacheline`)];
      execFileSync(compiler, ['-g', '-O1', '-pthread', '-o', program, source]);
      const recorded = await command.run(['record', '--heap', '-F', '999', '-o', recording, '--', program], { cwd: folder.path });
      assert.equal(recorded.status, 0, recorded.stderr);
      const json = await command.run(['report', '-i', recording, '--format', 'json'], { cwd: folder.path });
      assert.equal(json.status, 0, json.stderr);
      const [line] = (JSON.parse(json.stdout) as Report).lines;
      assert.equal(line?.verdict, 'false sharing');
      const found = line.accesses.map(({ data: { type, allocation } }) => `${type} of ${allocation?.function}:${allocation?.line}`);
      assert.deepEqual([...new Set(found)].sort(), blocks);
      assert.ok(line.accesses.every(({ data }) => data.allocation?.file === source));
      const text = (await command.run(['report', '-i', recording, '--width', '200'], { cwd: folder.path })).stdout;
      for (const { data } of line.accesses) {
        const { function: allocator = '', line: at } = data.allocation ?? {};
        const site = `allocated in ${allocator} (${name}:${at})`;
        assert.match(text, new RegExp(`^ +\\S+.*  ${site.replace(/[()]/g, '\\$&')}$`, 'm'));
      }
    });

  it('replaces such a recording with --force', async () => {
    const recording = join(folder.path, 'again');
    for (const args of [['--heap'], ['--force']]) {
      const { status, stderr } = await command.run(['record', ...args, '-o', recording, '--', '/bin/sh', '-c', LOOP], { cwd: folder.path });
      assert.equal(status, 9, stderr);
    }
    assert.equal(metaOf(recording).heap, null);
    assert.deepEqual(readdirSync(recording).sort(), ['blocked.jsonl', 'meta.json', 'perf.data']);
  });

  it('without the agent it records nothing, and says what to do', async () => {
    const agent = join(command.package, 'dist/native/libcacheline_heap.so');
    rmSync(agent);
    const { status, stdout, stderr } = await command.run(['record', '--heap', '--', '/bin/true'], { cwd: folder.path });
    assert.equal(status, 4, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, /libcacheline_heap\.so.*No such file/);
    assert.ok(!readdirSync(folder.path).some((name) => name.startsWith('true')));
  });
});
