// The example of the walkthrough as files: the source, and for each text of it a folder with the program and its recordings, so that no
// build takes the program from under a recording.
import { t } from '../../protocol/l10n';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { LaunchError } from '../record/recording-choices';
import { SUFFIX } from '../record/recording-folder';
import { printable } from '../text/terminal-text';

export const EXAMPLE_SOURCE = 'counters.c';
/** What debug information calls the folder of the source, on every machine. */
export const EXAMPLE_FOLDER = '/cacheline-example';
const PROGRAM = 'counters';
/** Tried in this order. */
const COMPILERS = ['cc', 'gcc', 'clang'];
const LONGEST_BUILD_MS = 60_000;
/** Characters of a compiler's words in a message. */
const LONGEST_OUTPUT = 300;

/** The first compiler of C in the absolute folders of a PATH; undefined: there is none. */
export async function findCompiler(path: string): Promise<string | undefined> {
  for (const name of COMPILERS)
    for (const folder of path.split(delimiter).filter(isAbsolute)) {
      const file = join(folder, name);
      const isProgram = await access(file, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isProgram) return file;
    }
  return undefined;
}

/**
 * Arguments of the compiler.
 * @param folder of the source
 */
function compilerArguments(folder: string, output: string): string[] {
  const source = join(folder, EXAMPLE_SOURCE);
  return [
    '-std=c11',
    '-D_POSIX_C_SOURCE=200809L',
    '-O2',
    '-g',
    '-pthread',
    `-ffile-prefix-map=${folder}=${EXAMPLE_FOLDER}`,
    '-o',
    output,
    source,
  ];
}

/**
 * Writes the source as it was delivered. Its date is long ago: it is older than every program that is built of it, also the one of a
 * recording that came with the extension.
 */
export async function writeSource(folder: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, EXAMPLE_SOURCE);
  await writeFile(file, text);
  const longAgo = new Date(2000, 0);
  await utimes(file, longAgo, longAgo);
}

/** The text of the source; undefined: it was not written yet. */
export async function readSource(folder: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, EXAMPLE_SOURCE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The folder of what is built of a text. */
export function builtFolder(folder: string, text: string): string {
  return join(folder, createHash('sha256').update(text).digest('hex').slice(0, 12));
}

/**
 * Builds the program of the source as it is on disk; at once where that was done before.
 * @returns the program's path
 * @throws LaunchError with what the compiler says
 */
export async function buildExample(folder: string, compiler: string): Promise<string> {
  const own = builtFolder(folder, (await readSource(folder)) ?? '');
  const program = join(own, PROGRAM);
  const isBuilt = await stat(program).catch(() => undefined);
  if (isBuilt) {
    const now = new Date(); // the source may have been saved again since, with the same text
    await utimes(program, now, now);
    return program;
  }
  await mkdir(own, { recursive: true });
  const partial = `${program}.part`;
  await compile(compiler, compilerArguments(folder, partial), folder);
  await rename(partial, program);
  return program;
}

/** The recordings of two texts of the source, the newest of each: of the delivered text and of the one that was profiled last. */
export async function exampleRecordings(
  folder: string,
  delivered: string,
): Promise<{ before: string | undefined; after: string | undefined }> {
  const original = builtFolder(folder, delivered);
  const names = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const others = names.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  const [before] = await recordingsIn([original]);
  const [after] = await recordingsIn(others.filter((other) => other !== original));
  return { before, after };
}

/** The newest first. */
async function recordingsIn(folders: readonly string[]): Promise<string[]> {
  const found: { path: string; made: number }[] = [];
  for (const folder of folders)
    for (const name of await readdir(folder).catch(() => [])) {
      const path = join(folder, name);
      const meta = name.endsWith(SUFFIX) ? await stat(join(path, 'meta.json')).catch(() => undefined) : undefined;
      if (meta) found.push({ path, made: meta.mtimeMs });
    }
  return found.sort((a, b) => b.made - a.made).map(({ path }) => path);
}

function compile(compiler: string, args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile(compiler, args, { cwd, timeout: LONGEST_BUILD_MS }, (error, stdout, stderr) => {
      if (!error) resolve();
      else {
        const said = printable(`${stderr}${stdout}`.trim() || error.message).slice(0, LONGEST_OUTPUT);
        reject(new LaunchError(t('{0} did not build the example: {1}', compiler, said)));
      }
    });
  });
}
