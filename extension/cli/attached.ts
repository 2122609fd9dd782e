// What `record -p` and `-t` attach to, by /proc: for the recording's name and for the person. The engine judges whether it may.
import { readFile } from 'node:fs/promises';
import type { AttachTarget } from '../protocol/engine';
import { findProcess } from '../session/record/processes';
import { attachedName } from '../session/record/recording-folder';
import { plural } from '../session/text/terminal-text';

export interface Attached {
  /** For the recording's folder: of the first process, `machine` for all of them. */
  name: string;
  /** "build (pid 17, 4 threads), ld (pid 18, 1 thread)" */
  text: string;
}

export async function describeAttached(target: AttachTarget, cpus: readonly number[] = []): Promise<Attached> {
  if (target.kind === 'system')
    return { name: 'machine', text: `the whole machine${cpus.length === 0 ? '' : ` on CPU ${cpus.join(', ')}`}` };
  const found = await Promise.all(target.ids.map((id) => describe(id, target.kind === 'threads')));
  return { name: found[0]?.name ?? 'process', text: found.map(({ text }) => text).join(', ') };
}

async function describe(id: number, isThread: boolean): Promise<Attached> {
  const status = await readFile(`/proc/${id}/status`, 'utf8').catch(() => '');
  const field = (name: string): string => new RegExp(`^${name}:\\t(.*)$`, 'm').exec(status)?.[1] ?? '';
  const called = unescaped(field('Name'));
  const pid = isThread ? Number(field('Tgid')) : id;
  const process = (await findProcess(pid))?.name ?? called;
  const name = attachedName({ name: process, pid });
  if (called === '') return { name, text: `${isThread ? 'thread' : 'process'} ${id}` };
  if (isThread) return { name, text: `${called} (thread ${id} of ${process}, pid ${pid})` };
  return { name, text: `${process} (pid ${id}, ${plural(Number(field('Threads')), 'thread')})` };
}

/** /proc/PID/status writes a newline as \n and a backslash as two. */
function unescaped(text: string): string {
  return text.replace(/\\(n|\\)/g, (_, what: string) => (what === 'n' ? '\n' : '\\'));
}
