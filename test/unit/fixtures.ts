// The stored reports, and temporary folders that go away after the test.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CacheLine, Report } from '../../extension/protocol/report';

const REPORTS = join(__dirname, '../fixtures/reports');

export const reportNames = readdirSync(REPORTS)
  .filter((name) => name.endsWith('.json'))
  .map((name) => name.slice(0, -'.json'.length))
  .sort();

export function reportFixture(name: string): Report {
  return JSON.parse(reportFixtureText(name)) as Report;
}

export function reportFixtureText(name: string): string {
  return readFileSync(join(REPORTS, `${name}.json`), 'utf8');
}

/** Makes a folder before each test of the surrounding `describe` and removes it after. */
export function temporaryFolder(): { readonly path: string } {
  const folder = { path: '' };
  beforeEach(() => {
    folder.path = realpathSync(mkdtempSync(join(tmpdir(), 'cacheline-test-')));
  });
  afterEach(() => rmSync(folder.path, { recursive: true, force: true }));
  return folder;
}

/**
 * That of at most one in twenty samples the address is not known, and that at most a quarter have no access (of programs that yield, a
 * machine decides how many), the kernel's left out. Five standard deviations more are chance (a truth of one in twenty would fail once in
 * millions of recordings; the examples' own share is at most one in twenty-five).
 */
export function assertAttributed({ total, attributed, unattributed }: Report['samples']): void {
  const judged = total - unattributed.kernel;
  const without = unattributed.noMemoryOperand;
  const few = (count: number, share: number): boolean => count <= judged * share + 5 * Math.sqrt(judged * share);
  assert.ok(few(judged - attributed - without, 1 / 20) && few(without, 1 / 4), JSON.stringify({ total, attributed, unattributed }));
}

/** That a contended line is what it should be, as far as its samples can tell. */
export function assertVerdict({ verdict, verdictSure, falseShare }: CacheLine, ...wanted: (string | undefined)[]): void {
  const cannotTell = !verdictSure && ['false sharing', 'mixed', 'true sharing'].includes(verdict);
  assert.ok(wanted.includes(verdict) || cannotTell, `it is ${verdict} ${JSON.stringify(falseShare)}`);
}

/** Seconds of processor time that `body` takes: what a busy machine makes it wait does not count. */
export function cpuSeconds(body: () => void): number {
  const began = process.cpuUsage();
  body();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1e6;
}

/** Whether there is such a process, a zombie that nobody has waited for included. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    return false;
  }
}

/** The same without zombies: for orphans, which a container without an init leaves unreaped. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch (error) {
    assert.match(String((error as NodeJS.ErrnoException).code), /^(ENOENT|ESRCH)$/);
    return false;
  }
}
