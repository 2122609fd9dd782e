// What watching with debug registers can do to a program on a virtual machine. Some hypervisors lose why a trap came (the register DR6). Linux
// takes such a trap for an INT1 instruction and sends SIGTRAP, which ends a program that does not handle it.
import { readFile } from 'node:fs/promises';
import type { RecordParams, RecordResult } from '../../protocol/engine';

const SIGTRAP = 5;

/** Before a process is watched that we did not start: a sentence; undefined: there is nothing to fear. @param cpuinfo of /proc/cpuinfo */
export function watchHazard({ watch, attach }: Pick<RecordParams, 'watch' | 'attach'>, cpuinfo: string): string | undefined {
  if (watch === undefined || attach === undefined || !/^flags\s*:.* hypervisor\b/m.test(cpuinfo)) return undefined;
  return (
    'this is a virtual machine. Some hypervisors lose the reason of a watchpoint’s trap, and the watched process then ends by SIGTRAP: ' +
    'leave --watch and --confirm out where that must not happen'
  );
}

/** For the warnings of a recording: a program that was watched ended so. */
export function endedByTrap({ watch }: Pick<RecordParams, 'watch'>, { signal }: Pick<RecordResult, 'signal'>): string | undefined {
  if (watch === undefined || signal !== SIGTRAP) return undefined;
  return (
    'the program ended by SIGTRAP while words of it were watched. On a virtual machine the hypervisor can lose the reason of a watchpoint’s ' +
    'trap, which has this effect: record without --watch and --confirm'
  );
}

/** @returns empty where there is none */
export async function readCpuInfo(): Promise<string> {
  try {
    return await readFile('/proc/cpuinfo', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
