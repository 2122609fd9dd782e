// What is known of a machine, for a person: each fact's name in words, its value with its unit. Settings of the kernel keep their names.
import type { MachineFacts } from '../../protocol/engine';
import { t } from '../../protocol/l10n';
import { count, plural, printable } from '../text/terminal-text';

interface Fact {
  name: string;
  /** Of what is known and no list. By default as it is. */
  value?: (value: string | number) => string;
  /** Where there is none. By default, that none is known. */
  none?: string;
}

const bytes = (value: string | number): string => plural(Number(value), 'byte');

const FACTS: Readonly<Record<string, Fact>> = {
  hostname: { name: t('host name') },
  kernel: { name: t('kernel') },
  architecture: { name: t('architecture') },
  cpu: { name: t('CPU') },
  cpuId: { name: t('CPU identification') },
  cpus: { name: t('CPUs online') },
  numaNodes: { name: t('NUMA nodes') },
  lineSize: { name: t('cache line size'), value: bytes },
  hypervisor: { name: t('hypervisor') },
  container: { name: t('container') },
  pmus: { name: t('PMUs') },
  perfEventParanoid: { name: 'kernel.perf_event_paranoid' },
  perfEventMlockKb: { name: 'kernel.perf_event_mlock_kb', value: (value) => `${text(value)} KiB` },
  maxSampleRate: { name: 'kernel.perf_event_max_sample_rate', value: (value) => t('{0} samples a second', text(value)) },
  kptrRestrict: { name: 'kernel.kptr_restrict' },
  ptraceScope: { name: 'kernel.yama.ptrace_scope' },
  memlockBytes: { name: t('limit of locked memory'), value: bytes, none: t('unlimited') },
  capabilities: { name: t('capabilities') },
  initialUserNamespace: { name: t('in the initial user namespace') },
  seccomp: { name: t('seccomp mode'), value: (mode) => SECCOMP_MODES[Number(mode)] ?? text(mode) },
  lockdown: { name: t('kernel lockdown') },
  debugRegisters: { name: t('free debug registers') },
};

/** As /proc/PID/status numbers them. */
const SECCOMP_MODES: readonly string[] = [t('off'), t('strict'), t('filter')];

/** In the order of the report, made printable. A fact that has no words here has the engine's name. */
export function machineFacts(machine: MachineFacts): { name: string; value: string }[] {
  return Object.entries(machine).map(([key, value]) => {
    const fact = FACTS[key] ?? { name: key };
    return { name: printable(fact.name), value: printable(valueText(value, fact)) };
  });
}

function valueText(value: unknown, { value: withUnit = text, none = t('none known') }: Fact): string {
  if (value === null || value === '') return none;
  if (typeof value === 'boolean') return value ? t('yes') : t('no');
  if (Array.isArray(value)) return value.length === 0 ? t('none') : value.join(', ');
  return typeof value === 'string' || typeof value === 'number' ? withUnit(value) : JSON.stringify(value);
}

function text(value: string | number): string {
  return typeof value === 'number' ? count(value) : value;
}
