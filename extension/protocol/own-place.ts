// Which source place of an access to show and to open.
import type { Access, SourcePlace } from './report';

/** Where compilers and distributions keep headers: an atomic's own line says nothing to the one who uses it. */
const SYSTEM_HEADERS = /^\/usr\/(include|lib|local\/include)\//;

/**
 * The innermost place of an access that is not in a system header; the innermost where all are.
 * @returns undefined where no debug information says
 */
export function ownPlace(access: Pick<Access, 'file' | 'line' | 'inlined'>): SourcePlace | undefined {
  const places = [access, ...access.inlined].filter(({ file }) => file !== '');
  const place = places.find(({ file }) => !SYSTEM_HEADERS.test(file)) ?? places[0];
  return place && { file: place.file, line: place.line };
}
