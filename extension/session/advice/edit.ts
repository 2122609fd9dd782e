// From a change that advice proposes to exact edits of the sources, by their syntax trees; or why there are none.
import { t } from '../../protocol/l10n';
import { extname } from 'node:path';
import type { Change } from '../../protocol/advice';
import { printable } from '../../protocol/printable';
import type { SourcePlace } from '../../protocol/report';
import { allocationEdit, allocationsOf } from './allocation-edit';
import { Refusal, type FileEdit } from './edits';
import { alignTypeEdit, membersEdit } from './struct-edit';
import { withSyntax, type SourceText } from './syntax';
import { variablesEdit } from './variable-edit';

export type { FileEdit, TextEdit } from './edits';

/** The sources as they are now. Files are called as debug information calls them. */
export interface Sources {
  /** The text; undefined: there is no such file. Line endings, and a byte order mark, stay. */
  read(file: string): Promise<string | undefined>;
  /** Whether the file was changed after the binary was built. */
  isNewer(file: string, binary: string): Promise<boolean>;
}

export interface Edits {
  files: FileEdit[];
}

/** Why no edit is safe, and the next step. */
export interface NoEdit {
  reason: string;
}

/**
 * The edits that make a change, or the reason why none is made: then nothing is to be edited.
 * @throws RangeError for a change that contradicts itself; what `sources` throws
 */
export async function editOf(change: Change, sources: Sources): Promise<Edits | NoEdit> {
  try {
    return { files: await filesOf(change, sources) };
  } catch (error) {
    if (error instanceof Refusal) return { reason: printable(error.message) };
    throw error;
  }
}

async function filesOf(change: Change, sources: Sources): Promise<FileEdit[]> {
  if (change.kind === 'split-members')
    throw new Refusal(
      t('The code that uses the data has to change, too, and an edit of one place cannot do that: make the change by hand.'),
    );
  if (!Number.isInteger(Math.log2(change.alignment))) throw new RangeError(`An alignment is a power of two, not ${change.alignment}.`);
  switch (change.kind) {
    case 'members':
    case 'align-type': {
      const { definition, binary, name, members } = change.type;
      if (change.kind === 'align-type') checkLanguage(definition.file, `struct ${name}`, change.alignment);
      else checkLanguage(definition.file, t('members of {0}', name), change.alignment);
      const isCxx = /::|</.test(name) || members.some(({ type }) => /::|<|&|\bbool\b/.test(type));
      return [
        await edited(sources, definition.file, binary, isCxx, (source) =>
          change.kind === 'members' ? membersEdit(source, change) : alignTypeEdit(source, change),
        ),
      ];
    }
    case 'align-variables': {
      const files = new Map<string, typeof change.variables>();
      for (const variable of change.variables) {
        const { file } = variable.definition;
        checkLanguage(file, variable.name, change.alignment);
        files.set(file, [...(files.get(file) ?? []), variable]);
      }
      const edits: FileEdit[] = [];
      for (const [file, variables] of files) {
        const isCxx = variables.some(({ name, type }) => /::|</.test(name + type));
        edits.push(await edited(sources, file, change.binary, isCxx, (source) => variablesEdit(source, variables, change.alignment)));
      }
      return edits;
    }
    case 'allocate': {
      const call = change.call ?? (await allocationOf(sources, change));
      checkLanguage(call.file, change.function, change.alignment);
      return [await edited(sources, call.file, change.binary, false, (source) => allocationEdit(source, call.line, change.alignment))];
    }
  }
}

/** The only call in the sources that allocates objects of the type. @throws Refusal where there is none, or several */
async function allocationOf(sources: Sources, { objectType: type, files }: Extract<Change, { kind: 'allocate' }>): Promise<SourcePlace> {
  const found: SourcePlace[] = [];
  for (const file of files) {
    const text = await sources.read(file);
    if (text === undefined) continue;
    for (const line of await withSyntax(file, text, false, (source) => allocationsOf(source, type))) found.push({ file, line });
  }
  const [only, ...others] = found;
  const next = t('record with --heap, which tells where its objects come from');
  if (only === undefined) throw new Refusal(t('No call that allocates {0} was found in {1}: {2}.', type, files.join(', '), next));
  if (others.length > 0) {
    const places = found.map(({ file, line }) => `${file}:${line}`).join(', ');
    throw new Refusal(t('{0} calls allocate {1} ({2}): {3}.', found.length, type, places, next));
  }
  return only;
}

async function edited(
  sources: Sources,
  file: string,
  binary: string,
  isCxx: boolean,
  edit: (source: SourceText) => FileEdit,
): Promise<FileEdit> {
  const text = await sources.read(file);
  if (text === undefined)
    throw new Refusal(t('There is no {0} here: open the folder that has the source, or say with cacheline.sourceMap where it is.', file));
  if (text.includes('\uFFFD')) throw new Refusal(t('{0} is not in UTF-8: convert it, or make the change by hand.', file));
  if (await sources.isNewer(file, binary))
    throw new Refusal(t('{0} was changed after {1} was built, so lines and members may differ: build and record again.', file, binary));
  return withSyntax(file, text, isCxx, edit);
}

/** @throws Refusal for what is not C or C++: of Rust and Go with the line to write */
function checkLanguage(file: string, subject: string, alignment: number): void {
  const ending = extname(file);
  if (file === '')
    throw new Refusal(t('Debug information does not say in which file to edit {0}: build with -g, and record again.', subject));
  if (ending === '.rs')
    throw new Refusal(
      t(
        '{0} is Rust, which cannot be edited automatically: write “#[repr(align({1}))]” before the struct, or wrap what one thread writes in “crossbeam_utils::CachePadded<T>” ({2}).',
        file,
        alignment,
        subject,
      ),
    );
  if (ending === '.go')
    throw new Refusal(
      t(
        '{0} is Go, which cannot be edited automatically: write “_ cpu.CacheLinePad” (golang.org/x/sys/cpu) before and after what one goroutine writes ({1}).',
        file,
        subject,
      ),
    );
  if (!/^\.(?:c|h|cc|cp|cpp|cxx|c\+\+|C|CPP|hh|hp|hpp|hxx|h\+\+|H|ii?|inl|inc|ipp|tcc|tpp|txx|def|cu|cuh|ixx|cppm)$/.test(ending))
    throw new Refusal(
      t('{0} is neither C nor C++ by its name: make the change by hand, aligned to {1} bytes ({2}).', file, alignment, subject),
    );
}
