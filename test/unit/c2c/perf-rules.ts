// How perf 6.1 tells lines apart, as far as the synthetic recordings reach. Where this is not what a line is (a cache line of
// one address space), the scenario's name says so.
import { type Rules, type Sample } from './recount';

const between = (address: bigint, start: bigint, end: bigint): boolean => address >= start && address < end;

/** As cacheline_synth places things. */
const KERNEL_IMAGE = [0xffffffff81000000n, 0xffffffff83000000n] as const;
const NOTHING_MAPPED = [0x700000000000n, 0x700000001000n] as const;
const KERNEL_MODE = 1;
const USER_MODE = 2;

function isUnmapped(sample: Sample): boolean {
  const address = sample.at;
  // perf looks for kernel addresses in the kernel's mappings only where the sample is of the kernel, and so on.
  if (sample.mode === KERNEL_MODE) return !between(address, ...KERNEL_IMAGE);
  return sample.mode !== USER_MODE || sample.address === '0' || address >= 1n << 63n || between(address, ...NOTHING_MAPPED);
}

function lineOf(sample: Sample): string {
  const address = sample.at;
  const line = (address - (address % 64n)).toString(16);
  if (isUnmapped(sample) || sample.mode === KERNEL_MODE) return `mode ${sample.mode} ${isUnmapped(sample) ? 'nothing' : 'kernel'} ${line}`;
  if (sample.space.startsWith('file 0:1:')) return `file ${line}`; // System V: no file, so no offset
  if (sample.space.startsWith('file ')) return `${sample.space} ${sample.key}`;
  const isAnonymous = between(address, 0x2000000n, 0x3000000n) || between(address, 0x7f1000000000n, 0x7f2000000000n);
  return isAnonymous ? `${sample.space} ${line}` : `program ${line}`;
}

export const perfRules = (cpus: number): Rules => ({ lineOf, isUnmapped, cpus });

/** What a line is by docs/outputs.md: samples without an address or a data source are accesses to none. */
export const reportRules = (cpus: number): Rules => ({
  ...perfRules(cpus),
  lineOf: ({ space, key }) => `${space} ${key}`,
  isNoAccess: ({ address, source }) => address === '0' || (BigInt(`0x${source}`) & 0x6n) === 0n,
});

/** The same for lines of 128 bytes. */
export const doubleLineRules = (cpus: number): Rules => ({
  ...reportRules(cpus),
  lineOf: ({ space, key }) => `${space} ${BigInt(`0x${key}`) >> 7n}`,
  lineSize: 128,
});
