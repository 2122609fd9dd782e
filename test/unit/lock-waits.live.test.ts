// Which threads wait for a lock, and at which call: a program of which it is known.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ThreadsDocument } from '../../extension/protocol/threads';
import { Command, root } from './command';
import { schemaErrors } from './schemas';

/** What each thread waits for; null: for no lock. */
const TRUTH: Record<string, { lock: string; caller: RegExp } | null> = {
  mutex: { lock: 'pthread_mutex_lock', caller: /Pool::take/ },
  guard: { lock: 'pthread_mutex_lock', caller: /Pool::give/ },
  rwlock: { lock: 'pthread_rwlock_rdlock', caller: /read_shared/ },
  holder: null,
  condition: null,
  reader: null,
  sleeper: null,
};

describe('waiting for locks', function () {
  this.timeout(120_000);
  const command = new Command();
  command.install();
  let folder = '';

  const record = async (name: string, ...options: string[]): Promise<string> => {
    const args = ['record', '--collector', 'clock', ...options, '-o', name, '--', './lock-waits'];
    const { status, stderr } = await command.run(args, { cwd: folder });
    assert.equal(status, 0, stderr);
    return name;
  };
  const threads = async (name: string): Promise<ThreadsDocument> => {
    const { status, stdout, stderr } = await command.run(['threads', name, '--format', 'json'], { cwd: folder });
    assert.equal(status, 0, stderr);
    const document = JSON.parse(stdout) as ThreadsDocument;
    assert.deepEqual(schemaErrors('cacheline-threads-1', document), []);
    return document;
  };

  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-locks-')));
    const source = join(root, 'test/fixtures/lock-waits.cpp');
    execFileSync('c++', ['-std=c++20', '-O2', '-g', '-pthread', '-o', join(folder, 'lock-waits'), source]);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('names the lock and its caller, of those threads that wait for one', async () => {
    const name = await record('looks.cacheline');
    const document = await threads(name);
    for (const [comm, truth] of Object.entries(TRUTH)) {
      const thread = document.threads.find((each) => each.comm === comm);
      assert.ok(thread, `no thread is called ${comm}`);
      assert.ok((thread.blockedNs ?? 0) > 500e6, `${comm} was blocked ${thread.blockedNs} ns`);
      assert.ok(thread.locks, 'nobody looked');
      if (truth === null) {
        assert.deepEqual(thread.locks, [], comm);
        continue;
      }
      const [wait, ...others] = thread.locks;
      assert.ok(wait, `${comm} waits for no lock`);
      assert.deepEqual(others, []);
      assert.equal(wait.lock, truth.lock);
      assert.match(wait.caller, truth.caller);
      assert.ok(wait.ns > 500e6 && wait.ns <= (thread.blockedNs ?? 0), `${wait.ns} of ${thread.blockedNs}`);
    }
    assert.equal(statSync(join(folder, name, 'blocked.jsonl')).mode & 0o077, 0);
    const { stdout } = await command.run(['threads', name, '--no-pager', '--width', '200'], { cwd: folder });
    assert.match(stdout, /Thread \d+ \(mutex\) waits for a lock for [\d.]+ m?s\s\(pthread_mutex_lock,\scalled\sfrom\s[^.]*Pool::take\)\./);
  });

  it('looks at nobody without context switches', async () => {
    const name = await record('none.cacheline', '--no-switches');
    assert.ok(!existsSync(join(folder, name, 'blocked.jsonl')));
    rmSync(join(folder, 'looks.cacheline/blocked.jsonl'));
    const document = await threads('looks.cacheline');
    assert.ok(document.threads.length > 0);
    for (const { locks } of document.threads) assert.equal(locks, null);
  });
});
