// Which source place and function of an access to show and to open.
import type { Access, CallerFrame, InlineFrame, SourcePlace } from './report';

type Code = Pick<Access, 'file' | 'line' | 'inlined'>;

/**
 * Where compilers and distributions keep headers and standard libraries, and package managers the sources of others:
 * an atomic's own line says nothing to the one who uses it. The engine has the same in `analysis/own_place.h`, and says
 * of accesses itself what is the program's own.
 */
const FOREIGN = [
  /^\/usr\/(include|lib|local\/include)\//,
  /\/(rustc\/[0-9a-f]+|rustlib\/src\/rust)\/library\//,
  /\/\.?cargo\/(registry|git)\//,
  // Go's own sources (below `go`, `go1.26`, `go-1.19`, `gotip`, `goroot`, Bazel's `go_sdk`), also as `-trimpath` writes them, and those of modules.
  /(^|\/(go([-.]?\d[^/]*)?|gotip|goroot|go_sdk)\/src\/)(internal\/[^/]+|runtime|sync)\/.*\.(go|s)$/,
  /\/pkg\/mod\//,
];

export function isForeign({ file }: Pick<SourcePlace, 'file'>): boolean {
  return FOREIGN.some((pattern) => pattern.test(file));
}

/**
 * The innermost place of an access that is not in a library; the innermost where all are.
 * @returns undefined where no debug information says
 */
export function ownPlace(access: Code): SourcePlace | undefined {
  const places = [access, ...access.inlined].filter(({ file }) => file !== '');
  const place = places.find((one) => !isForeign(one)) ?? places[0];
  return place && { file: place.file, line: place.line };
}

/**
 * The function of the code, as the binary's symbols have it. Where that is a library's into which the program's own function
 * was inlined (what starts a thread), the own one.
 */
export function ownFunction(access: Code & Pick<Access, 'symbol'>): string {
  const outermost: InlineFrame | undefined = access.inlined.at(-1);
  if (outermost === undefined || !isForeign(outermost)) return access.symbol;
  const own = access.inlined.filter((frame) => frame.file !== '' && !isForeign(frame)).at(-1);
  return own?.function || access.symbol;
}

/** Libraries of compilers and the C library, whose debug information may have paths of any kind. */
const SYSTEM_LIBRARY = /^(ld(-(linux|musl)[^.]*)?|lib(c|m|rt|dl|pthread|stdc\+\+|c\+\+|c\+\+abi|gcc_s|gomp|omp))(-[\d.]+)?\.so\b/;

/** The functions of a caller that are in a source, and in none of a library: the innermost one first, then those it was inlined into. */
export function ownParts({ file, line, symbol, object, inlined }: CallerFrame): InlineFrame[] {
  if (SYSTEM_LIBRARY.test(object)) return [];
  const functions = inlined.length === 0 ? [{ function: symbol, file, line }] : inlined;
  return functions.filter((one) => one.file !== '' && !isForeign(one)).map((own) => ({ ...own, function: own.function || symbol }));
}

export function isUnknownCaller({ symbol, object, codeAddress }: CallerFrame): boolean {
  return symbol === '' && object === '' && codeAddress === '0x0';
}

/** Of code in a library, out of line: the innermost own code that called it, of each call chain that tells; of own code none. */
export function ownCallers(access: Code & Pick<Access, 'object' | 'callers'>): { caller: InlineFrame; records: number }[] {
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
