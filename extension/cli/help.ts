// --help, made of the tables of options.
import { wrap } from '../session/text/terminal-text';
import type { Command, Option } from './options';

/** Columns: the help is the same on every terminal. */
const WIDTH = 80;
/** Where the descriptions of options begin. */
const INDENT = 24;

/** The commands, with a few words on each. */
export function generalHelp(commands: readonly Command[]): string {
  const widest = Math.max(...commands.map(({ name }) => name.length));
  return [
    'cacheline finds false sharing and cache-line contention in C, C++, Rust and Go.',
    '',
    'Usage: cacheline COMMAND [options]',
    '',
    ...commands.map(({ name, brief }) => `  ${name.padEnd(widest)}  ${brief}`),
    '',
    'cacheline COMMAND --help shows the options of a command.',
    'cacheline --version shows the version.',
    '',
  ].join('\n');
}

/** What a command does, and its options. */
export function commandHelp({ name, forms, about, groups, notes = [] }: Command): string {
  const listed = groups
    .map(({ title, options }) => ({ title, options: listedOptions(options) }))
    .filter(({ options }) => options.length > 0);
  return [
    ...forms.map((form, index) => `${index === 0 ? 'Usage:' : '      '} cacheline ${name} ${form}`),
    ...about.flatMap((paragraph) => ['', ...wrap(paragraph, WIDTH)]),
    ...listed.flatMap(({ title, options }) => [
      '',
      ...(title === undefined ? [] : wrap(`${title}:`, WIDTH)),
      ...options.flatMap(([long, option]) => optionLines(long, option)),
    ]),
    ...(notes.length === 0 ? [] : ['', ...notes.flatMap((paragraph) => wrap(paragraph, WIDTH))]),
    '',
  ].join('\n');
}

/** Those that are listed and completed. */
export function listedOptions(options: Record<string, Option>): [name: string, option: Option & { help: string }][] {
  return Object.entries(options).flatMap(([name, { help, ...option }]) => (help === undefined ? [] : [[name, { ...option, help }]]));
}

function optionLines(name: string, { short, value, help }: Option & { help: string }): string[] {
  const spelled = `  ${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
  const margin = ' '.repeat(INDENT);
  return spelled.length < INDENT ? wrap(help, WIDTH, spelled.padEnd(INDENT), margin) : [spelled, ...wrap(help, WIDTH, margin, margin)];
}
