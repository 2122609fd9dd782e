// Which source place and function of an access to show and to open.
import type { Access, InlineFrame, SourcePlace } from './report';

type Code = Pick<Access, 'file' | 'line' | 'inlined'>;

/**
 * Where compilers and distributions keep headers and standard libraries, and package managers the sources of others:
 * an atomic's own line says nothing to the one who uses it.
 */
const FOREIGN = [
  /^\/usr\/(include|lib|local\/include)\//,
  /\/(rustc\/[0-9a-f]+|rustlib\/src\/rust)\/library\//,
  /\/\.?cargo\/(registry|git)\//,
  // Go's own sources (below `go`, `go1.26` or `go-1.19`), also as `-trimpath` writes them, and those of modules.
  /(^|\/go(-?\d[^/]*)?\/src\/)(internal\/[^/]+|runtime|sync)\/.*\.(go|s)$/,
  /\/pkg\/mod\//,
];

function isForeign({ file }: SourcePlace): boolean {
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
