// How each language writes what advice asks for. Sources: C11 6.7.5, C++17 [dcl.align], the Rust reference ("Type layout"), the crate
// crossbeam-utils, golang.org/x/sys/cpu, and the kernel's include/linux/cache.h.
import { t } from '../../protocol/l10n';
import { basename } from 'node:path';
import type { Advice, SourceLanguage } from '../../protocol/advice';
import { names } from './advice-names';

/** `header`: C or C++. */
export type Language = SourceLanguage | 'header' | 'kernel';

/** Of what is to be changed; of the kernel, by the name of its binary. */
export function languageOf({ change, language }: Advice): Language {
  const binary = change === null ? '' : 'type' in change ? change.type.binary : '';
  if (/^(?:vmlinux|\[kernel\b|\[guest\.kernel\b)|\.ko(?:\.(?:gz|xz|zst))?$/.test(basename(binary))) return 'kernel';
  return language ?? 'header';
}

/** Before a member or variable of C and C++, and of the kernel. `alignment`: bytes, as in all of these. */
function aligned(language: Language, alignment: number): string {
  switch (language) {
    case 'c':
      return t('`_Alignas({0})` (C23: `alignas({0})`)', alignment);
    case 'header':
      return t('`alignas({0})` (C before C23: `_Alignas({0})`)', alignment);
    case 'kernel':
      return '`____cacheline_aligned_in_smp`';
    default:
      return `\`alignas(${alignment})\``;
  }
}

/** A sentence without its first words: how each variable gets cache lines of its own. */
export function alignedVariables(language: Language, variables: readonly string[], alignment: number): string {
  switch (language) {
    case 'rust':
      return t('hold {0} in `crossbeam_utils::CachePadded`', names(variables));
    case 'go':
      return t('hold {0} in a struct with `_ cpu.CacheLinePad` (golang.org/x/sys/cpu) before and after it', names(variables));
    default:
      return t('write {0} before {1}', aligned(language, alignment), names(variables));
  }
}

/** The same: how to align a type. */
export function alignedType(language: Language, name: string, alignment: number): string {
  switch (language) {
    case 'rust':
      return t('write `#[repr(align({0}))]` before {1}, or hold each in `crossbeam_utils::CachePadded`', alignment, name);
    case 'go':
      return t('put `_ cpu.CacheLinePad` (golang.org/x/sys/cpu) first and last into {0}', name);
    case 'kernel':
      return t('write `____cacheline_aligned_in_smp` after the closing brace of {0}', name);
    case 'c':
      return t('write {0} before the first member of {1}', aligned(language, alignment), name);
    default:
      return t(
        'align {0}: `struct alignas({1})`{2}',
        name,
        alignment,
        language === 'header' ? t(' (C: `_Alignas({0})` before its first member)', alignment) : '',
      );
  }
}

/** The same: how members begin a cache line. */
export function startedLine(language: Language, alignment: number): string {
  switch (language) {
    case 'rust':
      return t('hold each group in a struct of its own in `crossbeam_utils::CachePadded`, and write `#[repr(C)]` before the outer one');
    case 'go':
      return t('put `_ cpu.CacheLinePad` (golang.org/x/sys/cpu) between the groups');
    case 'kernel':
      return t(
        'write `__cacheline_group_begin(NAME)` and `__cacheline_group_end(NAME)` around each group, and `____cacheline_aligned_in_smp` after its first member',
      );
    default:
      return t('write {0} before the first member of each group but the first', aligned(language, alignment));
  }
}

/** The same: how each element of an array gets cache lines of its own. */
export function stridedElements(language: Language, alignment: number): string {
  switch (language) {
    case 'rust':
      return t('make it an array of `crossbeam_utils::CachePadded` elements');
    case 'go':
      return t('make it an array of structs that hold the element and `_ cpu.CacheLinePad` (golang.org/x/sys/cpu)');
    case 'kernel':
      return t('make its element a structure with `____cacheline_aligned_in_smp`, or use `DEFINE_PER_CPU`');
    case 'c':
      return t('make its element a structure whose first member has {0}', aligned(language, alignment));
    default:
      return t('make its element a structure with {0}', aligned(language, alignment));
  }
}

/** The same: how the first row of an array begins a cache line. */
export function alignedRows(language: Language, alignment: number): string {
  switch (language) {
    case 'rust':
      return t('hold each row in `crossbeam_utils::CachePadded`');
    case 'go':
      return t('put `_ cpu.CacheLinePad` (golang.org/x/sys/cpu) behind each row');
    case 'kernel':
      return t('write `____cacheline_aligned_in_smp` behind the variable');
    default:
      return t('align the array ({0}, or `aligned_alloc({1}, SIZE)`)', aligned(language, alignment), alignment);
  }
}

/** The same: how each block gets cache lines of its own. */
export function alignedBlocks(language: Language, alignment: number): string {
  switch (language) {
    case 'rust':
      return t('write `#[repr(align({0}))]` before the type, which its allocations then keep', alignment);
    case 'go':
      return t('put `_ cpu.CacheLinePad` (golang.org/x/sys/cpu) first and last into its struct');
    case 'kernel':
      return t('make a cache of such objects with `SLAB_HWCACHE_ALIGN`');
    case 'c':
      return t('allocate with `aligned_alloc({0}, SIZE)`, SIZE rounded up to a multiple of {0}', alignment);
    default:
      return t(
        "align the type (`struct alignas({0})`), which `new` keeps since C++17; with C's calls, `aligned_alloc({0}, SIZE)`, SIZE rounded up to a multiple of {0}",
        alignment,
      );
  }
}

/** A copy for each thread, added up by who reads; no line is wider than 72 columns. */
export function perThreadSketch(language: Language, alignment: number): string[] {
  switch (language) {
    case 'rust':
      return [
        'static COPIES: [CachePadded<AtomicU64>; N] = …; // thread i: COPIES[i]',
        'let sum: u64 = COPIES.iter().map(|c| c.load(Relaxed)).sum();',
      ];
    case 'go':
      return ['var copies [n]struct { value atomic.Int64; _ cpu.CacheLinePad }', 'for i := range copies { sum += copies[i].value.Load() }'];
    case 'kernel':
      return ['DEFINE_PER_CPU(u64, count); // this_cpu_inc(count)', 'for_each_possible_cpu(cpu) sum += per_cpu(count, cpu);'];
    case 'c':
      return [
        `struct { _Alignas(${alignment}) long value; } copies[N]; // thread i: copies[i]`,
        'for (i = 0; i < N; ++i) sum += copies[i].value;',
      ];
    default:
      return [
        `struct alignas(${alignment}) Copy { long value; } copies[N]; // thread i: copies[i]`,
        'for (const Copy& copy : copies) sum += copy.value;',
      ];
  }
}
