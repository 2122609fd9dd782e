// What the tab "Source" of the panel shows: the instructions of a function, below the source lines that they come from.
import { EngineError } from '../../protocol/engine';
import { t } from '../../protocol/l10n';
import type { CodeInstructionRow, CodeSource, TabCode, TabContent, TabSubject } from '../../protocol/panel-tabs';
import type { CodeInstruction, CodeListing } from '../../protocol/profile';
import type { Access, CacheLine, SourcePlace } from '../../protocol/report';
import { percent } from '../../protocol/words';
import { shortPlace } from '../lines/source-path';
import type { ShownProfile } from '../profile/shown-profile';
import { addressOf, dataText } from '../report/data-text';
import { weight } from '../report/sharing-facts';
import { count, plural, printable } from '../text/terminal-text';

/** Accesses of a line to choose among. */
const MOST_ACCESSES = 100;
const NO_PLACE = t('no source line is known');

/** Rejects with EngineError, also where the filter leaves no such access. */
export async function codeTab(
  profile: Pick<ShownProfile, 'line' | 'first' | 'report' | 'listing'>,
  subject: TabSubject | undefined,
  signal: AbortSignal,
): Promise<TabCode> {
  const id = subject?.line ?? profile.first.rows[0]?.id;
  if (id === undefined) throw new EngineError('impossible', t('No cache line is listed, so there is no access to show.'));
  const { line } = await profile.line(id);
  const sorted = line.accesses.map((access, index) => ({ access, index })).sort((a, b) => weight(b.access, line) - weight(a.access, line));
  const shown = subject?.access === undefined ? sorted[0] : sorted.find(({ index }) => index === subject.access);
  if (!shown) throw new EngineError('impossible', t('This access is not among the samples that the filter chooses.'));
  const listing = await profile.listing(id, shown.index, signal);
  return {
    kind: 'code',
    title: t(
      '{0} of {1}, cache line {2}',
      printable(listing.function) || t('Unnamed code'),
      printable(listing.object) || t('no file'),
      line.address,
    ),
    line: id,
    accesses: sorted.slice(0, MOST_ACCESSES).map(({ access, index }) => ({ access: index, name: accessName(line, access) })),
    access: shown.index,
    problem: printable(listing.problem),
    rows: codeRows(listing),
    notes: listing.instructions.length === 0 ? [] : notesOf(listing, profile.report.linesLeftOut),
  };
}

/** "74.2%  push, queue.c:12, queue.head" */
function accessName(line: CacheLine, access: Access): string {
  const whole = line.accesses.reduce((sum, other) => sum + weight(other, line), 0);
  const place = access.file === '' ? [] : [shortPlace(access)];
  const names = [access.symbol || access.codeAddress, ...place, dataText(access.data, () => addressOf(line, access))];
  return printable(`${percent(whole === 0 ? 0 : weight(access, line) / whole)}  ${names.join(', ')}`);
}

/** A source line stands where it is another one than that of the instruction before. */
function codeRows(listing: CodeListing): TabCode['rows'] {
  const rows: TabCode['rows'] = [];
  let above: string | undefined;
  for (const instruction of listing.instructions) {
    const { place } = instruction;
    const here = place ? `${place.file}:${place.line}` : '';
    if (here !== above) rows.push({ kind: 'source', name: place ? printable(shortPlace(place)) : NO_PLACE, place, text: '' });
    above = here;
    rows.push(instructionRow(instruction, listing));
  }
  return rows;
}

function instructionRow(
  { address, text, inlined, data, samples, contended, ofLine }: CodeInstruction,
  { contended: whole, address: shown }: CodeListing,
): CodeInstructionRow {
  return {
    kind: 'instruction',
    address,
    text: printable(text),
    inlined: printable(inlined),
    data: data === null ? '' : dataText(data, () => 0n),
    samples,
    contended,
    share: whole === 0 ? 0 : contended / whole,
    ofLine,
    isShown: address === shown,
  };
}

function notesOf({ bytesBefore, bytesBehind }: CodeListing, linesLeftOut: number): string[] {
  const leftOut = [
    ...(bytesBefore > 0 ? [t('{0} bytes before these instructions', count(bytesBefore))] : []),
    ...(bytesBehind > 0 ? [t('{0} bytes after them', count(bytesBehind))] : []),
  ];
  return [
    t('Samples are shown at the access that waited, not at the later instruction where the processor was interrupted.'),
    ...(linesLeftOut > 0 ? [t('Samples on {0} that the report does not list are not counted.', plural(linesLeftOut, 'cache line'))] : []),
    ...(leftOut.length > 0 ? [t('The function is longer. Not shown: {0}.', leftOut.join(', '))] : []),
  ];
}

/**
 * With the texts of source lines. What may not be opened has no place.
 * @param linesOf the lines of a source file as it was compiled; undefined: not here
 */
export async function withSources(
  profile: Pick<ShownProfile, 'places'>,
  content: TabCode,
  linesOf: (file: string) => Promise<readonly string[] | undefined>,
): Promise<TabCode> {
  const files = new Map<string, readonly string[] | undefined>();
  for (const row of content.rows)
    if (row.kind === 'source' && row.place && !files.has(row.place.file)) files.set(row.place.file, await linesOf(row.place.file));
  const known = profile.places();
  const withSource = (row: CodeSource): CodeSource => {
    if (!row.place) return row;
    const { file, line } = row.place;
    const text = files.get(file)?.[line - 1];
    const isKnown = text !== undefined || known.get(file)?.has(line) === true;
    return { ...row, place: isKnown ? row.place : null, text: printable(text?.trim().replaceAll('\t', '  ') ?? '') };
  };
  return { ...content, rows: content.rows.map((row) => (row.kind === 'source' ? withSource(row) : row)) };
}

/** Whether it was shown as a place to open. */
export function hasPlace(content: TabContent | null | undefined, { file, line }: SourcePlace): boolean {
  return (
    content?.kind === 'code' &&
    content.rows.some((row) => row.kind === 'source' && row.place !== null && row.place.file === file && row.place.line === line)
  );
}
