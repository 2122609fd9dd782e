// The size of a CPU's ring buffer as `perf record -m` takes it.
import { readFileSync } from 'node:fs';
import { wrong } from './options';

const UNITS: Record<string, number> = { B: 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const LARGEST = 1024 ** 3;
const USUAL_PAGE = 4096;
const AT_PAGESZ = 6n; // <elf.h>

/**
 * @param text pages, or a number with B, K, M or G
 * @returns bytes, a power of two of at least a page
 * @throws EngineError 'usage'
 */
export function ringBytes(text: string, page = pageBytes()): number {
  const [, digits, unit] = /^(\d{1,10})([BKMG]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * (unit ? (UNITS[unit.toUpperCase()] ?? NaN) : page);
  if (Number.isInteger(Math.log2(bytes)) && bytes >= page && bytes <= LARGEST) return bytes;
  throw wrong(
    `-m takes a power of two, in pages of ${page} bytes or with B, K, M or G, from one page to 1G for each CPU, not '${text}'.`,
    'record',
  );
}

/** The kernel tells every process in its auxiliary vector: pairs of 64-bit numbers. */
function pageBytes(): number {
  const vector = readFileSync('/proc/self/auxv');
  for (let at = 0; at + 16 <= vector.length; at += 16)
    if (vector.readBigUInt64LE(at) === AT_PAGESZ) return Number(vector.readBigUInt64LE(at + 8));
  return USUAL_PAGE;
}
