// What is started for a profile: launch entries of the settings, the command's argument, and the programs used before.
// Everything is checked here because settings and arguments are written by hand. No shell is ever involved.
import { t } from '../../protocol/l10n';
import { isAbsolute, join, normalize } from 'node:path';
import { LaunchError, recordingChoices, type RecordingChoices } from './recording-choices';

export { LaunchError };

/** An entry of the setting `cacheline.launch`, with how it is recorded. */
export interface LaunchEntry extends RecordingChoices {
  name: string;
  program: string;
  args: string[];
  cwd?: string;
  env?: Record<string, string>;
}

/** What will be run: absolute program and working folder. */
export interface LaunchTarget extends RecordingChoices {
  program: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
}

/**
 * Splits a command line as a POSIX shell does with quotes and backslashes, and nothing else: no variables, globs or pipes.
 * @throws LaunchError where a quote is not closed
 */
export function splitArguments(text: string): string[] {
  const args: string[] = [];
  let current: string | undefined;
  let quote: '"' | "'" | undefined;
  for (let i = 0; i < text.length; ++i) {
    const character = text.charAt(i);
    if (character === '\\' && quote !== "'" && i + 1 < text.length) {
      const next = text.charAt(++i);
      // Within double quotes a backslash escapes only what is special there.
      current = (current ?? '') + (quote === '"' && next !== '"' && next !== '\\' ? `\\${next}` : next);
    } else if (quote !== undefined) {
      if (character === quote) quote = undefined;
      else current = (current ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      current ??= '';
    } else if (/\s/.test(character)) {
      if (current !== undefined) args.push(current);
      current = undefined;
    } else {
      current = (current ?? '') + character;
    }
  }
  if (quote !== undefined) throw new LaunchError(t('The arguments have an opening {0} without a closing one.', quote));
  if (current !== undefined) args.push(current);
  return args;
}

/** The inverse of splitArguments. */
export function joinArguments(args: readonly string[]): string {
  return args.map((arg) => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replace(/'/g, `'\\''`)}'`)).join(' ');
}

/** Reads the setting; an entry that cannot be used is left out and said. */
export function parseLaunchEntries(value: unknown): { entries: LaunchEntry[]; problems: string[] } {
  const entries: LaunchEntry[] = [];
  const problems: string[] = [];
  if (!Array.isArray(value)) return { entries, problems: [t('cacheline.launch is not a list.')] };
  for (const [index, item] of (value as unknown[]).entries()) {
    try {
      const fields = launchFields(item);
      const name = isObject(item) && typeof item['name'] === 'string' && item['name'] !== '' ? item['name'] : fields.program;
      entries.push({ name, ...fields });
    } catch (error) {
      if (!(error instanceof LaunchError)) throw error;
      problems.push(t('cacheline.launch[{0}]: {1}', index, error.message));
    }
  }
  return { entries, problems };
}

/**
 * An entry or the command's argument object as something that can be run.
 * `${workspaceFolder}` is replaced; relative paths are relative to the workspace folder.
 * @param folder the workspace folder, or undefined where none is open
 * @throws LaunchError
 */
export function resolveTarget(value: unknown, folder: string | undefined): LaunchTarget {
  const { program, args, cwd, env, ...choices } = launchFields(value);
  const expand = (text: string): string => {
    if (text.includes('${workspaceFolder}') && folder === undefined) {
      throw new LaunchError(t('{0} needs a workspace folder and none is open.', text));
    }
    return text.replaceAll('${workspaceFolder}', () => folder ?? '');
  };
  const absolute = (text: string): string => {
    const path = expand(text);
    if (isAbsolute(path)) return normalize(path);
    if (folder === undefined) throw new LaunchError(t('{0} is a relative path and no workspace folder is open.', text));
    return join(folder, path);
  };
  const path = absolute(program);
  return {
    program: path,
    args: args.map(expand),
    cwd: cwd === undefined || cwd === '' ? (folder ?? join(path, '..')) : absolute(cwd),
    env: Object.fromEntries(Object.entries(env ?? {}).map(([name, text]) => [name, expand(text)])),
    ...choices,
  };
}

/** The environment in the engine's form. */
export function environmentList(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

const MAX_RECENT = 10;

/** The list with this target first; one entry for each program. */
export function remember(recent: readonly LaunchTarget[], target: LaunchTarget): LaunchTarget[] {
  return [target, ...recent.filter(({ program }) => program !== target.program)].slice(0, MAX_RECENT);
}

/** What was stored in an earlier session; entries of another shape are dropped. */
export function parseRecent(value: unknown): LaunchTarget[] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).flatMap((item) => {
    try {
      return [resolveTarget(item, undefined)];
    } catch (error) {
      if (error instanceof LaunchError) return [];
      throw error;
    }
  });
}

function launchFields(value: unknown): Omit<LaunchEntry, 'name'> {
  if (!isObject(value)) throw new LaunchError(t('expected an object with "program".'));
  const { program, args = [], cwd, env } = value;
  if (typeof program !== 'string' || program === '') throw new LaunchError(t('"program" has to be the path of a program.'));
  if (!Array.isArray(args) || !args.every((arg) => typeof arg === 'string'))
    throw new LaunchError(t('"args" has to be a list of strings.'));
  if (cwd !== undefined && typeof cwd !== 'string') throw new LaunchError(t('"cwd" has to be the path of a folder.'));
  if (env !== undefined && !isStringMap(env)) throw new LaunchError(t('"env" has to map names to strings.'));
  if ([program, ...args, cwd ?? '', ...Object.entries(env ?? {}).flat()].some((text) => text.includes('\0'))) {
    throw new LaunchError(t('a NUL character cannot be passed to a program.'));
  }
  return { program, args, ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }), ...recordingChoices(value) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isStringMap(value: unknown): value is Record<string, string> {
  return isObject(value) && Object.entries(value).every(([name, text]) => name !== '' && !name.includes('=') && typeof text === 'string');
}
