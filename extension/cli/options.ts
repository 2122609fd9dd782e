// What the options of all commands have in common: how they are parsed, and one clear sentence for what is refused.
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { EngineError } from '../protocol/engine';

/** Above every kernel's limit of CPUs; a range is expanded. */
export const HIGHEST_CPU = 65_535;

export type CommandName =
  'record' | 'report' | 'advise' | 'threads' | 'workset' | 'trace' | 'diff' | 'check' | 'export' | 'layout' | 'where' | 'doctor';
export type Options = NonNullable<ParseArgsConfig['options']>;

/** @throws EngineError 'usage' with Node's own first sentence about the option */
export function parse<O extends Options>(command: CommandName, args: readonly string[], options: O) {
  try {
    return parseArgs({ args: joinNegatives(args, options), options, allowPositionals: true, strict: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    // Node adds advice about its own syntax after the first sentence.
    throw wrong(`${message.split(/\. |\n/)[0]?.replace(/\.$/, '') ?? message}.`, command);
  }
}

/** Node takes no value that begins with a dash: a negative number is joined to its option, so that what is wrong with it can be said. */
function joinNegatives(args: readonly string[], options: Options): string[] {
  const takers = new Set(
    Object.entries(options)
      .filter(([, { type }]) => type === 'string')
      .flatMap(([name, { short }]) => [`--${name}`, `-${short ?? ''}`]),
  );
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const joined: string[] = [];
  for (const arg of args.slice(0, end)) {
    const last = joined.at(-1) ?? '';
    if (/^-\.?\d/.test(arg) && takers.has(last)) joined[joined.length - 1] = `${last}${last.startsWith('--') ? '=' : ''}${arg}`;
    else joined.push(arg);
  }
  return [...joined, ...args.slice(end)];
}

/** @param wanted what the option takes, for the sentence that refuses anything else */
export function number(command: CommandName, option: string, text: string, wanted: string, fits: (value: number) => boolean): number {
  const value = decimal(text);
  if (!Number.isFinite(value) || !fits(value)) throw wrong(`${option} takes ${wanted}, not '${text}'.`, command);
  return value;
}

/** @returns NaN for anything but decimal digits with at most one point */
export function decimal(text: string): number {
  return /^[0-9]*\.?[0-9]+$/.test(text) ? Number(text) : NaN;
}

/** Numbers and, where allowed, ranges "0-3"; ascending, each once. */
export function list(command: CommandName, option: string, text: string, { lowest = 0, highest, ranges }: ListLimits): number[] {
  const numbers = new Set<number>();
  for (const part of text.split(',')) {
    const [, first, last = first] = (ranges ? /^(\d{1,9})(?:-(\d{1,9}))?$/ : /^(\d{1,9})$/).exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === undefined || from < lowest || to > highest || from > to) {
      const wanted = `whole numbers from ${lowest} to ${highest}${ranges ? ' and ranges of them, as 0-3,8' : ', separated by commas'}`;
      throw wrong(`${option} takes ${wanted}, not '${part}'.`, command);
    }
    for (let value = from; value <= to; ++value) numbers.add(value);
  }
  return [...numbers].sort((a, b) => a - b);
}

export interface ListLimits {
  lowest?: number;
  highest: number;
  ranges: boolean;
}

export function oneOf<T extends string>(command: CommandName, option: string, text: string, allowed: readonly T[]): T {
  const found = allowed.find((value) => value === text);
  if (found === undefined)
    throw wrong(`${option} is ${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1) ?? ''}, not '${text}'.`, command);
  return found;
}

export function wrong(message: string, command?: CommandName): EngineError {
  return new EngineError('usage', message, `See: cacheline ${command === undefined ? '' : `${command} `}--help`);
}

/** Our options end at `--` or at the first argument that is none: what follows belongs to the program. */
export function splitProgram(args: readonly string[], options: Options): { own: string[]; program: string[] } {
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const end = tokens.find(({ kind }) => kind !== 'option');
  if (end === undefined) return { own: [...args], program: [] };
  return { own: args.slice(0, end.index), program: args.slice(end.kind === 'option-terminator' ? end.index + 1 : end.index) };
}
