// What the options of all commands have in common: how they are described and parsed, and one clear sentence for what is refused.
// A command has one table of its options. Parsing, --help, shell completions and docs/commands.md are all made of it.
import { parseArgs } from 'node:util';
import { EngineError } from '../protocol/engine';

/** Above every kernel's limit of CPUs; a range is expanded. */
export const HIGHEST_CPU = 65_535;

export const COMMAND_NAMES = [
  'record',
  'report',
  'advise',
  'threads',
  'workset',
  'diff',
  'check',
  'export',
  'trace',
  'layout',
  'where',
  'doctor',
  'completions',
] as const;
export type CommandName = (typeof COMMAND_NAMES)[number];

/** What a shell completes a value or an operand with: files, folders, or the words of a closed set. */
export type Completion = 'files' | 'folders' | readonly string[];

export interface Option {
  type: 'string' | 'boolean';
  short?: string;
  multiple?: boolean;
  /** What --help calls the value. */
  value?: string;
  /** What --help says; absent: the option is taken, and neither listed nor completed. */
  help?: string;
  /** What the value can be; absent: any text. */
  values?: Completion;
  /** The value is a list of `values`, with commas between. */
  list?: boolean;
}

export type Options = Record<string, Option>;

/** Options under one heading of --help. */
export interface OptionGroup {
  title?: string;
  options: Options;
}

export interface Command {
  name: CommandName;
  /** For the list of commands. */
  brief: string;
  /** What follows the command's name, a form each. */
  forms: readonly string[];
  /** Paragraphs below the forms. */
  about: readonly string[];
  groups: readonly OptionGroup[];
  /** Paragraphs below the options. */
  notes?: readonly string[];
  /** What its operands are; absent: no shell can know. */
  operands?: Completion;
  /** Where the program to run begins: at the first operand, or behind --. */
  program?: 'operand' | 'separator';
}

type Intersection<T> = (T extends unknown ? (value: T) => void : never) extends (value: infer I) => void ? I : never;
type Groups = Pick<Command, 'groups'>;
type OptionsOf<C extends Groups> = Intersection<C['groups'][number]['options']>;

/** The options that every command has. */
export const GENERAL = {
  options: {
    color: {
      type: 'string',
      value: 'WHEN',
      values: ['auto', 'always', 'never'],
      help: 'auto (default: on a terminal, unless NO_COLOR is set), always or never',
    },
    quiet: { type: 'boolean', short: 'q', help: 'print only results, warnings and errors' },
    help: { type: 'boolean', short: 'h', help: 'show this text' },
  },
} as const satisfies OptionGroup;

/** How the command writes; only what was given. */
export interface TerminalChoice {
  color?: 'always' | 'never';
  quiet?: true;
}

/** @throws EngineError 'usage' */
export function terminalOf(
  command: Command,
  { color, quiet }: { color?: string | undefined; quiet?: boolean | undefined },
): TerminalChoice {
  const when = color === undefined ? 'auto' : oneOf(command.name, '--color', color, GENERAL.options.color.values);
  return { ...(when === 'auto' ? {} : { color: when }), ...(quiet ? { quiet } : {}) };
}

/** All options of a command. */
export function optionsOf<C extends Groups>(command: C): OptionsOf<C> {
  return Object.assign({}, ...command.groups.map(({ options }) => options)) as OptionsOf<C>;
}

type ValueOf<O> = O extends { multiple: true; type: infer T } ? Single<T>[] : O extends { type: infer T } ? Single<T> : never;
type Single<T> = T extends 'string' ? string : boolean;
/** What was given of a command's options; absent: not given. */
export type ValuesOf<C extends Groups> = { [Name in keyof OptionsOf<C>]?: ValueOf<OptionsOf<C>[Name]> | undefined };

/** @throws EngineError 'usage' with Node's own first sentence about the option */
export function parse<C extends Command>(command: C, args: readonly string[]): { values: ValuesOf<C>; positionals: string[] } {
  const options = optionsOf<Command>(command);
  try {
    const { values, positionals } = parseArgs({ args: joinNegatives(args, options), options, allowPositionals: true, strict: true });
    return { values: values as ValuesOf<C>, positionals };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('ERR_PARSE_ARGS') !== true) throw error;
    // Node adds advice about its own syntax after the first sentence.
    throw wrong(`${message.split(/\. |\n/)[0]?.replace(/\.$/, '') ?? message}.`, command.name);
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
export function splitProgram(args: readonly string[], command: Command): { own: string[]; program: string[] } {
  const options = optionsOf(command);
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true });
  const end = tokens.find(({ kind }) => kind !== 'option');
  if (end === undefined) return { own: [...args], program: [] };
  return { own: args.slice(0, end.index), program: args.slice(end.kind === 'option-terminator' ? end.index + 1 : end.index) };
}
