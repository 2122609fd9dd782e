// Whose code is: the program's own, or a library's.
import type { Access, CallerFrame, InlineFrame, NamedCode, SourcePlace } from './report';

/**
 * Where compilers and distributions keep headers and standard libraries, and package managers the sources of others. As
 * `analysis/own_place.h` of the engine has it, which says of all code what is told of it: `symbol`, `file` and `line`.
 */
const FOREIGN = [
  /^\/usr\/(include|lib|local\/include)\//,
  /\/include\/c\+\+\/v?\d/,
  /\/(rustc\/[0-9a-f]+|rustlib\/src\/rust)\/library\//,
  /\/\.?cargo\/(registry|git)\//,
  // Go's own sources (below `go`, `go1.26`, `go-1.19`, `gotip`, `goroot`, Bazel's `go_sdk`), also as `-trimpath` writes them, and those of modules.
  /(^|\/(go([-.]?\d[^/]*)?|gotip|goroot|go_sdk)\/src\/)(internal\/[^/]+|runtime|sync)\/.*\.(go|s)$/,
  /\/pkg\/mod\//,
];

export function isForeign({ file }: Pick<SourcePlace, 'file'>): boolean {
  return FOREIGN.some((pattern) => pattern.test(file));
}

/** The place that is told of code; undefined where no debug information says. */
export function ownPlace({ file, line }: SourcePlace): SourcePlace | undefined {
  return file === '' ? undefined : { file, line };
}

/** Libraries of compilers and the C library, whose debug information may have paths of any kind. */
const SYSTEM_LIBRARY = /^(ld(-(linux|musl)[^.]*)?|lib(c|m|rt|dl|pthread|stdc\+\+|c\+\+|c\+\+abi|gcc_s|gomp|omp))(-[\d.]+)?\.so\b/;

/** The functions of code that are in a source, and in none of a library: the innermost one first, then those it was inlined into. */
export function ownParts({ file, line, symbol, object, inlined }: NamedCode): InlineFrame[] {
  if (SYSTEM_LIBRARY.test(object)) return [];
  const functions = inlined.length === 0 ? [{ function: symbol, file, line }] : inlined;
  return functions.filter((one) => one.file !== '' && !isForeign(one)).map((own) => ({ ...own, function: own.function || symbol }));
}

export function isUnknownCaller({ symbol, object, codeAddress }: CallerFrame): boolean {
  return symbol === '' && object === '' && codeAddress === '0x0';
}

/** Of code in a library, out of line: the innermost own code that called it, of each call chain that tells; of own code none. */
export function ownCallers(access: Pick<Access, 'object' | 'file' | 'line' | 'callers'>): { caller: InlineFrame; records: number }[] {
  const place = ownPlace(access);
  const isOwn = place !== undefined && !isForeign(place) && !SYSTEM_LIBRARY.test(access.object);
  if (isOwn) return [];
  return (access.callers ?? []).flatMap(({ frames, records }) => {
    const unknown = frames.findIndex(isUnknownCaller);
    for (const frame of unknown < 0 ? frames : frames.slice(0, unknown)) {
      const [caller] = ownParts(frame);
      if (caller !== undefined) return [{ caller, records }];
    }
    return [];
  });
}
