// The processes of this machine, as /proc tells (proc(5)): what can be attached to. Names and command lines are foreign text:
// whoever shows them makes them printable.
import { open, readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** PID_MAX_LIMIT of Linux on 64-bit machines. */
export const HIGHEST_PID = 4_194_304;

export interface ProcessInfo {
  pid: number;
  /** The program's name: of the kernel's 15 bytes, or where the command line continues them, from there. */
  name: string;
  uid: number;
  /** The user's name; the number where /etc/passwd has none. */
  user: string;
  threads: number;
  /** Empty where it cannot be read. */
  commandLine: string[];
  /** Share of one CPU: of the interval, or of its life where no interval was measured. */
  load: number;
}

export interface ProcessSearch {
  /** Of /proc and /etc; by default `/`. */
  root?: string;
  /** Between two looks at the CPU time: what is busy now comes first. 0: one look. */
  intervalMs?: number;
}

/** USER_HZ: what /proc counts CPU time in, on every architecture that Linux has. */
const TICKS_PER_SECOND = 100;
/** include/linux/sched.h */
const PF_KTHREAD = 0x0020_0000;
const COMM_BYTES = 15;
/** Of a command line; what is longer is cut. */
const MAX_COMMAND_BYTES = 4096;

interface Stat {
  comm: string;
  state: string;
  parent: number;
  flags: number;
  cpuTicks: number;
  threads: number;
  startTicks: number;
}

/**
 * The process's line in /proc/PID/stat. The name stands in parentheses and may hold anything, parentheses and spaces too.
 * @returns undefined where it is no such line
 */
export function parseStat(text: string): Stat | undefined {
  const end = text.lastIndexOf(')');
  const begin = text.indexOf('(');
  if (begin < 0 || end < begin) return undefined;
  // Field 3, the state, is the first behind the name.
  const fields = text
    .slice(end + 1)
    .trim()
    .split(' ');
  const number = (field: number): number => Number(fields[field - 3]);
  const stat = {
    comm: text.slice(begin + 1, end),
    state: fields[0] ?? '',
    parent: number(4),
    flags: number(9),
    cpuTicks: number(14) + number(15),
    threads: number(20),
    startTicks: number(22),
  };
  return [stat.flags, stat.cpuTicks, stat.threads, stat.startTicks].every(Number.isFinite) ? stat : undefined;
}

/** The real user of /proc/PID/status; undefined where it says none. */
export function parseUid(status: string): number | undefined {
  const uid = /^Uid:\s+(\d+)/m.exec(status)?.[1];
  return uid === undefined ? undefined : Number(uid);
}

/** Names by number, from the text of /etc/passwd. */
export function parseUsers(passwd: string): Map<number, string> {
  const users = new Map<number, string>();
  for (const line of passwd.split('\n')) {
    const [name, , uid] = line.split(':');
    if (name !== undefined && name !== '' && uid !== undefined && /^\d+$/.test(uid) && !users.has(Number(uid)))
      users.set(Number(uid), name);
  }
  return users;
}

/**
 * Every process but zombies and threads of the kernel, in no order. What ends meanwhile, or hides from this user, is left out.
 * Rejects where there is no /proc.
 */
export async function listProcesses({ root = '/', intervalMs = 0 }: ProcessSearch = {}): Promise<ProcessInfo[]> {
  const folder = join(root, 'proc');
  const pids = (await readdir(folder)).filter((name) => /^\d+$/.test(name));
  const users = parseUsers((await optional(join(root, 'etc/passwd'))) ?? '');
  const before = intervalMs > 0 ? await Promise.all(pids.map((pid) => statOf(folder, pid))) : [];
  const since = performance.now();
  if (intervalMs > 0) await sleep(intervalMs);
  const seconds = (performance.now() - since) / 1000;
  const uptime = Number((await optional(join(folder, 'uptime')))?.split(' ')[0] ?? NaN);
  const found = await Promise.all(
    pids.map(async (pid, index) => {
      const earlier = before[index];
      const loadOf = ({ cpuTicks, startTicks }: Stat): number => {
        if (earlier?.startTicks === startTicks) return (cpuTicks - earlier.cpuTicks) / TICKS_PER_SECOND / seconds;
        const age = uptime - startTicks / TICKS_PER_SECOND;
        return age > 0 ? cpuTicks / TICKS_PER_SECOND / age : 0;
      };
      return describe(folder, pid, users, loadOf);
    }),
  );
  return found.filter((process) => process !== undefined);
}

/** One process; undefined where there is none of that number, or it is a zombie or a thread of the kernel. */
export async function findProcess(pid: number, { root = '/' }: Pick<ProcessSearch, 'root'> = {}): Promise<ProcessInfo | undefined> {
  const users = parseUsers((await optional(join(root, 'etc/passwd'))) ?? '');
  return describe(join(root, 'proc'), String(pid), users, () => 0);
}

/**
 * What runs of a program that this process started at `since` (ms since 1970) or later, and that has ended: it went to the background. Orphans have a new
 * parent: init, or an ancestor of this process that takes them.
 * @param program as it was called, by a path or by a name in PATH
 */
export async function orphansOf(program: string, since: number): Promise<number[]> {
  const folders = program.includes('/') ? [''] : (process.env['PATH'] ?? '').split(delimiter);
  const candidates = await Promise.all(folders.map((folder) => realpath(join(folder, program)).catch(() => '')));
  const executable = candidates.find((path) => path !== '');
  const uptime = Number((await optional('/proc/uptime'))?.split(' ')[0] ?? NaN);
  if (executable === undefined) return [];
  const earliest = uptime - (Date.now() - since) / 1000 - 1 / TICKS_PER_SECOND;
  const adopters = new Set([1]);
  for (
    let pid = (await statOf('/proc', String(process.ppid)))?.parent ?? 0;
    pid > 1;
    pid = (await statOf('/proc', String(pid)))?.parent ?? 0
  )
    adopters.add(pid);
  const found = await Promise.all(
    (await readdir('/proc')).map(async (pid) => {
      if (!/^\d+$/.test(pid) || (await readlink(join('/proc', pid, 'exe')).catch(() => '')) !== executable) return undefined;
      const stat = await statOf('/proc', pid);
      const orphan = stat !== undefined && stat.state !== 'Z' && adopters.has(stat.parent);
      return orphan && stat.startTicks / TICKS_PER_SECOND >= earliest ? Number(pid) : undefined;
    }),
  );
  return found.filter((pid) => pid !== undefined);
}

/** This user's first, then the busiest, then the newest. */
export function byInterest(processes: readonly ProcessInfo[], uid: number): ProcessInfo[] {
  const percent = ({ load }: ProcessInfo): number => Math.round(load * 100);
  return [...processes].sort((a, b) => Number(b.uid === uid) - Number(a.uid === uid) || percent(b) - percent(a) || b.pid - a.pid);
}

async function describe(
  folder: string,
  pid: string,
  users: ReadonlyMap<number, string>,
  loadOf: (stat: Stat) => number,
): Promise<ProcessInfo | undefined> {
  const stat = await statOf(folder, pid);
  const uid = parseUid((await optional(join(folder, pid, 'status'))) ?? '');
  if (stat === undefined || uid === undefined || stat.state === 'Z' || stat.state === 'X' || (stat.flags & PF_KTHREAD) !== 0)
    return undefined;
  const commandLine = await commandLineOf(join(folder, pid, 'cmdline'));
  return {
    pid: Number(pid),
    name: fullName(stat.comm, commandLine[0] ?? ''),
    uid,
    user: users.get(uid) ?? String(uid),
    threads: stat.threads,
    commandLine,
    load: loadOf(stat),
  };
}

function fullName(comm: string, program: string): string {
  const name = basename(program);
  return Buffer.byteLength(comm) >= COMM_BYTES && name.startsWith(comm) ? name : comm;
}

async function statOf(folder: string, pid: string): Promise<Stat | undefined> {
  const text = await optional(join(folder, pid, 'stat'));
  return text === undefined ? undefined : parseStat(text);
}

async function commandLineOf(path: string): Promise<string[]> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return [];
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_COMMAND_BYTES), 0, MAX_COMMAND_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return text === '' ? [] : text.replace(/\0+$/, '').split('\0');
  } catch {
    return []; // it ended while it was read
  } finally {
    await file.close();
  }
}

/** Processes end at any moment: what cannot be read is not there. */
async function optional(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
