// The made-up language of translated-texts.ts, and what stays English in it.

/** Of each Latin letter another one, of the Cyrillic script, so that different texts stay different. */
export function foreign(text: string): string {
  return text.replaceAll(/[A-Za-z]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0x3ef));
}

/** In the made-up recordings: names of data and code, and of threads, files and types. */
const DATA = 'cents closed cmd const count counters euros limit made name ns produced queue ready state struct ticks today total workers';
const CODE = 'consume lock mutex pop produce pthread push rdlock rwlock take work';
const OTHERS = 'Pool Queue Worker ada allocator cpp demo file home long pid program reader server src std unsigned worker writer';
/** The engine's own: collectors, evidence, spaces of addresses. */
const ENGINE = 'agent clock hitm kernel latency pmu';
/** What is typed or measured, and HTML. */
const UNITS = 'cacheline kB KiB ms nbsp type';
const NAMES: ReadonlySet<string> = new Set([DATA, CODE, OTHERS, ENGINE, UNITS].join(' ').split(' '));
/** Of the engine, too; numbers, and settings of the kernel. */
const ENGINE_TEXTS = [
  'Clock samples show where threads spend time.',
  'they were not asked for (--no-switches)',
  'samples were lost to throttling',
  /0x[0-9a-f]+/g,
  /kernel\.[a-z_.]+/g,
  'x86_64',
];

/** English words of a text, without names, hexadecimal numbers and sentences of the engine. */
export function englishWords(text: string): string[] {
  const own = ENGINE_TEXTS.reduce<string>((rest, one) => rest.replaceAll(one, ''), text);
  return (own.match(/[A-Za-z]{2,}/g) ?? []).filter((word) => !NAMES.has(word));
}
